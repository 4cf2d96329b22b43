"""Cleanup: remove old and unused rows in short steps, and shrink an SQLite file.

    old entries ─► unused contents and vectors ─► unneeded tombstones ─► icons without a feed ─► old deliveries
                ─► ended sessions ─► search index, merged if scattered ─► space

One worker at a time runs it, by a lease. Each step is a short transaction without state: the next run
continues an interrupted one.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator, Sequence
from datetime import timedelta
from functools import partial
from typing import TypeVar

from msgspec import Struct

from tidings import metrics
from tidings.base.times import SECOND, Instant
from tidings.domain.accounts.throttle import FORGET_AFTER
from tidings.domain.entries import retention
from tidings.domain.entries.entries import EntryStatus
from tidings.domain.entries.retention import MAX_BATCH, Retention
from tidings.engine import disk_space
from tidings.engine.database import Database, Write
from tidings.maintenance.store import cleanup, scheduled_jobs
from tidings.maintenance.store.cleanup import ExpiredEntry
from tidings.services.clock import Clock
from tidings.services.listeners import CleanupTask
from tidings.storage.accounts import sessions, sign_in_failures
from tidings.storage.entries import contents, search_index, tombstones
from tidings.storage.feeds import icons

T = TypeVar("T")

# Stored in the database: `tidings cleanup` and the worker share it.
JOB_NAME = "tidying"
# The lease is renewed during a run; after a crash the next run starts when it expires.
LEASE = Instant(60 * SECOND)
# Delay of the first run, so that settings can still be changed before entries are removed.
FIRST_RUN_DELAY = Instant(3600 * SECOND)
# Delay of the next run when a run stopped at its limit of entries.
CONTINUE_DELAY = Instant(60 * SECOND)
INDEX_BATCH = 50
# Pages of the search index that a transaction merges, in about 12 ms.
INDEX_PAGES = 100


class CleanupSettings(Struct, frozen=True):
    """The settings of the cleanup."""

    retention: Retention = Retention(timedelta(days=60), timedelta(days=180))
    interval: timedelta = timedelta(hours=24)
    """Time between two runs."""
    max_entries: int = 10_000
    """Maximum number of entries that one run removes."""


class CleanupStep(Struct, frozen=True):
    """The rows that one transaction removed."""

    what: str
    """Kind of the rows, such as entries, or pages of the SQLite file."""
    count: int
    took_s: float = 0.0


class Cleanup:
    def __init__(
        self, database: Database, clock: Clock, settings: CleanupSettings, tasks: Sequence[CleanupTask] = ()
    ) -> None:
        self._database = database
        self._clock = clock
        self._settings = settings
        self._tasks = tasks

    def begin(self, worker: str, *, ignore_schedule: bool = False) -> bool:
        """Claim a run if one is due and no other worker holds it. Returns whether it was claimed."""
        now = self._clock()
        with self._database.reading() as db:
            is_known, is_due = scheduled_jobs.is_registered(db, JOB_NAME), scheduled_jobs.is_due(db, JOB_NAME, now)
        if is_known and not is_due and not ignore_schedule:
            return False
        with self._database.writing() as db:
            scheduled_jobs.register(db, JOB_NAME, Instant(now + FIRST_RUN_DELAY))
            return scheduled_jobs.claim(
                db, JOB_NAME, worker, now=now, until=Instant(now + LEASE), ignore_schedule=ignore_schedule
            )

    def renew(self, worker: str) -> bool:
        """Renew the lease. Returns False if another worker holds it."""
        with self._database.writing() as db:
            return scheduled_jobs.renew(db, JOB_NAME, worker, Instant(self._clock() + LEASE))

    def finish(self, worker: str, removed_entries: int) -> None:
        """Release the lease of a finished run and schedule the next one."""
        now = self._clock()
        is_done = removed_entries < self._settings.max_entries
        wait = self._settings.interval // timedelta(microseconds=1) if is_done else CONTINUE_DELAY
        with self._database.writing() as db:
            scheduled_jobs.finish(db, JOB_NAME, worker, now=now, next_at=Instant(now + wait))

    def release(self, worker: str) -> None:
        """Release the lease of an interrupted run."""
        with self._database.writing() as db:
            scheduled_jobs.release(db, JOB_NAME, worker)

    def steps(self, *, unlimited: bool = False) -> Iterator[CleanupStep]:
        """Yield the steps of one run, each a transaction. unlimited: without the limit of entries."""
        yield from self._entries(sys.maxsize if unlimited else self._settings.max_entries)
        yield from self._contents()
        yield from self._vectors()
        yield from self._tombstones()
        yield from self._until_none("icons", icons.remove_unused)
        for task in self._tasks:
            yield from self._run(task)
        yield from self._until_none("sessions", partial(sessions.remove_expired, now=self._clock()))
        forgotten = Instant(self._clock() - FORGET_AFTER)
        yield from self._until_none("sign-in failures", partial(sign_in_failures.remove_expired, since=forgotten))
        yield from self._until_none("index", search_index.remove_deleted, INDEX_BATCH)
        yield from self._merged_index()
        yield from self._space()

    def _entries(self, max_entries: int) -> Iterator[CleanupStep]:
        with self._database.reading() as db:
            users = cleanup.user_ids(db)
        remaining = max_entries
        for user_id in users:
            for removal in self._removals(user_id):
                for step in removal.steps(remaining):
                    remaining -= step.count
                    yield step
                    if remaining <= 0:
                        return

    def _removals(self, user_id: int) -> Iterator[_Removal]:
        """Yield removals of expired entries: one per user and status, and one per feed with its own retention."""
        now, default = self._clock(), self._settings.retention
        with self._database.reading() as db:
            overrides = cleanup.retention_overrides(db, user_id)
        for status in (EntryStatus.READ, EntryStatus.REMOVED, EntryStatus.UNREAD):
            days_by_feed = {
                feed.feed_id: days
                for feed in overrides
                if (days := feed.keep_unread_days if status == EntryStatus.UNREAD else feed.keep_read_days) is not None
            }
            if (before := default.cutoff(status, now)) is not None:
                yield _Removal(self._database, self._clock, user_id, status, before, overridden=tuple(days_by_feed))
            for feed_id, days in sorted(days_by_feed.items()):
                if (before := default.cutoff(status, now, days)) is not None:
                    yield _Removal(self._database, self._clock, user_id, status, before, feed_id=feed_id)

    def _contents(self) -> Iterator[CleanupStep]:
        return self._in_order("contents", contents.find_unused, contents.remove_unused, lambda found: found[0])

    def _vectors(self) -> Iterator[CleanupStep]:
        return self._in_order("index", contents.find_unused_vectors, contents.remove_unused_vectors, lambda id_: id_)

    def _in_order(
        self, what: str, find: Callable[..., list[T]], remove: Callable[..., int], id_of: Callable[[T], int]
    ) -> Iterator[CleanupStep]:
        """Yield the steps that remove what `find` returns: a batch in the order of ids, after the one before."""
        after = 0
        while True:
            with self._database.reading() as db:
                found = find(db, after=after, limit=MAX_BATCH)
            if found:
                after = id_of(found[-1])
                yield self._write(what, partial(remove, found=found))
            if len(found) < MAX_BATCH:
                return

    def _tombstones(self) -> Iterator[CleanupStep]:
        position = (0, b"")
        while True:
            with self._database.reading() as db:
                page = tombstones.list_all(db, position)
            if not page:
                return
            position = (page[-1].feed_id, page[-1].hash)
            old = [
                tombstone
                for tombstone in page
                if retention.is_tombstone_expired(tombstone.seen_at, tombstone.parsed_at)
            ]
            if not old:
                # Reading takes time as well: pause, so that other writers proceed.
                yield CleanupStep("tombstones", 0)
            for start in range(0, len(old), MAX_BATCH):
                some = old[start : start + MAX_BATCH]
                yield self._write("tombstones", partial(tombstones.remove, old=some))

    def _run(self, task: CleanupTask) -> Iterator[CleanupStep]:
        now = self._clock()
        yield from self._until_none(task.what, lambda db, limit: task.remove(db, now, limit))

    def _merged_index(self) -> Iterator[CleanupStep]:
        """Merge the search index if it has become large. The next run continues an interrupted merge."""
        with self._database.reading() as db:
            has_more = search_index.is_scattered(db)
        is_first = True
        while has_more:
            started = time.perf_counter()
            with self._database.writing() as db:
                has_more = search_index.merge(db, pages=INDEX_PAGES, is_first=is_first)
            is_first = False
            yield CleanupStep("index", 0, time.perf_counter() - started)

    def _until_none(self, what: str, remove: Callable[..., int], limit: int = MAX_BATCH) -> Iterator[CleanupStep]:
        while True:
            step = self._write(what, partial(remove, limit=limit))
            yield step
            if step.count < limit:
                return

    def _space(self) -> Iterator[CleanupStep]:
        size = MAX_BATCH
        while True:
            with self._database.reading() as db:
                count = min(size, retention.pages_to_release(*disk_space.pages(db)))
            if not count:
                return
            step = self._write("pages", partial(disk_space.shrink, count=count))
            yield step
            if not step.count:
                return
            size = retention.next_batch_size(size, step.took_s)

    def _write(self, what: str, remove: Callable[[Write], int]) -> CleanupStep:
        return _write(self._database, what, remove)


class _Removal:
    """Removes expired entries of one user and status, in index order. before: entries changed later stay.

    feed_id: only entries of this feed. overridden: without entries of these feeds, which have their own retention.
    """

    def __init__(
        self,
        database: Database,
        clock: Clock,
        user_id: int,
        status: EntryStatus,
        before: Instant,
        *,
        feed_id: int | None = None,
        overridden: tuple[int, ...] = (),
    ) -> None:
        self._database = database
        self._clock = clock
        self._user_id = user_id
        self._status = status
        self._before = before
        self._feed_id = feed_id
        self._overridden = overridden

    def steps(self, max_entries: int) -> Iterator[CleanupStep]:
        """Yield steps that remove up to `max_entries` entries together."""
        reached, size = Instant(-(2**62)), MAX_BATCH // 5
        while expired := self._find(reached, min(size, max_entries)):
            step = _write(self._database, "entries", partial(self._remove, expired=expired))
            yield step
            max_entries -= step.count
            reached = expired[-1].at
            if step.count:
                size = retention.next_batch_size(size, step.took_s)

    def _find(self, reached: Instant, limit: int) -> list[ExpiredEntry]:
        if limit <= 0:
            return []
        with self._database.reading() as db:
            if self._feed_id is None:
                return cleanup.find_expired(
                    db,
                    self._user_id,
                    self._status,
                    before=self._before,
                    from_position=reached,
                    limit=limit,
                    overridden=self._overridden,
                )
            return cleanup.find_expired_of_feed(
                db, self._user_id, self._feed_id, self._status, before=self._before, from_position=reached, limit=limit
            )

    def _remove(self, db: Write, expired: list[ExpiredEntry]) -> int:
        return cleanup.remove_entries(db, self._user_id, expired, self._status, before=self._before, now=self._clock())


def _write(database: Database, what: str, remove: Callable[[Write], int]) -> CleanupStep:
    started = time.perf_counter()
    with database.writing() as db:
        count = remove(db)
    metrics.record_cleanup(what, count)
    return CleanupStep(what, count, time.perf_counter() - started)
