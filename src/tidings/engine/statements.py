"""Parts of statements in which the engines differ: INSERT … ON CONFLICT, lists as one parameter, and locks.

upsert          INSERT … ON CONFLICT, the same on both engines
in_list         passes a list as one parameter
joined_ids      reads ids as one text
advisory_lock, lock_rows, limit_waits    locks that PostgreSQL needs, and SQLite, with one writer at a time, does not

With one placeholder per value, each length of a list would be another statement, compiled and planned again, and SQLite
limits the number of placeholders. Where SQLite has to choose between the list and an index on the user, it needs the
placeholders (`in_`): it cannot know how long a list in one parameter is.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import msgspec
from sqlalchemy import ColumnElement, Dialect, Executable, Integer, Select, Table, Text, bindparam, func, select
from sqlalchemy.dialects.postgresql import Insert, insert
from sqlalchemy.ext.compiler import compiles
from sqlalchemy.sql.functions import FunctionElement
from sqlalchemy.types import UserDefinedType

from tidings.engine.database import Write, is_sqlite

# Upsert

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


# Lists


def in_list(column: ColumnElement[Any], parameter: str) -> ColumnElement[Any]:
    """Return the condition that a column's value is in the list of a parameter: numbers or texts, possibly none."""
    kind = _NumberList() if isinstance(column.type, Integer) else _TextList()
    return _in_list(column, bindparam(parameter, type_=kind))


def joined_ids(page: Select[Any]) -> Select[Any]:
    """Return the SELECT of the ids of a page, in its order, as one text with commas; NULL without any.

    page: selects the column `id` alone. The database joins them: as rows, each id takes four times as long.
    """
    return select(joined(page.subquery().c.id))


def joined(ids: ColumnElement[int]) -> ColumnElement[str]:
    """Return the aggregate of ids in any order as one text with commas; NULL without any."""
    return func.aggregate_strings(_as_text(ids), ",")


def split_ids(joined: str | None) -> list[int]:
    """Return the ids of a text of `joined_ids`."""
    return msgspec.json.decode(f"[{joined or ''}]", type=list[int])


class _as_text(FunctionElement[Any]):  # noqa: N801 - named like an SQL function
    """A number as text, converted only where joining does not: on SQLite the conversion takes a fifth of the time."""

    inherit_cache = True
    type = Text()


@compiles(_as_text)
def _number_itself(element: _as_text, compiler: Any, **options: Any) -> str:
    return str(compiler.process(element.clauses, **options))


@compiles(_as_text, "postgresql")
def _as_text_on_postgresql(element: _as_text, compiler: Any, **options: Any) -> str:
    return f"CAST({compiler.process(element.clauses, **options)} AS text)"


class _NumberList(UserDefinedType[Iterable[int]]):
    cache_ok = True

    def bind_processor(self, dialect: Dialect) -> Callable[[Any], Any]:
        # As SQL text: drivers would examine each value.
        form = "{%s}" if dialect.name == "postgresql" else "[%s]"
        return lambda values: form % ",".join([str(value) for value in values])


class _TextList(UserDefinedType[Iterable[str]]):
    cache_ok = True

    def bind_processor(self, dialect: Dialect) -> Callable[[Any], Any]:
        if dialect.name == "postgresql":
            return list
        return lambda values: msgspec.json.encode(list(values)).decode()


class _in_list(FunctionElement[Any]):  # noqa: N801 - named like an SQL function
    """Whether a value is in a list of ids.

    It is not declared as a boolean: SQLAlchemy would append `= 1`, and SQLite would not start from the list.
    """

    inherit_cache = True


@compiles(_in_list)
def _in_list_by_json(element: _in_list, compiler: Any, **options: Any) -> str:
    column, values = (compiler.process(clause, **options) for clause in element.clauses)
    return f"{column} IN (SELECT value FROM json_each({values}))"  # noqa: S608 - a parameter


@compiles(_in_list, "postgresql")
def _in_list_on_postgresql(element: _in_list, compiler: Any, **options: Any) -> str:
    column, values = element.clauses
    kind = "bigint" if isinstance(values.type, _NumberList) else "text"
    return f"{compiler.process(column, **options)} = ANY (CAST({compiler.process(values, **options)} AS {kind}[]))"


# Locks

_take_advisory_lock = select(func.pg_advisory_xact_lock(bindparam("number")))


def advisory_lock(db: Write, number: int) -> None:
    """Take the advisory lock of this number until the transaction ends; waits while another transaction holds it."""
    if not is_sqlite(db.connection):
        db.scalar(_take_advisory_lock, number=number)


def lock_rows(db: Write, statement: Executable, /, **parameters: Any) -> None:
    """Run a SELECT … FOR UPDATE for its locks alone. Later statements see what others committed before the lock."""
    if not is_sqlite(db.connection):
        db.scalars(statement, **parameters)


def limit_waits(db: Write, seconds: float) -> None:
    """Let statements of the transaction wait this long for a lock; then they raise StoreUnavailable."""
    if not is_sqlite(db.connection):
        db.connection.exec_driver_sql(f"SET LOCAL lock_timeout = {round(seconds * 1000)}")
