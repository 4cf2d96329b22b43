"""The backup worker writes a backup when one is due; a lease ensures that one worker at a time does."""

from __future__ import annotations

import asyncio
import threading
from typing import Any

import structlog

from tidings.base.errors import StoreUnavailable, TidingsError
from tidings.maintenance.scheduled_backup import ScheduledBackup, WrittenBackup
from tidings.worker import loops
from tidings.worker.loops import Loop

log = structlog.get_logger()

POLL_INTERVAL_S = 30.0
# The lease is renewed after this time; it lasts four times as long.
RENEW_AFTER_S = 15.0


class BackupWorker(Loop):
    """The worker that writes scheduled backups.

    name: the worker's name, under which it holds the lease.
    """

    def __init__(self, backup: ScheduledBackup, name: str) -> None:
        self._backup = backup
        self._name = name

    async def run(self, stop: asyncio.Event) -> None:
        """Run until `stop` is set. Returns immediately if this process does not write backups."""
        while self._backup.is_on and not stop.is_set():
            await loops.attempt(lambda: self._run_if_due(stop), unavailable="backup failed", crashed="backup crashed")
            await loops.pause(stop, POLL_INTERVAL_S)

    async def _run_if_due(self, stop: asyncio.Event) -> None:
        if not await asyncio.to_thread(self._backup.begin, self._name):
            return
        writing = _in_daemon_thread(self._backup)
        if not await self._wait(writing, stop):
            return
        try:
            written = writing.result()
        except StoreUnavailable:
            raise
        except TidingsError as error:
            log.error("backup failed", reason=error.message)  # noqa: TRY400 - the message says it all
            await asyncio.to_thread(self._backup.postpone, self._name)
            return
        except Exception:
            await asyncio.to_thread(self._backup.postpone, self._name)
            raise
        await asyncio.to_thread(self._backup.finish, self._name)
        log.info("backup written", path=str(written.path), bytes=written.size_bytes, deleted=written.deleted)

    async def _wait(self, writing: asyncio.Future[WrittenBackup], stop: asyncio.Event) -> bool:
        """Wait until the backup has ended, and renew the lease. Returns False if the worker stops before."""
        stopping = asyncio.create_task(stop.wait())
        try:
            while not writing.done() and not stop.is_set():
                waiting: set[asyncio.Future[Any]] = {writing, stopping}
                await asyncio.wait(waiting, timeout=RENEW_AFTER_S, return_when=asyncio.FIRST_COMPLETED)
                if not writing.done() and not await asyncio.to_thread(self._backup.renew, self._name):
                    log.warning("backup claimed by another worker")
        finally:
            stopping.cancel()
        if writing.done():
            return True
        await asyncio.to_thread(self._backup.release, self._name)
        return False


def _in_daemon_thread(backup: ScheduledBackup) -> asyncio.Future[WrittenBackup]:
    """Return the backup as a future. A daemon thread does not keep a stopping worker from ending."""
    loop = asyncio.get_running_loop()
    written: asyncio.Future[WrittenBackup] = loop.create_future()

    def finish(result: WrittenBackup | None, error: BaseException | None) -> None:
        if written.done():
            return
        if error is None and result is not None:
            written.set_result(result)
        else:
            written.set_exception(error or RuntimeError("no result"))

    def run() -> None:
        result, problem = None, None
        try:
            result = backup.write()
        except Exception as error:  # noqa: BLE001 - it is raised where the future is awaited
            problem = error
        try:
            loop.call_soon_threadsafe(finish, result, problem)
        except RuntimeError:
            log.warning("backup ended after its worker")

    threading.Thread(target=run, name="backup", daemon=True).start()
    return written
