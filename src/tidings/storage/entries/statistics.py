"""How many entries were published and read per day, counted in an index up to a limit per day."""

from __future__ import annotations

from typing import Any

from sqlalchemy import CTE, ColumnElement, Subquery, bindparam, func, literal, select

from tidings.base.times import Instant
from tidings.domain.entries.entries import EntryStatus
from tidings.engine.database import Read
from tidings.storage.schema import entries

# The most that is counted per day. A user who reads more than this has marked whole lists as read.
MAX_PUBLISHED, MAX_READ = 2_000, 500
# More entries that became read at one moment were marked in bulk. Nobody reads so many between two signs of life of an
# app that was offline.
MAX_AT_ONCE = 20


def _daily(moment: ColumnElement[Any], maximum: int, *statuses: int) -> tuple[CTE, Subquery]:
    """Return periods by number, and the moments of at most `maximum` entries in each of them."""
    days = select(literal(0).label("number")).cte("days", recursive=True)
    days = days.union_all(select(days.c.number + 1).where(days.c.number < bindparam("last")))
    begin: ColumnElement[Any] = bindparam("start") + days.c.number * bindparam("length")
    # "+ 0" keeps PostgreSQL from using the index by status: without statistics of the table it would choose that
    # one, and read all of it for each day.
    status = entries.c.status + 0
    of_a_day = (
        select(moment.label("moment"))
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
    return days, of_a_day


def _number(of_a_day: Subquery) -> ColumnElement[Any]:
    return select(func.count()).select_from(of_a_day).scalar_subquery()


def _number_in_bulk(of_a_day: Subquery) -> ColumnElement[Any]:
    number = func.count()
    moments = select(number.label("number")).select_from(of_a_day).group_by(of_a_day.c.moment)
    in_bulk = moments.having(number > MAX_AT_ONCE).subquery()
    return select(func.coalesce(func.sum(in_bulk.c.number), 0)).scalar_subquery()


_days, _of_a_day = _daily(entries.c.published_at, MAX_PUBLISHED, EntryStatus.UNREAD.value, EntryStatus.READ.value)
_count_published = select(_number(_of_a_day)).select_from(_days).order_by(_days.c.number)
_days, _of_a_day = _daily(entries.c.changed_at, MAX_READ, EntryStatus.READ.value)
_count_read = select(_number(_of_a_day), _number_in_bulk(_of_a_day)).select_from(_days).order_by(_days.c.number)


def published(db: Read, user_id: int, start: Instant, length: int, count: int) -> list[int]:
    """Return how many entries were published in each of `count` periods of `length` microseconds, from `start` on."""
    return db.scalars(_count_published, user=user_id, start=start, length=length, last=count - 1)


def read(db: Read, user_id: int, start: Instant, length: int, count: int) -> list[tuple[int, int]]:
    """Return how many entries were read in each period, and how many more were marked in bulk.

    They are counted by their last change, which is mostly when they were read. More than MAX_AT_ONCE that changed at
    one moment were marked in bulk. The periods are given as for `published`.
    """
    rows = db.tuples(_count_read, user=user_id, start=start, length=length, last=count - 1)
    return [(total - int(marked), int(marked)) for total, marked in rows]
