"""Bulk operations: reserve ids, insert rows, look up entries by hash or date.

One statement per row costs more than the row itself. PostgreSQL inserts by COPY, in a third of the time; SQLite inserts
as fast as it can write the indexes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import lru_cache
from typing import Any

import msgspec
import psycopg
from sqlalchemy import Dialect, Table, text
from sqlalchemy.exc import DBAPIError

from tidings.engine.database import Read, Write, is_sqlite

_last_id = text("SELECT seq FROM sqlite_sequence WHERE name = :name")
# Finding the sequence takes ten times as long as reading it, so it is found once for all ids.
_next_ids = text(
    "WITH serial AS MATERIALIZED (SELECT CAST(pg_get_serial_sequence(:name, 'id') AS regclass) AS sequence)"
    " SELECT nextval(sequence) FROM serial, generate_series(1, :count)"
)


def take_ids(db: Write, table: Table, count: int) -> list[int]:
    """Return `count` ids for new rows, ascending. Known in advance, the ids need not be returned row by row.

    SQLite has one writer at a time, and continues from the largest id that was ever inserted.
    """
    if is_sqlite(db.connection):
        last = int(db.scalar(_last_id, name=table.name) or 0)
        return list(range(last + 1, last + 1 + count))
    return sorted(db.scalars(_next_ids, name=table.name, count=count))


def add(db: Write, table: Table, rows: Sequence[Mapping[str, Any]]) -> None:
    """Insert rows.

    rows: all with the same columns in the same order. Columns that are missing get their defaults.
    """
    if rows:
        names = list(rows[0])
        add_stored(db, table, names, _bind_values(db, table, names, rows))


def add_stored(db: Write, table: Table, names: Sequence[str], bound: Sequence[tuple[Any, ...]]) -> None:
    """Insert rows whose values are as the database stores them: compressed texts as bytes. names: the columns."""
    if is_sqlite(db.connection):
        placeholders = ", ".join("?" * len(names))
        db.connection.exec_driver_sql(f"INSERT INTO {table.name} ({', '.join(names)}) VALUES ({placeholders})", bound)  # noqa: S608 - names from our schema
    else:
        _copy(db, table, names, bound)


def select_by_hash(db: Read, statement: str, pairs: Iterable[tuple[int, bytes]]) -> Sequence[Any]:
    """Run a SELECT that reads pairs of feed id and hash from the table expression `wanted (feed_id, hash)`.

    Pairs instead of two lists, because each feed has hashes of its own. SQLite allows 32,766 parameters.
    """
    wanted = list(pairs)
    if not wanted:
        return []
    if is_sqlite(db.connection):
        source = f"VALUES {', '.join(['(?, ?)'] * len(wanted))}"
        parameters: tuple[Any, ...] = tuple(value for pair in wanted for value in pair)
    else:
        # Arrays as SQL text: the driver would examine each value.
        source = "SELECT * FROM unnest(%s::bigint[], %s::bytea[])"
        feed_ids = ",".join([str(feed_id) for feed_id, _ in wanted])
        hashes = ",".join([f'"\\\\x{hash_.hex()}"' for _, hash_ in wanted])
        parameters = (f"{{{feed_ids}}}", f"{{{hashes}}}")
    return db.connection.exec_driver_sql(f"WITH wanted (feed_id, hash) AS ({source}) {statement}", parameters).all()


def select_by_date(db: Read, statement: str, wanted: Iterable[tuple[int, int, int]]) -> Sequence[Any]:
    """Run a SELECT that reads ids of users and feeds, and dates, from the table expression `wanted`.

    Its columns are user_id, feed_id and published_at. Their number is not limited.
    """
    rows = list(wanted)
    if not rows:
        return []
    parameters: tuple[str, ...]
    if is_sqlite(db.connection):
        source = "SELECT value ->> 0, value ->> 1, value ->> 2 FROM json_each(?)"
        parameters = (msgspec.json.encode(rows).decode(),)
    else:
        source = "SELECT * FROM unnest(%s::bigint[], %s::bigint[], %s::bigint[])"
        parameters = tuple(f"{{{','.join(map(str, column))}}}" for column in zip(*rows, strict=True))
    with_ = f"WITH wanted (user_id, feed_id, published_at) AS ({source})"
    return db.connection.exec_driver_sql(f"{with_} {statement}", parameters).all()


def _bind_values(
    db: Write, table: Table, names: Sequence[str], rows: Sequence[Mapping[str, Any]]
) -> list[tuple[Any, ...]]:
    """Return the rows as driver parameters, converted by the column types as SQLAlchemy does for any statement."""
    processors = _bind_processors(db.connection.dialect, table, tuple(names))
    bound = []
    for row in rows:
        values = list(row.values())
        for index, process in processors:
            values[index] = process(values[index])
        bound.append(tuple(values))
    return bound


@lru_cache(maxsize=64)
def _bind_processors(dialect: Dialect, table: Table, names: tuple[str, ...]) -> list[tuple[int, Callable[[Any], Any]]]:
    """Return the index of each column whose values are converted, with the conversion."""
    processors = (table.c[name].type.dialect_impl(dialect).bind_processor(dialect) for name in names)
    return [(index, process) for index, process in enumerate(processors) if process is not None]


def _copy(db: Write, table: Table, names: Sequence[str], rows: Iterable[tuple[Any, ...]]) -> None:
    connection = db.connection.connection.driver_connection
    assert isinstance(connection, psycopg.Connection)
    try:
        with (
            connection.cursor() as cursor,
            cursor.copy(f"COPY {table.name} ({', '.join(names)}) FROM STDIN") as copy,
        ):
            for row in rows:
                copy.write_row(row)
    except psycopg.Error as error:
        # COPY bypasses SQLAlchemy: callers expect the exception that it would have raised.
        raise DBAPIError.instance(None, None, error, psycopg.Error, hide_parameters=True) from error
