"""Executes statements with the driver alone, once SQLAlchemy has compiled and executed them.

    1st execution   SQLAlchemy    for most statements that are built for a request, there is no second one
    2nd             SQLAlchemy    the text and the conversions of values and rows are kept
    3rd and later   the driver

Around a statement that SQLite answers in 10 µs, SQLAlchemy spends 70 to 110: it hashes the statement to find its text,
collects the parameters, and makes a context, a result and row objects. The rows are the same either way, and so are
transactions, errors, and the events `before_cursor_execute` and `after_cursor_execute`, whose listeners get no context.

A statement is known by its identity, for as long as it lives: those of modules, and of builders that keep them. It
stays with SQLAlchemy if its text depends on its values, such as a list with one placeholder per value.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from typing import Any, TypeVar
from weakref import WeakKeyDictionary

from sqlalchemy import Connection, CursorResult, Dialect, Executable

from tidings.engine import errors

T = TypeVar("T")

Names = tuple[str, ...]
Convert = Callable[[Any], Any]


def fetch(
    connection: Connection, statement: Executable, given: Mapping[str, Any], *, is_one: bool = False
) -> tuple[Names, Sequence[tuple[Any, ...]]]:
    """Execute a statement. Returns the names of its columns, and its rows. is_one: the first row alone, if any."""
    kept = _kept(connection.dialect, statement, given)
    if kept is not None:
        return kept.names, kept.converted(kept.execute(connection, given, _first if is_one else _all))
    result = _execute(connection, statement, given)
    names = tuple(result.keys())
    rows = result.fetchmany(1) if is_one else result.all()
    result.close()
    return names, [tuple(row) for row in rows]


def change(connection: Connection, statement: Executable, given: Mapping[str, Any]) -> int:
    """Execute a statement. Returns the number of rows it changed."""
    kept = _kept(connection.dialect, statement, given)
    if kept is not None:
        return kept.execute(connection, given, _count)
    count: int = _execute(connection, statement, given).rowcount
    return count


class DriverStatement:
    """A statement as the driver takes it."""

    __slots__ = ("_fixed", "_given", "_of_columns", "_positions", "_text", "names")

    def __init__(self, result: CursorResult[Any], given: Mapping[str, Any]) -> None:
        """result: of an execution by SQLAlchemy with these values, before its rows are fetched."""
        # SQLAlchemy has no types for contexts.
        context: Any = result.context
        compiled, (values,), dialect = context.compiled, context.compiled_parameters, context.dialect
        convert: dict[str, Convert | None] = {
            name: one.type.dialect_impl(dialect).bind_processor(dialect) for one, name in compiled.bind_names.items()
        }
        self._text: str = compiled.string
        self._positions: Sequence[str] | None = compiled.positiontup
        self._given = [(name, convert[name]) for name in values if name in given]
        # Values that are part of the statement: texts that are equal but for them share what is compiled.
        self._fixed = {name: _convert(value, convert[name]) for name, value in values.items() if name not in given}
        described = _description(result)
        self.names: Names = tuple(result.keys()) if described else ()
        columns = getattr(context.invoked_statement, "exported_columns", ()) if described else ()
        processors = [
            context.get_result_processor(column.type, name, kind)
            for column, (name, kind, *_) in zip(columns, described, strict=bool(columns))
        ]
        self._of_columns = [(index, process) for index, process in enumerate(processors) if process is not None]

    def execute(self, connection: Connection, given: Mapping[str, Any], take: Callable[[Any], T]) -> T:
        """Return what `take` takes from the cursor. Raises what SQLAlchemy would raise."""
        values = self._fixed.copy()
        for name, convert in self._given:
            values[name] = _convert(given[name], convert)
        bound: Any = values if self._positions is None else tuple([values[name] for name in self._positions])
        text, cursor = self._text, connection.connection.cursor()
        try:
            if not connection.in_transaction():
                connection.begin()
            for listener in connection.dispatch.before_cursor_execute:
                text, bound = listener(connection, cursor, text, bound, None, False)
            cursor.execute(text, bound)
            for listener in connection.dispatch.after_cursor_execute:
                listener(connection, cursor, text, bound, None, False)
            return take(cursor)
        except BaseException as error:
            # Private, but nothing public tells listeners, closes what is broken, and wraps the error of a driver.
            statement = text if isinstance(error, errors.DRIVER_ERRORS) else None
            connection._handle_dbapi_exception(error, statement, bound, cursor, None)
            raise
        finally:
            cursor.close()

    def converted(self, rows: Sequence[tuple[Any, ...]]) -> Sequence[tuple[Any, ...]]:
        """Return rows of the driver with values as the types of their columns have them."""
        if not self._of_columns:
            return rows
        converted = []
        for row in rows:
            values = list(row)
            for index, convert in self._of_columns:
                values[index] = convert(values[index])
            converted.append(tuple(values))
        return converted


def _convert(value: Any, convert: Convert | None) -> Any:
    return value if convert is None else convert(value)


def _description(result: CursorResult[Any]) -> Sequence[Any]:
    """Return the columns as the driver describes them; none for a statement without rows."""
    cursor: Any = result.cursor
    return () if cursor is None else cursor.description or ()


def _is_fixed(result: CursorResult[Any]) -> bool:
    """Return whether a statement has the same text for all values of the same names, and columns of known types."""
    context: Any = result.context
    compiled, columns = context.compiled, getattr(context.invoked_statement, "exported_columns", ())
    computes_values = compiled.insert_prefetch or compiled.update_prefetch or compiled.escaped_bind_names
    has_types = not columns or len(columns) == len(_description(result))
    return context.statement == compiled.string and not computes_values and has_types


# By the names of the values: they are a part of what an INSERT or an UPDATE says. None: it stays with SQLAlchemy.
_Kept = dict[Names, DriverStatement | None]


@lru_cache(maxsize=8)
def _statements(_dialect: Dialect) -> WeakKeyDictionary[Executable, _Kept]:
    """Return the statements that were executed at least once, each pool of connections for itself."""
    return WeakKeyDictionary()


def _kept(dialect: Dialect, statement: Executable, given: Mapping[str, Any]) -> DriverStatement | None:
    found = _statements(dialect).get(statement)
    return None if found is None else found.get(tuple(given))


def _execute(connection: Connection, statement: Executable, given: Mapping[str, Any]) -> CursorResult[Any]:
    """Execute a statement by SQLAlchemy, and keep it if it was executed before."""
    result = connection.execute(statement, given)
    statements, names = _statements(connection.dialect), tuple(given)
    kept = statements.get(statement)
    if kept is None:
        statements[statement] = {}
    elif names not in kept:
        kept[names] = DriverStatement(result, given) if _is_fixed(result) else None
    return result


def _count(cursor: Any) -> int:
    count: int = cursor.rowcount
    return count


def _all(cursor: Any) -> list[tuple[Any, ...]]:
    rows: list[tuple[Any, ...]] = cursor.fetchall()
    return rows


def _first(cursor: Any) -> list[tuple[Any, ...]]:
    row = cursor.fetchone()
    return [] if row is None else [row]
