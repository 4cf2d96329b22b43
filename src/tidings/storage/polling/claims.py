"""Claims on rows that a worker handles one at a time, such as mailboxes and lists of feeds. Sources have their own.

A claim is a lease: when a worker dies, its claim expires, and another worker takes the row.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final, Generic, TypeVar

from msgspec import Struct
from sqlalchemy import Column, Table, bindparam, or_, select, text, update

from tidings.base.times import Instant
from tidings.engine.columns import is_placed_by_user
from tidings.engine.database import Row, Write, columns, is_distributed

R = TypeVar("R", bound=Struct)

# How many due rows are tried where they are locked one by one, because other workers may hold some.
CANDIDATES: Final = 20


class Claims(Generic[R]):
    """The claims on a table's rows, which have an `id`, `claimed_until` and `claimed_by`.

    record: the fields of a row that a claim returns. due: the column that says when a row is due.
    """

    def __init__(self, table: Table, record: type[R], *, due: Column[int]) -> None:
        self._record = record
        self._is_spread = is_placed_by_user(table)
        self._select_due = (
            select(*columns(table, record), table.c.user_id.label("owner"))
            .where(
                due <= bindparam("now"),
                or_(table.c.claimed_until.is_(None), table.c.claimed_until <= bindparam("now")),
            )
            .order_by(due, table.c.id)
            .limit(bindparam("limit"))
        )
        self._lock_due = self._select_due.with_for_update(skip_locked=True)
        self._lock_one = self._lock_due.where(table.c.user_id == bindparam("user"), table.c.id == bindparam("row"))
        self._claim = (
            update(table)
            .where(table.c.id == bindparam("row"))
            .values(claimed_until=bindparam("until"), claimed_by=bindparam("worker"))
        )
        self._release_all = (
            update(table)
            .where(table.c.claimed_by == bindparam("worker"), text("claimed_by <> ''"))
            .values(claimed_until=None, claimed_by="")
        )

    def claim(self, db: Write, worker: str, *, now: Instant, until: Instant) -> R | None:
        """Claim the row that has been due for longest and that no worker holds, and return it."""
        for found, row in self._lock(db, now):
            db.run(self._claim, row=row["id"], worker=worker, until=until)
            return found
        return None

    def _lock(self, db: Write, now: Instant) -> Iterator[tuple[R, Row]]:
        """Lock a row that is due, and yield it."""
        if not (self._is_spread and is_distributed(db.connection)):
            yield from db.joined(self._record, self._lock_due, now=now, limit=1)
            return
        # One statement locks rows of one node.
        for due in db.rows(self._select_due, now=now, limit=CANDIDATES):
            yield from db.joined(self._record, self._lock_one, user=due["owner"], row=due["id"], now=now, limit=1)

    def release_all(self, db: Write, worker: str) -> int:
        """Release what a worker holds. Returns the number of rows."""
        return db.run(self._release_all, worker=worker)
