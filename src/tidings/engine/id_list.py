"""Passes a list as one parameter, and reads ids as one text.

With one placeholder per value, each length would be another statement, compiled and planned again, and SQLite limits
the number of placeholders. Where SQLite has to choose between the list and an index on the user, it needs the
placeholders (`in_`): it cannot know how long a list in one parameter is.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import msgspec
from sqlalchemy import ColumnElement, Dialect, Integer, Select, Text, bindparam, func, select
from sqlalchemy.ext.compiler import compiles
from sqlalchemy.sql.functions import FunctionElement
from sqlalchemy.types import UserDefinedType


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
