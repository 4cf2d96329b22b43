"""Corrects times written while a clock was ahead: until then, feeds would not be polled and leases be held."""

from __future__ import annotations

from datetime import timedelta

from msgspec import Struct

from tidings.base.times import DAY, MINUTE, Instant
from tidings.domain.polling import check_times
from tidings.domain.polling.check_times import Schedule
from tidings.engine import database_clock, notify
from tidings.engine.database import Database
from tidings.maintenance import cleanup
from tidings.maintenance.store import clock_repair
from tidings.maintenance.store.clock_repair import LatestTimes
from tidings.services.clock import Clock
from tidings.storage.accounts import change_log

# How far the clocks of machines with one database may be apart.
MAX_CLOCK_DIFFERENCE = MINUTE


class ScheduleLimits(Struct, frozen=True, kw_only=True):
    """The longest waits that are possible with the settings."""

    schedule: Schedule
    source_lease: timedelta
    """How long a claim of a source lasts."""
    receiver_lease: timedelta
    """How long a worker holds the queue of a receiver of events."""
    push_lease: int
    """How long a worker holds a document that a hub pushed, in microseconds."""
    host_gap: timedelta
    """Time between two fetches from a host."""
    job_interval: timedelta
    """Time between two runs of the scheduled job that runs least often."""
    delivery_retry: timedelta
    """How long a failing delivery is repeated."""


class ClockRepair:
    def __init__(self, database: Database, clock: Clock, limits: ScheduleLimits) -> None:
        self._database = database
        self._clock = clock
        self._limits = limits

    def ahead_s(self) -> float:
        """Return by how many seconds this clock is ahead of the database server's; 0 on SQLite, without a server."""
        with self._database.reading() as db:
            theirs = database_clock.now(db)
        return 0.0 if theirs is None else (self._clock() - theirs) / 1_000_000

    def run(self, *, was_set_back: bool = False) -> int:
        """Correct times that lie further ahead than any wait. Returns the number of rows that were wrong.

        was_set_back: this machine's clock was just set back.
        """
        times = self._latest_times()
        with self._database.reading() as db:
            is_wrong = clock_repair.has_wrong_rows(db, times, was_set_back=was_set_back)
        # First the feeds: they show whether a host asked for its pause under the wrong clock.
        feeds = self._feeds_ahead(times)
        corrected = 0
        if is_wrong or feeds:
            with self._database.writing() as db:
                corrected = clock_repair.correct_rows(db, times, was_set_back=was_set_back or bool(feeds))
                change_log.restart_all(db)
        for start in range(0, len(feeds), clock_repair.FEED_BATCH):
            with self._database.writing() as db:
                clock_repair.make_feeds_due(db, feeds[start : start + clock_repair.FEED_BATCH], times)
                notify.notify(db, notify.FEEDS)
        return corrected + len(feeds)

    def _feeds_ahead(self, times: LatestTimes) -> list[int]:
        feed_ids: list[int] = []
        while True:
            with self._database.reading() as db:
                batch = clock_repair.feeds_ahead(db, times, after_id=feed_ids[-1] if feed_ids else 0)
            feed_ids += batch
            if len(batch) < clock_repair.FEED_BATCH:
                return feed_ids

    def _latest_times(self) -> LatestTimes:
        now = self._clock()
        latest = Instant(now + MAX_CLOCK_DIFFERENCE)

        def after(wait: timedelta | int) -> Instant:
            return Instant(latest + (wait if isinstance(wait, int) else wait // timedelta(microseconds=1)))

        return LatestTimes(
            now=now,
            latest=latest,
            source_lease=after(self._limits.source_lease),
            receiver_lease=after(self._limits.receiver_lease),
            push_lease=after(self._limits.push_lease),
            job_lease=after(cleanup.LEASE),
            gap_end=after(self._limits.host_gap),
            closed_until=after(DAY),
            next_check=after(check_times.longest_wait(self._limits.schedule)),
            next_attempt=after(self._limits.delivery_retry),
            next_job=after(max(self._limits.job_interval, timedelta(hours=1))),
        )
