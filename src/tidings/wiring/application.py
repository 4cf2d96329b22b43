"""The service on one database, with the operations of the command line."""

from __future__ import annotations

import asyncio
import os
import sys
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from tidings.archives.readers.file_sources import DatabaseSource, FileSource, database_source, file_source
from tidings.archives.readers.miniflux_source import MinifluxSource
from tidings.archives.readers.ttrss_source import TtrssSource
from tidings.base.errors import StartError, StoreUnavailable
from tidings.base.times import to_datetime
from tidings.engine import disk_space, errors, nodes
from tidings.engine.database import Database
from tidings.engine.distribution import Distribution
from tidings.engine.notify import FEEDS
from tidings.maintenance.cleanup_worker import run_cleanup
from tidings.maintenance.integrity import IntegrityCheck, Problem
from tidings.maintenance.status import ServiceStatus
from tidings.maintenance.store import backup, move, restore
from tidings.maintenance.store.table_copy import Progress
from tidings.net.guard import AddressGuard
from tidings.runtime import allocator
from tidings.runtime.demand import WorkerLifetime
from tidings.services.clock import Clock, system_clock
from tidings.services.entries.content_sharing import ContentSharing
from tidings.services.entries.reading_times import ReadingTimes
from tidings.services.polling.lease import WakeupEvent
from tidings.settings import Settings
from tidings.storage import migrate, schema_revision
from tidings.storage.entries import search_index
from tidings.wiring.services import build_services, start_metrics
from tidings.wiring.slices import SLICES
from tidings.worker.content_sharing import ContentSharingWorker
from tidings.worker.indexer import Indexer
from tidings.worker.loops import worker_name
from tidings.worker.poller import Poller, end_when_idle
from tidings.worker.reading_times import ReadingTimeWorker
from tidings.worker.refresh import RefreshSummary, refresh

# In a worker one thread parses documents all the time, and the event loop needs the interpreter for each packet. At
# Python's default of 5 ms responses arrive more slowly than they are parsed.
THREAD_SWITCH_INTERVAL_S = 0.001


