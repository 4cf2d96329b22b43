"""A copy of an SQLite database is closed to others whatever the process would allow for its files."""

from __future__ import annotations

import os
import stat
from pathlib import Path

import pytest

from tidings.storage.engine import backup
from tidings.storage.engine.database import Database


def test_a_copy_is_readable_by_its_owner_only(database: Database, tmp_path: Path) -> None:
    if not database.is_sqlite:
        pytest.skip("PostgreSQL has pg_dump")
    before = os.umask(0o022)
    try:
        size = backup.copy_to(database, tmp_path / "copy.db")
    finally:
        os.umask(before)

    found = (tmp_path / "copy.db").stat()
    assert (stat.S_IMODE(found.st_mode), found.st_size) == (0o600, size)
