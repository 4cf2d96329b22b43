"""Counts of the whole service; their cost does not grow with the archive.

What is due, claimed or waiting comes from the partial indexes that hold nothing else; what is counted of feeds is one
pass over feeds, of entries one over the kept counters.
"""

from __future__ import annotations

from msgspec import Struct
from sqlalchemy import bindparam, case, func, select, text

from tidings.domain.times import Instant
from tidings.storage.engine.database import Read
from tidings.storage.schema import deliveries, feed_counters, feeds, receivers, sources, users


class PollQueueCounts(Struct, frozen=True):
    """due: sources (documents that are fetched for one feed or many) whose time has come. overdue: for long.

    oldest_due_at: the longest waiting one's time; None when nothing is due.
    """

    due: int
    overdue: int
    oldest_due_at: Instant | None
    claimed: int
    workers: int


class FeedCounts(Struct, frozen=True):
    """Feeds of all users. checked: since the moment asked for."""

    all: int
    disabled: int
    failing: int
    checked: int


class DeliveryCounts(Struct, frozen=True):
    """pending: not delivered yet. failed: given up, as far as that is still listed."""

    pending: int
    failed: int
    oldest_pending_at: Instant | None


_due_at = sources.c.next_check_at
_is_due = (_due_at.is_not(None), _due_at <= bindparam("now"))
_queue = select(
    func.count().label("due"),
    func.coalesce(func.sum(case((_due_at <= bindparam("long_ago"), 1), else_=0)), 0).label("overdue"),
    func.min(_due_at).label("oldest_due_at"),
).where(*_is_due)
# The name first, as in the index of what is claimed.
_claims = select(func.count().label("claimed"), func.count(sources.c.claimed_by.distinct()).label("workers")).where(
    text("claimed_by <> ''"), sources.c.claimed_until > bindparam("now")
)
_feeds = select(
    func.count().label("all"),
    func.coalesce(func.sum(case((feeds.c.disabled, 1), else_=0)), 0).label("disabled"),
    func.coalesce(func.sum(case((feeds.c.parsing_error_count > 0, 1), else_=0)), 0).label("failing"),
    func.coalesce(func.sum(case((feeds.c.checked_at > bindparam("since"), 1), else_=0)), 0).label("checked"),
)
_entries = select(func.coalesce(func.sum(feed_counters.c.unread), 0), func.coalesce(func.sum(feed_counters.c.read), 0))
_users = select(func.count()).select_from(users)
_failed = select(func.count()).where(deliveries.c.finished_at.is_not(None), deliveries.c.state == text("'failed'"))
_waiting = select(func.coalesce(func.sum(receivers.c.pending), 0)).where(receivers.c.next_attempt_at.is_not(None))
_arriving = select(func.count()).where(deliveries.c.receiver_id.is_(None), text("deliveries.state = 'pending'"))
_oldest_pending = select(func.min(deliveries.c.created_at)).where(text("deliveries.state = 'pending'"))


def poll_queue_counts(db: Read, now: Instant, *, overdue_after: int) -> PollQueueCounts:
    """overdue_after: microseconds."""
    due = db.rows(_queue, now=now, long_ago=Instant(now - overdue_after))[0]
    return PollQueueCounts(**due, **db.rows(_claims, now=now)[0])


def feed_counts(db: Read, *, since: Instant) -> FeedCounts:
    return db.all(FeedCounts, _feeds, since=since)[0]


def entry_counts(db: Read) -> tuple[int, int]:
    """Unread and read ones of all users."""
    unread, read = db.tuples(_entries)[0]
    return int(unread), int(read)


def user_count(db: Read) -> int:
    return int(db.scalar(_users))


def delivery_counts(db: Read) -> DeliveryCounts:
    pending = int(db.scalar(_waiting)) + int(db.scalar(_arriving))
    oldest = db.scalar(_oldest_pending) if pending else None
    return DeliveryCounts(pending=pending, failed=int(db.scalar(_failed)), oldest_pending_at=oldest)
