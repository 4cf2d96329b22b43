"""Tidying: what is old or unused goes, in short steps, and an SQLite file gives its space back.

    old entries ─► tombstones nobody needs ─► icons without a feed ─► old deliveries ─► ended sessions
                ─► search index ─► space

One worker of all does it, by a lease. Each step is a short transaction, and has no memory: a round that is interrupted
anywhere is gone on with by the next one.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from datetime import timedelta
from functools import partial

from msgspec import Struct

from tidings import metrics
from tidings.domain import retention
from tidings.domain.deliveries import KEPT_FOR
from tidings.domain.entries import Status
from tidings.domain.retention import LARGEST_BATCH, Retention
from tidings.domain.times import SECOND, Instant
from tidings.services.clock import Clock
from tidings.storage import chores, deliveries, icons, receivers, search, sessions, space, tidying, tombstones
from tidings.storage.database import Database, Write
from tidings.storage.tidying import Old

CHORE = "tidying"
# A round is renewed while it goes on; a worker that dies in the middle holds up the next one for so long at most.
LEASE = Instant(60 * SECOND)
# Whoever starts Tidings for the first time, or with new settings, has this long to think again.
FIRST_AFTER = Instant(3600 * SECOND)
# When a round has removed as many entries as one may, the next one takes the rest.
MORE_AFTER = Instant(60 * SECOND)
INDEX_BATCH = 50


class TidyingSettings(Struct, frozen=True):
    """every: from one round to the next. most_entries: that one round removes."""

    retention: Retention = Retention(timedelta(days=60), timedelta(days=180))
    every: timedelta = timedelta(hours=24)
    most_entries: int = 10_000


class Step(Struct, frozen=True):
    """What a transaction removed. what: entries, tombstones, icons, deliveries, sessions, or pages of the file."""

    what: str
    count: int
    took_s: float = 0.0


class Tidying:
    def __init__(self, database: Database, clock: Clock, settings: TidyingSettings) -> None:
        self._database = database
        self._clock = clock
        self._settings = settings

    def begin(self, worker: str, *, due_or_not: bool = False) -> bool:
        """Whether there is a round to make, and nobody else makes it. Most often this only looks."""
        now = self._clock()
        with self._database.reading() as db:
            is_known, is_due = chores.is_known(db, CHORE), chores.is_due(db, CHORE, now)
        if is_known and not is_due and not due_or_not:
            return False
        with self._database.writing() as db:
            chores.start(db, CHORE, Instant(now + FIRST_AFTER))
            return chores.claim(db, CHORE, worker, now=now, until=Instant(now + LEASE), due_or_not=due_or_not)

    def keep(self, worker: str) -> bool:
        """Hold on to a round that takes long. False when it is somebody else's by now."""
        with self._database.writing() as db:
            return chores.renew(db, CHORE, worker, Instant(self._clock() + LEASE))

    def finish(self, worker: str, removed_entries: int) -> None:
        now = self._clock()
        is_done = removed_entries < self._settings.most_entries
        wait = self._settings.every // timedelta(microseconds=1) if is_done else MORE_AFTER
        with self._database.writing() as db:
            chores.finish(db, CHORE, worker, now=now, next_at=Instant(now + wait))

    def give_back(self, worker: str) -> None:
        """A round that was interrupted."""
        with self._database.writing() as db:
            chores.release(db, CHORE, worker)

    def steps(self, *, everything: bool = False) -> Iterator[Step]:
        """One round, a transaction each time it is asked. everything: however many entries that are."""
        yield from self._entries(sys.maxsize if everything else self._settings.most_entries)
        yield from self._tombstones()
        yield from self._until_none("icons", icons.remove_unused)
        ended_before = Instant(self._clock() - KEPT_FOR)
        yield from self._until_none("deliveries", partial(deliveries.forget, before=ended_before))
        yield from self._until_none("receivers", partial(receivers.remove_idle, now=self._clock()))
        yield from self._until_none("sessions", partial(sessions.remove_expired, now=self._clock()))
        yield from self._until_none("index", search.forget_deleted, INDEX_BATCH)
        yield from self._space()

    def _entries(self, most: int) -> Iterator[Step]:
        with self._database.reading() as db:
            users = tidying.user_ids(db)
        left = most
        for user_id in users:
            for walk in self._walks(user_id):
                for step in walk.steps(left):
                    left -= step.count
                    yield step
                    if left <= 0:
                        return

    def _walks(self, user_id: int) -> Iterator[_Walk]:
        """Through all that a user's feeds have in common, and through each feed that has something of its own."""
        now, kept = self._clock(), self._settings.retention
        with self._database.reading() as db:
            overrides = tidying.overrides(db, user_id)
        for status in (Status.READ, Status.REMOVED, Status.UNREAD):
            own = {
                one.feed_id: days
                for one in overrides
                if (days := one.keep_unread_days if status == Status.UNREAD else one.keep_read_days) is not None
            }
            if (before := kept.cutoff(status, now)) is not None:
                yield _Walk(self._database, self._clock, user_id, status, before, overridden=tuple(own))
            for feed_id, days in sorted(own.items()):
                if (before := kept.cutoff(status, now, days)) is not None:
                    yield _Walk(self._database, self._clock, user_id, status, before, feed_id=feed_id)

    def _tombstones(self) -> Iterator[Step]:
        place = (0, b"")
        while True:
            with self._database.reading() as db:
                page = tombstones.listed(db, place)
            if not page:
                return
            place = (page[-1].feed_id, page[-1].hash)
            old = [one for one in page if retention.may_forget(one.seen_at, one.parsed_at)]
            if not old:
                # Looking takes time, too: others get their turn.
                yield Step("tombstones", 0)
            for start in range(0, len(old), LARGEST_BATCH):
                some = old[start : start + LARGEST_BATCH]
                yield self._write("tombstones", partial(tombstones.forget, old=some))

    def _until_none(self, what: str, remove: Callable[..., int], limit: int = LARGEST_BATCH) -> Iterator[Step]:
        while True:
            step = self._write(what, partial(remove, limit=limit))
            yield step
            if step.count < limit:
                return

    def _space(self) -> Iterator[Step]:
        size = LARGEST_BATCH
        while True:
            with self._database.reading() as db:
                count = min(size, retention.pages_to_give_back(*space.pages(db)))
            if not count:
                return
            step = self._write("pages", partial(space.give_back, count=count))
            yield step
            if not step.count:
                return
            size = retention.next_batch(size, step.took_s)

    def _write(self, what: str, remove: Callable[[Write], int]) -> Step:
        return _write(self._database, what, remove)


