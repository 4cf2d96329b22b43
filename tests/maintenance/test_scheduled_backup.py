"""Backups are written at regular times by one worker at a time, and the newest are kept."""

from __future__ import annotations

import stat
from datetime import timedelta
from pathlib import Path

import pytest

from support.entry_fixtures import NOW, FeedFixture, ready
from tidings.base.errors import StartError
from tidings.base.times import DAY, HOUR, Instant
from tidings.engine import sqlite_file
from tidings.engine.database import Database
from tidings.maintenance.scheduled_backup import BackupSettings, ScheduledBackup
from tidings.maintenance.status import StatusReader, gauges
from tidings.maintenance.store import status


class Clock:
    def __init__(self) -> None:
        self.now = NOW

    def __call__(self) -> Instant:
        return self.now

    def pass_(self, time: int) -> None:
        self.now = Instant(self.now + time)


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def backup(database: Database, clock: Clock, tmp_path: Path) -> ScheduledBackup:
    return ScheduledBackup(database, clock, BackupSettings(tmp_path / "backups", timedelta(hours=24), keep=2))


def _files(tmp_path: Path) -> list[str]:
    return sorted(path.name for path in (tmp_path / "backups").iterdir())


def test_a_backup_holds_the_database_and_only_its_owner_may_read_it(
    backup: ScheduledBackup, database: Database
) -> None:
    FeedFixture.create(database).add(ready("One"), ready("Two"))

    written = backup.write()

    assert stat.S_IMODE(written.path.stat().st_mode) == 0o600
    assert stat.S_IMODE(written.path.parent.stat().st_mode) == 0o700
    assert written.size_bytes == written.path.stat().st_size
    copy = sqlite_file.open_file(written.path)
    with copy.reading() as db:
        assert sum(status.entry_counts(db)) == 2
    copy.close()


def test_the_newest_backups_are_kept_and_other_files_stay(
    backup: ScheduledBackup, clock: Clock, tmp_path: Path
) -> None:
    folder = tmp_path / "backups"
    folder.mkdir()
    others = ["tidings-by-hand.db", "tidings-20200101T000000Z.db.old", "precious.txt"]
    for name in others:
        (folder / name).write_text("mine")
    (folder / "tidings-20200101T000000Z.db.partial").write_text("of a killed worker")
    deleted = []
    for _ in range(3):
        deleted.append(backup.write().deleted)
        clock.pass_(DAY)

    kept = [name for name in _files(tmp_path) if name not in others]

    assert deleted == [0, 0, 1]
    assert len(kept) == 2
    assert backup.write().path.name > kept[-1]
    assert set(others) <= set(_files(tmp_path))
    assert not any(name.endswith(".partial") for name in _files(tmp_path))


def test_one_worker_writes_a_backup_when_one_is_due(backup: ScheduledBackup, clock: Clock) -> None:
    assert backup.begin("first")
    assert not backup.begin("second")
    assert backup.renew("first")
    backup.finish("first")
    assert not backup.begin("second")
    clock.pass_(DAY)
    assert backup.begin("second")


def test_the_backup_of_a_killed_worker_is_taken_over(backup: ScheduledBackup, clock: Clock) -> None:
    assert backup.begin("killed")
    clock.pass_(HOUR)
    assert backup.begin("next")
    assert not backup.renew("killed")


def test_a_failed_backup_deletes_nothing_and_is_tried_again_within_an_hour(
    database: Database, clock: Clock, tmp_path: Path
) -> None:
    (tmp_path / "file").write_text("no folder")
    failing = ScheduledBackup(database, clock, BackupSettings(tmp_path / "file" / "backups"))
    assert failing.begin("worker")

    with pytest.raises(StartError, match="cannot be used"):
        failing.write()
    failing.postpone("worker")

    assert not failing.begin("worker")
    assert StatusReader(database, clock).read().last_backup_s is None
    clock.pass_(HOUR)
    assert failing.begin("worker")


def test_the_age_of_the_last_backup_is_shown(backup: ScheduledBackup, database: Database, clock: Clock) -> None:
    reader = StatusReader(database, clock)
    assert "tidings_backup_age_seconds" not in gauges(reader.read())
    assert backup.begin("worker")
    backup.finish("worker")
    clock.pass_(HOUR)

    assert gauges(reader.read())["tidings_backup_age_seconds"][1] == 3600


def test_without_a_folder_there_are_no_backups(database: Database, clock: Clock) -> None:
    assert not ScheduledBackup(database, clock, BackupSettings()).is_on
