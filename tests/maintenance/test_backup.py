"""A backup is whole or not there, and closed to others whatever the process would allow for its files."""

from __future__ import annotations

import os
import stat
from pathlib import Path

import pytest

from support.entry_fixtures import FeedFixture, ready
from tidings.base.errors import StartError
from tidings.engine import sqlite_file
from tidings.engine.database import Database
from tidings.maintenance.store import backup


def no_progress(_done: int, _total: int) -> None:
    pass


def test_a_copy_is_a_single_file_readable_by_its_owner_only(database: Database, tmp_path: Path) -> None:
    before = os.umask(0o022)
    try:
        size = backup.copy_to(database, tmp_path / "copy.db", no_progress)
    finally:
        os.umask(before)

    found = (tmp_path / "copy.db").stat()
    assert (stat.S_IMODE(found.st_mode), found.st_size) == (0o600, size)
    assert [file.name for file in tmp_path.iterdir()] == ["copy.db"]


def test_a_copy_holds_one_state_even_if_entries_arrive_meanwhile(database: Database, tmp_path: Path) -> None:
    feed = FeedFixture.create(database)
    feed.add(*(ready(f"Before {number}") for number in range(30)))
    reported: list[tuple[int, int]] = []

    def add_one(done: int, total: int) -> None:
        feed.add(ready("Meanwhile"))
        reported.append((done, total))

    backup.copy_to(database, tmp_path / "copy.db", add_one)

    copy = sqlite_file.open_file(tmp_path / "copy.db")
    there = FeedFixture(copy, feed.user_id, feed.category_id, feed.feed_id)
    assert there.total() == 30
    assert not database.is_sqlite or not reported
    assert database.is_sqlite or (len(reported) > 3 and reported[-1][0] == reported[-1][1])
    copy.close()


def test_a_backup_that_fails_leaves_no_file(
    database: Database, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(path: Path) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(sqlite_file, "sync", fail)
    with pytest.raises(StartError, match=r"cannot be written: No space left on device"):
        backup.copy_to(database, tmp_path / "copy.db", no_progress)

    assert list(tmp_path.iterdir()) == []