class _Walk:
    """Through entries of one user and status, in the order of an index. before: what changed since then stays."""

    def __init__(
        self,
        database: Database,
        clock: Clock,
        user_id: int,
        status: Status,
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

    def steps(self, most: int) -> Iterator[Step]:
        """most: how many may go."""
        reached, size = Instant(-(2**62)), LARGEST_BATCH // 5
        while found := self._found(reached, min(size, most)):
            step = _write(self._database, "entries", partial(self._remove, found=found))
            yield step
            most -= step.count
            reached = found[-1].at
            if step.count:
                size = retention.next_batch(size, step.took_s)

    def _found(self, reached: Instant, limit: int) -> list[Old]:
        if limit <= 0:
            return []
        with self._database.reading() as db:
            if self._feed_id is None:
                return tidying.old(
                    db,
                    self._user_id,
                    self._status,
                    before=self._before,
                    reached=reached,
                    limit=limit,
                    overridden=self._overridden,
                )
            return tidying.old_of_feed(
                db, self._user_id, self._feed_id, self._status, before=self._before, reached=reached, limit=limit
            )

    def _remove(self, db: Write, found: list[Old]) -> int:
        return tidying.remove_entries(db, self._user_id, found, self._status, before=self._before, now=self._clock())


def _write(database: Database, what: str, remove: Callable[[Write], int]) -> Step:
    started = time.perf_counter()
    with database.writing() as db:
        count = remove(db)
    metrics.tidied(what, count)
    return Step(what, count, time.perf_counter() - started)
