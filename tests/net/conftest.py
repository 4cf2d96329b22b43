from __future__ import annotations

from collections.abc import Iterator

import pytest

from support.publisher import Publisher


@pytest.fixture
def site() -> Iterator[Publisher]:
    with Publisher() as publisher:
        yield publisher


@pytest.fixture
def other_site() -> Iterator[Publisher]:
    """A second publisher, with another address and another port than `site`."""
    with Publisher("127.0.0.2") as publisher:
        yield publisher
