"""Writes backups at regular intervals and keeps the newest ones.

One worker at a time writes one, by a lease. A backup has its name only when it is complete; a failed one is tried
again within an hour.
"""

from __future__ import annotations

import re
from datetime import timedelta
from pathlib import Path
from typing import Final

from msgspec import Struct

from tidings import metrics
from tidings.base.errors import StartError
from tidings.base.times import HOUR, Instant, to_datetime
from tidings.engine import sqlite_file
from tidings.engine.database import Database
from tidings.maintenance.cleanup import LEASE
from tidings.maintenance.store import backup, scheduled_jobs
from tidings.services.clock import Clock

# Stored in the database.
JOB_NAME: Final = "backup"
# Only files with such a name are ever deleted.
_NAME: Final = re.compile(r"tidings-\d{8}T\d{6}Z\.db")
_PARTIAL: Final = re.compile(rf"{_NAME.pattern}\.partial")


class BackupSettings(Struct, frozen=True):
    """The settings of scheduled backups."""

    folder: Path | None = None
    """None if this process writes no backups."""
    interval: timedelta = timedelta(hours=24)
    """Time between two backups."""
    keep: int = 14
    """How many backups stay."""


class WrittenBackup(Struct, frozen=True):
    """A complete backup."""

    path: Path
    size_bytes: int
    deleted: int
    """How many older backups were deleted after it."""


class ScheduledBackup:
    def __init__(self, database: Database, clock: Clock, settings: BackupSettings) -> None:
        self._database = database
        self._clock = clock
        self._settings = settings

    @property
    def is_on(self) -> bool:
        return self._settings.folder is not None

    def begin(self, worker: str) -> bool:
        """Claim a backup if one is due and no other worker writes it. Returns whether it was claimed."""
        now = self._clock()
        with self._database.reading() as db:
            is_known, is_due = scheduled_jobs.is_registered(db, JOB_NAME), scheduled_jobs.is_due(db, JOB_NAME, now)
        if is_known and not is_due:
            return False
        with self._database.writing() as db:
            scheduled_jobs.register(db, JOB_NAME, now)
            return scheduled_jobs.claim(db, JOB_NAME, worker, now=now, until=Instant(now + LEASE))

    def renew(self, worker: str) -> bool:
        """Renew the lease. Returns False if another worker holds it."""
        with self._database.writing() as db:
            return scheduled_jobs.renew(db, JOB_NAME, worker, Instant(self._clock() + LEASE))

    def release(self, worker: str) -> None:
        """Release the lease of a backup that was interrupted: the next worker begins a new one."""
        with self._database.writing() as db:
            scheduled_jobs.release(db, JOB_NAME, worker)

    def write(self) -> WrittenBackup:
        """Write a backup, and delete backups older than the newest ones to keep. Raises StartError."""
        folder = self._settings.folder
        assert folder is not None
        try:
            folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            for path in _matching(folder, _PARTIAL):
                sqlite_file.remove(path)  # left by a worker that was killed
            path = folder / f"tidings-{to_datetime(self._clock()):%Y%m%dT%H%M%SZ}.db"
            size = backup.copy_to(self._database, path, lambda _done, _total: None)
            deleted = self._delete_old(folder)
        except OSError as error:
            raise StartError(f"The backup folder {folder} cannot be used: {error.strerror}") from error
        return WrittenBackup(path, size, deleted)

    def finish(self, worker: str) -> None:
        """Release the lease after a backup was written, and schedule the next one."""
        now = self._clock()
        next_at = Instant(now + self._settings.interval // timedelta(microseconds=1))
        with self._database.writing() as db:
            scheduled_jobs.finish(db, JOB_NAME, worker, now=now, next_at=next_at)
        metrics.record_backup("written")

    def postpone(self, worker: str) -> None:
        """Release the lease after a backup failed; it is tried again within an hour."""
        wait = min(HOUR, self._settings.interval // timedelta(microseconds=1))
        with self._database.writing() as db:
            scheduled_jobs.postpone(db, JOB_NAME, worker, next_at=Instant(self._clock() + wait))
        metrics.record_backup("failed")

    def _delete_old(self, folder: Path) -> int:
        old = _matching(folder, _NAME)[: -self._settings.keep]
        for path in old:
            path.unlink(missing_ok=True)
        return len(old)


def _matching(folder: Path, name: re.Pattern[str]) -> list[Path]:
    """Return the files with such a name, the oldest first."""
    return sorted(path for path in folder.iterdir() if name.fullmatch(path.name) and path.is_file())
