"""Counts of the whole service; their cost does not grow with the archive.

Due, claimed and waiting rows are counted in partial indexes that hold nothing else, feeds in one pass over the table,
and entries by adding up the counters of feeds.
"""

from __future__ import annotations

from msgspec import Struct
from sqlalchemy import bindparam, case, func, select, text

from tidings.base.times import Instant
from tidings.deliveries.tables import deliveries, receivers
from tidings.engine.database import Read
from tidings.storage.schema import feed_counters, feeds, sources, users


class PollQueueCounts(Struct, frozen=True):
    """Sources (documents that are fetched for one feed or many) that are due or claimed."""

    due: int
    overdue: int
    """Due for longer than the time asked for."""
    oldest_due_at: Instant | None
    """When the longest waiting source became due; None when none is due."""
    claimed: int
    workers: int
    """How many workers hold claims."""


class FeedCounts(Struct, frozen=True):
    """Feeds of all users."""

    all: int
    disabled: int
    failing: int
    checked: int
    """Feeds checked since the time asked for."""


class DeliveryCounts(Struct, frozen=True):
    """Deliveries of all users."""

    pending: int
    failed: int
    """Given up, and not yet deleted by the cleanup."""
    oldest_pending_at: Instant | None


_due_at = sources.c.next_check_at
_is_due = (_due_at.is_not(None), _due_at <= bindparam("now"))
_count_due = select(
    func.count().label("due"),
    func.coalesce(func.sum(case((_due_at <= bindparam("long_ago"), 1), else_=0)), 0).label("overdue"),
    func.min(_due_at).label("oldest_due_at"),
).where(*_is_due)
# The worker's name comes first, as in the partial index.
_count_claimed = select(
    func.count().label("claimed"), func.count(sources.c.claimed_by.distinct()).label("workers")
).where(text("claimed_by <> ''"), sources.c.claimed_until > bindparam("now"))
_count_feeds = select(
    func.count().label("all"),
    func.coalesce(func.sum(case((feeds.c.disabled, 1), else_=0)), 0).label("disabled"),
    func.coalesce(func.sum(case((feeds.c.parsing_error_count > 0, 1), else_=0)), 0).label("failing"),
    func.coalesce(func.sum(case((feeds.c.checked_at > bindparam("since"), 1), else_=0)), 0).label("checked"),
)
_count_entries = select(
    func.coalesce(func.sum(feed_counters.c.unread), 0).label("unread"),
    func.coalesce(func.sum(feed_counters.c.read), 0).label("read"),
)
_count_users = select(func.count()).select_from(users)
_count_failed = select(func.count()).where(
    deliveries.c.finished_at.is_not(None), deliveries.c.state == text("'failed'")
)
_count_waiting = select(func.coalesce(func.sum(receivers.c.pending), 0)).where(receivers.c.next_attempt_at.is_not(None))
_count_new = select(func.count()).where(deliveries.c.receiver_id.is_(None), text("deliveries.state = 'pending'"))
_select_oldest_pending = select(func.min(deliveries.c.created_at)).where(text("deliveries.state = 'pending'"))


def poll_queue_counts(db: Read, now: Instant, *, overdue_after: int) -> PollQueueCounts:
    """Return counts of sources. overdue_after: microseconds."""
    due = db.rows(_count_due, now=now, long_ago=Instant(now - overdue_after))[0]
    return PollQueueCounts(**due, **db.rows(_count_claimed, now=now)[0])


def feed_counts(db: Read, *, since: Instant) -> FeedCounts:
    return db.all(FeedCounts, _count_feeds, since=since)[0]


def entry_counts(db: Read) -> tuple[int, int]:
    """Return the number of unread and of read entries of all users."""
    counts = db.rows(_count_entries)[0]
    return int(counts["unread"]), int(counts["read"])


def user_count(db: Read) -> int:
    return int(db.scalar(_count_users))


def delivery_counts(db: Read) -> DeliveryCounts:
    pending = int(db.scalar(_count_waiting)) + int(db.scalar(_count_new))
    oldest = db.scalar(_select_oldest_pending) if pending else None
    return DeliveryCounts(pending=pending, failed=int(db.scalar(_count_failed)), oldest_pending_at=oldest)
