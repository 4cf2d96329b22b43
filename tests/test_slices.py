"""The table of contents of the slices is all that the rest needs of them."""

from __future__ import annotations

import subprocess
import sys

import pytest

pytestmark = pytest.mark.slow

TABLES = """
import pkgutil
from importlib import import_module
import tidings
from tidings.engine.columns import metadata
from tidings.wiring import slices

known = set(metadata.tables)
for module in pkgutil.walk_packages(tidings.__path__, "tidings."):
    if not module.name.startswith(("tidings.storage.migrations", "tidings.__main__")):
        import_module(module.name)
print(*sorted(set(metadata.tables) - known))
"""


def test_backups_and_moves_know_the_tables_of_every_slice() -> None:
    """They copy the tables that their process has imported."""
    missing = subprocess.run([sys.executable, "-c", TABLES], check=True, capture_output=True, text=True).stdout.split()

    assert missing == []
