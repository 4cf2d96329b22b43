"""How many entries came and were read, day by day: ranges of an index, of which a bounded part is looked at."""

from __future__ import annotations

from typing import Any

from sqlalchemy import ColumnElement, Select, bindparam, func, literal, select

from tidings.domain.entries.entries import EntryStatus
from tidings.domain.times import Instant
from tidings.storage.engine.database import Read
from tidings.storage.schema import entries

# Of one day; what is beyond is not counted. Nobody reads as much as comes: who reads more has marked a list.
MOST, MOST_READ = 2_000, 500


def _daily(moment: ColumnElement[Any], most: int, *statuses: int) -> Select[Any]:
    days = select(literal(0).label("number")).cte("days", recursive=True)
    days = days.union_all(select(days.c.number + 1).where(days.c.number < bindparam("last")))
    begin: ColumnElement[Any] = bindparam("start") + days.c.number * bindparam("length")
    # A sum has no index: PostgreSQL, which may know nothing of the table yet, would take the one of the status, and
    # read all of it for each day.
    status = entries.c.status + 0
    of_a_day = (
        select(literal(1))
        .where(
            entries.c.user_id == bindparam("user"),
            moment >= begin,
            moment < begin + bindparam("length"),
            status.in_(statuses),
        )
        .limit(most)
        .correlate(days)
        .subquery()
    )
    return select(days.c.number, select(func.count()).select_from(of_a_day).scalar_subquery()).order_by(days.c.number)


_published = _daily(entries.c.published_at, MOST, EntryStatus.UNREAD.value, EntryStatus.READ.value)
_read = _daily(entries.c.changed_at, MOST_READ, EntryStatus.READ.value)


def published(db: Read, user_id: int, start: Instant, length: int, count: int) -> list[int]:
    """How many entries were published on each of so many days of a length (microseconds), the first one at `start`."""
    return _counts(db, _published, user_id, start, length, count)


def read(db: Read, user_id: int, start: Instant, length: int, count: int) -> list[int]:
    """The same of read entries that are still kept, by when they last changed: mostly that was when they were read."""
    return _counts(db, _read, user_id, start, length, count)


def _counts(db: Read, statement: Select[Any], user_id: int, start: Instant, length: int, count: int) -> list[int]:
    rows = db.tuples(statement, user=user_id, start=start, length=length, last=count - 1)
    return [found for _, found in rows]
