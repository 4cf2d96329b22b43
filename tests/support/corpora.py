"""Marks tests that read published test data, which is not part of the repository."""

from __future__ import annotations

import pytest

from scoring.archives import archive_path


def needs(name: str) -> pytest.MarkDecorator:
    """Skip the test if the archive is not on this machine."""
    return pytest.mark.skipif(not archive_path(name).exists(), reason=f"the corpus {name} is not on this machine")
