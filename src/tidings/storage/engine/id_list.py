"""A list as one parameter.

With a place for each of its values, a statement would be another for every length: written anew by us, planned anew by
PostgreSQL, and limited in its length by SQLite. Where SQLite has to choose between the list and an index on the user,
it needs the places (`in_`): it does not know how long a list in one parameter is.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import msgspec
from sqlalchemy import ColumnElement, Dialect, Integer, bindparam
from sqlalchemy.ext.compiler import compiles
from sqlalchemy.sql.functions import FunctionElement
from sqlalchemy.types import UserDefinedType


def in_list(column: ColumnElement[Any], parameter: str) -> ColumnElement[Any]:
    """Whether a column's value is one of a parameter's. Numbers and texts; none at all is a list as well."""
    kind = _Numbers() if isinstance(column.type, Integer) else _Texts()
    return _in_list(column, bindparam(parameter, type_=kind))


class _Numbers(UserDefinedType[Iterable[int]]):
    cache_ok = True

    def bind_processor(self, dialect: Dialect) -> Callable[[Any], Any]:
        # Written as the engine writes them: drivers would look at each value.
        form = "{%s}" if dialect.name == "postgresql" else "[%s]"
        return lambda values: form % ",".join([str(value) for value in values])


class _Texts(UserDefinedType[Iterable[str]]):
    cache_ok = True

    def bind_processor(self, dialect: Dialect) -> Callable[[Any], Any]:
        if dialect.name == "postgresql":
            return list
        return lambda values: msgspec.json.encode(list(values)).decode()


class _in_list(FunctionElement[Any]):  # noqa: N801 - as others of SQL
    """Not declared as a boolean: SQLAlchemy would write `= 1` behind it, and SQLite not start from the list."""

    inherit_cache = True


@compiles(_in_list)
def _in_list_by_json(element: _in_list, compiler: Any, **how: Any) -> str:
    column, values = (compiler.process(one, **how) for one in element.clauses)
    return f"{column} IN (SELECT value FROM json_each({values}))"  # noqa: S608 - a parameter


@compiles(_in_list, "postgresql")
def _in_list_on_postgresql(element: _in_list, compiler: Any, **how: Any) -> str:
    column, values = element.clauses
    kind = "bigint" if isinstance(values.type, _Numbers) else "text"
    return f"{compiler.process(column, **how)} = ANY (CAST({compiler.process(values, **how)} AS {kind}[]))"
