"""INSERT … ON CONFLICT, the same on both engines."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from sqlalchemy import ColumnElement, Table
from sqlalchemy.dialects.postgresql import Insert, insert

Condition = Callable[[Any, Any], ColumnElement[bool]]
NewValues = Callable[[Any, Any], Mapping[str, ColumnElement[Any]]]


def upsert(
    table: Table, key: Sequence[str], *, update: Sequence[str] | NewValues = (), where: Condition | None = None
) -> Insert:
    """Return an INSERT; where a row with the same key exists, the columns named by `update` are set in that row.

    key: the columns of a primary key or of a unique index. Without `update` the row stays as it is.
    update: names of columns that take the new row's values, or a function that returns the values by column, given
        the columns of the row that exists and of the new one.
    where: a condition on the columns of the existing row and of the new one; the row is updated only if it holds.
    Both engines compile the ON CONFLICT of PostgreSQL: SQLite took over its syntax.
    """
    statement = insert(table)
    if not update:
        return statement.on_conflict_do_nothing(index_elements=key)
    new = statement.excluded
    condition = where(table.c, new) if where else None
    values = update(table.c, new) if callable(update) else {name: new[name] for name in update}
    return statement.on_conflict_do_update(index_elements=key, set_=values, where=condition)
