"""The worker writes backups by itself, goes on after a failure, and ends at once when it is stopped."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path

import pytest
from structlog.testing import capture_logs

from support.entry_fixtures import NOW
from tidings.engine.database import Database
from tidings.maintenance import backup_worker
from tidings.maintenance.backup_worker import BackupWorker
from tidings.maintenance.scheduled_backup import BackupSettings, ScheduledBackup, WrittenBackup


@pytest.fixture(autouse=True)
def fast(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(backup_worker, "POLL_INTERVAL_S", 0.01)


def _backup(database: Database, folder: Path, kind: type[ScheduledBackup] = ScheduledBackup) -> ScheduledBackup:
    return kind(database, lambda: NOW, BackupSettings(folder, timedelta(hours=24), keep=2))


async def _run_until(backup: ScheduledBackup, is_done: Callable[[], object]) -> None:
    stop = asyncio.Event()
    running = asyncio.create_task(BackupWorker(backup, "worker").run(stop))
    async with asyncio.timeout(60):
        while not is_done():  # noqa: ASYNC110 - the file system tells nobody
            await asyncio.sleep(0.01)
    stop.set()
    async with asyncio.timeout(60):
        await running


def test_the_worker_writes_one_backup_and_waits_for_the_next(database: Database, tmp_path: Path) -> None:
    with capture_logs() as logs:
        asyncio.run(
            _run_until(_backup(database, tmp_path), lambda: any(log["event"] == "backup written" for log in logs))
        )

    (path,) = tmp_path.glob("tidings-*.db")
    (event,) = logs
    assert (event["path"], event["log_level"]) == (str(path), "info")
    assert not _backup(database, tmp_path).begin("other")


def test_a_failure_is_an_error_in_the_log(database: Database, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("no folder")
    with capture_logs() as logs:
        asyncio.run(_run_until(_backup(database, tmp_path / "file"), lambda: logs))

    (event,) = logs
    assert (event["event"], event["log_level"]) == ("backup failed", "error")
    assert "cannot be used" in event["reason"]
    assert not _backup(database, tmp_path).begin("other")


def test_a_stopped_worker_ends_at_once_and_releases_its_lease(database: Database, tmp_path: Path) -> None:
    begun, go_on = threading.Event(), threading.Event()

    class Slow(ScheduledBackup):
        def write(self) -> WrittenBackup:
            begun.set()
            go_on.wait(60)
            return super().write()

    asyncio.run(_run_until(_backup(database, tmp_path, Slow), begun.is_set))

    assert _backup(database, tmp_path).begin("next")
    go_on.set()
    for thread in threading.enumerate():
        if thread.name == "backup":
            thread.join()


def test_without_a_folder_the_worker_has_nothing_to_do(database: Database) -> None:
    asyncio.run(BackupWorker(ScheduledBackup(database, lambda: NOW, BackupSettings()), "worker").run(asyncio.Event()))
