"""How many entries were published and read per day, counted in an index up to a limit per day."""

from __future__ import annotations

from typing import Any

from sqlalchemy import ColumnElement, Select, bindparam, func, literal, select

from tidings.base.times import Instant
from tidings.domain.entries.entries import EntryStatus
from tidings.engine.database import Read
from tidings.storage.schema import entries

# The most that is counted per day. A user who reads more than this has marked whole lists as read.
MAX_PUBLISHED, MAX_READ = 2_000, 500


def _daily(moment: ColumnElement[Any], maximum: int, *statuses: int) -> Select[Any]:
    days = select(literal(0).label("number")).cte("days", recursive=True)
    days = days.union_all(select(days.c.number + 1).where(days.c.number < bindparam("last")))
    begin: ColumnElement[Any] = bindparam("start") + days.c.number * bindparam("length")
    # "+ 0" keeps PostgreSQL from using the index by status: without statistics of the table it would choose that
    # one, and read all of it for each day.
    status = entries.c.status + 0
    of_a_day = (
        select(literal(1))
        .where(
            entries.c.user_id == bindparam("user"),
            moment >= begin,
            moment < begin + bindparam("length"),
            status.in_(statuses),
        )
        .limit(maximum)
        .correlate(days)
        .subquery()
    )
    count = select(func.count()).select_from(of_a_day).scalar_subquery()
    return select(days.c.number, count.label("count")).order_by(days.c.number)


_count_published = _daily(entries.c.published_at, MAX_PUBLISHED, EntryStatus.UNREAD.value, EntryStatus.READ.value)
_count_read = _daily(entries.c.changed_at, MAX_READ, EntryStatus.READ.value)


def published(db: Read, user_id: int, start: Instant, length: int, count: int) -> list[int]:
    """Return how many entries were published in each of `count` periods of `length` microseconds, from `start` on."""
    return _counts(db, _count_published, user_id, start, length, count)


def read(db: Read, user_id: int, start: Instant, length: int, count: int) -> list[int]:
    """Like `published`, for read entries by their last change, which is mostly when they were read."""
    return _counts(db, _count_read, user_id, start, length, count)


def _counts(db: Read, statement: Select[Any], user_id: int, start: Instant, length: int, count: int) -> list[int]:
    rows = db.rows(statement, user=user_id, start=start, length=length, last=count - 1)
    return [row["count"] for row in rows]
