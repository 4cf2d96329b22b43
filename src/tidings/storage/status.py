"""How things stand: a few numbers whose cost does not grow with the archive.

What is due, claimed or waiting comes from the partial indexes that hold nothing else; what is counted of feeds is one
pass over feeds, of entries one over the kept counters.
"""

from __future__ import annotations

from msgspec import Struct
from sqlalchemy import bindparam, case, func, select, text

from tidings.domain.times import Instant
from tidings.storage.database import Read
from tidings.storage.schema import deliveries, feed_counters, feeds, receivers, sources, users


class Queue(Struct, frozen=True):
    """due: sources (documents that are fetched for one feed or many) whose time has come. overdue: for long.

    oldest_due_at: the longest waiting one's time; None when nothing is due.
    """

    due: int
    overdue: int
    oldest_due_at: Instant | None
    claimed: int
    workers: int


class Feeds(Struct, frozen=True):
    """Feeds of all users. checked: since the moment asked for."""

    all: int
    disabled: int
    failing: int
    checked: int


class Deliveries(Struct, frozen=True):
    """pending: not delivered yet. failed: given up, as far as that is still listed."""

    pending: int
    failed: int
    oldest_pending_at: Instant | None


_due_at = sources.c.next_check_at
_is_due = (_due_at.is_not(None), _due_at <= bindparam("now"))
_queue = select(
    func.count(), func.coalesce(func.sum(case((_due_at <= bindparam("long_ago"), 1), else_=0)), 0), func.min(_due_at)
).where(*_is_due)
# The name first, as in the index of what is claimed.
_claims = select(func.count(), func.count(sources.c.claimed_by.distinct())).where(
    text("claimed_by <> ''"), sources.c.claimed_until > bindparam("now")
)
_feeds = select(
    func.count(),
    func.coalesce(func.sum(case((feeds.c.disabled, 1), else_=0)), 0),
    func.coalesce(func.sum(case((feeds.c.parsing_error_count > 0, 1), else_=0)), 0),
    func.coalesce(func.sum(case((feeds.c.checked_at > bindparam("since"), 1), else_=0)), 0),
)
_entries = select(func.coalesce(func.sum(feed_counters.c.unread), 0), func.coalesce(func.sum(feed_counters.c.read), 0))
_users = select(func.count()).select_from(users)
_failed = select(func.count()).where(deliveries.c.finished_at.is_not(None), deliveries.c.state == text("'failed'"))
_waiting = select(func.coalesce(func.sum(receivers.c.pending), 0)).where(receivers.c.next_attempt_at.is_not(None))
_arriving = select(func.count()).where(deliveries.c.receiver_id.is_(None), text("deliveries.state = 'pending'"))
_oldest_pending = select(func.min(deliveries.c.created_at)).where(text("deliveries.state = 'pending'"))


def queue(db: Read, now: Instant, *, overdue_after: int) -> Queue:
    """overdue_after: microseconds."""
    due, overdue, oldest = db.tuples(_queue, now=now, long_ago=Instant(now - overdue_after))[0]
    claimed, workers = db.tuples(_claims, now=now)[0]
    return Queue(due, overdue, oldest, claimed, workers)


def of_feeds(db: Read, *, since: Instant) -> Feeds:
    return Feeds(*db.tuples(_feeds, since=since)[0])


def of_entries(db: Read) -> tuple[int, int]:
    """Unread and read ones of all users."""
    unread, read = db.tuples(_entries)[0]
    return int(unread), int(read)


def user_count(db: Read) -> int:
    return int(db.scalar(_users))


def of_deliveries(db: Read) -> Deliveries:
    pending = int(db.scalar(_waiting)) + int(db.scalar(_arriving))
    return Deliveries(pending, int(db.scalar(_failed)), db.scalar(_oldest_pending) if pending else None)