class Application:
    """The service on one database, with the operations of the command line."""

    def __init__(self, settings: Settings, *, clock: Clock = system_clock) -> None:
        self._settings = settings
        self.database = Database(
            settings.database_url,
            pool_size=settings.database_max_conns,
        )
        self.services = build_services(self.database, settings, clock=clock)

    def migrate(self) -> list[str]:
        """Upgrade the database to the current schema. Returns the names of the migrations applied."""
        return migrate.upgrade(self.database)

    def distribute(self, shards: int) -> Distribution:
        """Distribute what users read over the nodes of the database. Raises StartError if that is impossible."""
        return migrate.distribute(self.database, shards)

    def read_status(self) -> ServiceStatus:
        """Return the state of the service.

        Raises StoreUnavailable, and StartError with the names of the servers of a distributed database that do not
        answer.
        """
        try:
            with errors.without_log():
                return self.services.maintenance.status.read()
        except StoreUnavailable as error:
            if silent := nodes.silent(self.database):
                raise StartError(
                    f"These servers of the database do not answer: {', '.join(silent)}; until they are back, their"
                    " users get errors, and feeds are not checked"
                ) from error
            raise

    def check(self) -> None:
        """Raise StartError unless the database has the current schema."""
        migrate.check(self.database)

    def expect_schema(self) -> None:
        """Refuse writes from now on when the SQLite file has another schema than this version of Tidings."""
        self.database.expect_revision(schema_revision.current())

    def ping(self) -> None:
        """Raise StoreUnavailable if the database does not answer."""
        self.database.ping()

    def run_worker(self, stop: threading.Event, name: str, lifetime: WorkerLifetime) -> None:
        """Run the worker loops until `stop` is set. name: holds the leases; "" to generate one."""
        self.expect_schema()
        allocator.release_regularly(self.database.close_unused)
        start_metrics(self._settings)
        sys.setswitchinterval(THREAD_SWITCH_INTERVAL_S)
        asyncio.run(self._poll(stop, name or worker_name(), lifetime))

    def release_leases(self, name: str) -> int:
        """Release the leases of an ended worker, so that others can claim immediately. Returns their number."""
        return self.services.release_leases(name)

    def refresh(self, username: str | None, progress: Callable[[int, int], None]) -> RefreshSummary:
        """Check all enabled feeds, due or not, of one user or of all. Raises NotFound for an unknown username."""
        return asyncio.run(self._refresh(username, progress))

    def clean_up(self, progress: Callable[[int, int], None]) -> Mapping[str, int] | None:
        """Run the cleanup now. Returns the numbers of rows removed by kind, or None if a worker is running it."""
        return run_cleanup(self.services.maintenance.cleanup, f"tidings cleanup {os.getpid()}", progress)

    def compact(self) -> None:
        """Rewrite an SQLite file, as small as possible. Does nothing on PostgreSQL, which reuses free space."""
        with self.database.writing() as db:
            search_index.compact(db)
        disk_space.vacuum(self.database)

    def backup(self, path: Path, progress: Progress) -> int:
        """Copy the database to a new file. Returns its size in bytes. Raises StartError."""
        return backup.copy_to(self.database, path, progress)

    def restore(self, path: Path, progress: Progress, *, overwrite: bool) -> int:
        """Replace the database by a backup. Returns the number of users. Raises StartError, with nothing changed."""
        file = self._settings.database_file
        folder = self._settings.data_dir if file is None else file.parent
        return restore.restore(self.database, path, overwrite=overwrite, folder=folder, progress=progress)

    def move(self, url: str, progress: Progress, *, restart: bool) -> Mapping[str, int]:
        """Copy everything into another database. Returns the number of rows by table. Raises StartError."""
        target = Database(url, pool_size=2)
        try:
            moved = move.move(self.database, target, restart=restart, progress=progress)
        finally:
            target.close()
        return {name: table.rows for name, table in moved.items()}

    def miniflux_source(self, url: str, api_key: str, *, is_operator: bool) -> MinifluxSource:
        """Return a reader of an account, as a context manager.

        url: may be in a private network only if the operator names it, or the settings allow that to users.
        """
        return MinifluxSource(url, api_key, guard=self._guard_of_servers(is_operator=is_operator))

    def ttrss_source(self, url: str, username: str, password: str, *, is_operator: bool) -> TtrssSource:
        """Return a reader of an account, as a context manager. url: see `miniflux_source`."""
        return TtrssSource(url, username, password, guard=self._guard_of_servers(is_operator=is_operator))

    def _guard_of_servers(self, *, is_operator: bool) -> AddressGuard:
        is_allowed = is_operator or self._settings.fetcher_allow_private_networks
        return AddressGuard(allow_private_networks=is_allowed)

    def database_source(self, dsn: str, reader: str, from_user: str) -> DatabaseSource:
        """Return the account of a user in the PostgreSQL database of another reader, as a context manager."""
        return database_source(dsn, reader, from_user)

    def file_source(self, path: Path, reader: str) -> FileSource:
        """Return the content of a file of another reader, as a context manager. reader: its name in the command."""
        return file_source(path, reader, now=to_datetime(system_clock()))

    def problems(self, progress: Progress, *, repair: bool) -> Iterator[Problem]:
        """Yield what is wrong with the database, repaired if that is wanted and possible."""
        return IntegrityCheck(self.database).run(repair=repair, progress=progress)

    def close(self) -> None:
        self.database.close()

    async def _poll(self, stop: threading.Event, name: str, lifetime: WorkerLifetime) -> None:
        wakeup = WakeupEvent(self.database, FEEDS)
        limit = self._settings.worker_pool_size
        poller = Poller(
            self.services.polling.claims, wakeup, max_concurrent=limit, name=name, on_full=lifetime.ask_for_more
        )
        of_slices = [
            loop for slice_name, one in SLICES.items() for loop in one.loops(self.services.slices[slice_name], name)
        ]
        stopping = asyncio.Event()
        waiting = asyncio.get_running_loop().run_in_executor(None, stop.wait)
        waiting.add_done_callback(lambda _: stopping.set())
        try:
            await asyncio.gather(
                poller.run(stopping),
                Indexer(self.services.entries.search, lambda: poller.is_busy).run(stopping),
                ReadingTimeWorker(ReadingTimes(self.database), lambda: poller.is_busy).run(stopping),
                ContentSharingWorker(ContentSharing(self.database), lambda: poller.is_busy).run(stopping),
                *(loop.run(stopping) for loop in of_slices),
                *(
                    [end_when_idle(poller, lambda: any(loop.is_running for loop in of_slices), stop, stopping)]
                    if lifetime.ends_when_idle
                    else []
                ),
            )
        finally:
            # After an error: the thread in `stop.wait` would keep the process alive without polling.
            stop.set()
            await wakeup.close()
            await self.services.disconnect()

    async def _refresh(self, username: str | None, progress: Callable[[int, int], None]) -> RefreshSummary:
        limit = self._settings.worker_pool_size
        try:
            return await refresh(self.services, username, progress=progress, max_concurrent=limit)
        finally:
            await self.services.disconnect()


@contextmanager
def build(settings: Settings) -> Iterator[Application]:
    """Yield the application, and close it at the end."""
    application = Application(settings)
    try:
        yield application
    finally:
        application.close()
