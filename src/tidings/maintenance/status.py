"""The state of the service, for `tidings status` and /metrics."""

from __future__ import annotations

import threading
import time
from datetime import timedelta

from msgspec import Struct

from tidings.base.times import HOUR, MINUTE, SECOND, Instant
from tidings.engine import disk_space
from tidings.engine.database import Database
from tidings.maintenance import scheduled_backup
from tidings.maintenance.cleanup import JOB_NAME
from tidings.maintenance.store import scheduled_jobs, status
from tidings.services.clock import Clock

# Sources due for less than this are normal under load.
OVERDUE_AFTER = 5 * MINUTE
RATE_PERIOD = HOUR


class ServiceStatus(Struct, frozen=True, kw_only=True):
    """The state of the service, for all users together."""

    database_engine: str
    database_bytes: int
    users: int
    feeds: int
    feeds_disabled: int
    feeds_failing: int
    entries_unread: int
    entries_read: int
    """Read entries that are still stored."""
    due: int
    """Number of sources."""
    overdue: int
    """Number of sources."""
    oldest_overdue_s: int
    """Longest wait of a source in seconds, 0 if none waits."""
    claimed: int
    """Number of sources."""
    workers: int
    polls_last_hour: int
    """Feeds checked within the last hour; a feed checked twice counts once."""
    deliveries_pending: int
    deliveries_failed: int
    oldest_delivery_s: int
    """Longest wait of a delivery in seconds, 0 if none waits."""
    last_cleanup_s: int | None
    """Seconds since the last cleanup, None before it."""
    last_backup_s: int | None
    """Seconds since the last scheduled backup, None before it."""

    @property
    def is_behind(self) -> bool:
        return self.overdue > 0


class StatusReader:
    """Reads the state of the service.

    cache_for: how long `cached` returns the same values.
    """

    def __init__(self, database: Database, clock: Clock, *, cache_for: timedelta = timedelta(0)) -> None:
        self._database = database
        self._clock = clock
        self._cache_for_s = cache_for.total_seconds()
        self._lock = threading.Lock()
        self._cached_at = 0.0
        self._cached: ServiceStatus | None = None

    def cached(self) -> ServiceStatus:
        """Return the state, at most `cache_for` old. Raises StoreUnavailable."""
        with self._lock:
            if self._cached is None or time.monotonic() - self._cached_at > self._cache_for_s:
                self._cached, self._cached_at = self.read(), time.monotonic()
            return self._cached

    def read(self) -> ServiceStatus:
        """Return the state, read from the database now. Raises StoreUnavailable."""
        now = self._clock()
        with self._database.reading() as db:
            queue = status.poll_queue_counts(db, now, overdue_after=OVERDUE_AFTER)
            feeds = status.feed_counts(db, since=Instant(now - RATE_PERIOD))
            unread, read = status.entry_counts(db)
            deliveries = status.delivery_counts(db)
            cleaned_up_at = scheduled_jobs.finished_at(db, JOB_NAME)
            backed_up_at = scheduled_jobs.finished_at(db, scheduled_backup.JOB_NAME)
            return ServiceStatus(
                database_engine=self._database.kind,
                database_bytes=disk_space.size(db),
                users=status.user_count(db),
                feeds=feeds.all,
                feeds_disabled=feeds.disabled,
                feeds_failing=feeds.failing,
                entries_unread=unread,
                entries_read=read,
                due=queue.due,
                overdue=queue.overdue,
                oldest_overdue_s=_seconds(now, queue.oldest_due_at) or 0,
                claimed=queue.claimed,
                workers=queue.workers,
                polls_last_hour=feeds.checked,
                deliveries_pending=deliveries.pending,
                deliveries_failed=deliveries.failed,
                oldest_delivery_s=_seconds(now, deliveries.oldest_pending_at) or 0,
                last_cleanup_s=_seconds(now, cleaned_up_at),
                last_backup_s=_seconds(now, backed_up_at),
            )


def _seconds(now: Instant, since: Instant | None) -> int | None:
    return None if since is None else max(0, (now - since) // SECOND)


# Gauges of /metrics: name, field of ServiceStatus, help.
GAUGES = {
    "tidings_users": ("users", "Users."),
    "tidings_feeds": ("feeds", "Feeds of all users."),
    "tidings_feeds_disabled": ("feeds_disabled", "Feeds that are switched off."),
    "tidings_feeds_failing": ("feeds_failing", "Feeds whose last check did not succeed."),
    "tidings_entries_unread": ("entries_unread", "Unread entries of all users."),
    "tidings_entries_read": ("entries_read", "Read entries that are still stored."),
    "tidings_polls_due": ("due", "Documents that are due for a check."),
    "tidings_polls_overdue": ("overdue", "Documents that have been due for a check for more than five minutes."),
    "tidings_polls_oldest_overdue_seconds": ("oldest_overdue_s", "How long the oldest due check has been due."),
    "tidings_polls_claimed": ("claimed", "Documents that workers have claimed."),
    "tidings_workers_claiming": ("workers", "Workers that have claimed documents."),
    "tidings_deliveries_pending": ("deliveries_pending", "Deliveries that are pending."),
    "tidings_deliveries_oldest_pending_seconds": ("oldest_delivery_s", "Age of the oldest pending delivery."),
    "tidings_database_bytes": ("database_bytes", "Size of the database."),
    "tidings_backup_age_seconds": ("last_backup_s", "Time since the last scheduled backup; absent before the first."),
}


def gauges(overview: ServiceStatus) -> dict[str, tuple[str, float]]:
    """Return the help and the value of each gauge that has one, by name."""
    values = {name: (text, getattr(overview, field)) for name, (field, text) in GAUGES.items()}
    return {name: (text, float(value)) for name, (text, value) in values.items() if value is not None}
