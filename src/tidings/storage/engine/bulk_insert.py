"""Many rows in one go: numbering them, adding them, looking for some.

A statement for each row costs more than the row. PostgreSQL takes new ones by COPY, in a third of the time, SQLite as
fast as its indexes can be written.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import lru_cache
from typing import Any

import psycopg
from sqlalchemy import Dialect, Table, text
from sqlalchemy.exc import DBAPIError

from tidings.storage.engine.database import Read, Write
from tidings.storage.engine.engines import is_sqlite

_last_id = text("SELECT seq FROM sqlite_sequence WHERE name = :name")
# To find the sequence takes ten times as long as to ask it: once, not for each id.
_next_ids = text(
    "WITH serial AS MATERIALIZED (SELECT CAST(pg_get_serial_sequence(:name, 'id') AS regclass) AS sequence)"
    " SELECT nextval(sequence) FROM serial, generate_series(1, :count)"
)


def take_ids(db: Write, table: Table, count: int) -> list[int]:
    """Ids for that many new rows, in ascending order: known beforehand, the rows need no answer each.

    SQLite has one writer at a time, and counts on from the largest id that was ever inserted.
    """
    if is_sqlite(db.connection):
        last = int(db.scalar(_last_id, name=table.name) or 0)
        return list(range(last + 1, last + 1 + count))
    return sorted(db.scalars(_next_ids, name=table.name, count=count))


def add(db: Write, table: Table, rows: Sequence[Mapping[str, Any]]) -> None:
    """rows: all with the same columns in the same order; columns they leave out get their defaults."""
    if not rows:
        return
    names = list(rows[0])
    ready = _as_stored(db, table, names, rows)
    if is_sqlite(db.connection):
        places = ", ".join("?" * len(names))
        db.connection.exec_driver_sql(f"INSERT INTO {table.name} ({', '.join(names)}) VALUES ({places})", ready)  # noqa: S608 - names of ours
    else:
        _copy(db, table, names, ready)


def asked(db: Read, statement: str, pairs: Iterable[tuple[int, bytes]]) -> Sequence[Any]:
    """Rows of a statement about some of a feed's entries. statement: reads its questions from `asked (feed_id, hash)`.

    Each feed has questions of its own, so that there is no list to compare with. SQLite takes 32,766 parameters.
    """
    wanted = list(pairs)
    if not wanted:
        return []
    if is_sqlite(db.connection):
        source = f"VALUES {', '.join(['(?, ?)'] * len(wanted))}"
        parameters: tuple[Any, ...] = tuple(value for pair in wanted for value in pair)
    else:
        # Arrays as they are written in SQL: the driver would look at each of their values.
        source = "SELECT * FROM unnest(%s::bigint[], %s::bytea[])"
        feed_ids = ",".join([str(feed_id) for feed_id, _ in wanted])
        hashes = ",".join([f'"\\\\x{hash_.hex()}"' for _, hash_ in wanted])
        parameters = (f"{{{feed_ids}}}", f"{{{hashes}}}")
    return db.connection.exec_driver_sql(f"WITH asked (feed_id, hash) AS ({source}) {statement}", parameters).all()


def _as_stored(
    db: Write, table: Table, names: Sequence[str], rows: Sequence[Mapping[str, Any]]
) -> list[tuple[Any, ...]]:
    """As the driver takes them: the types of the columns have their say, as in any statement."""
    special = _special(db.connection.dialect, table, tuple(names))
    ready = []
    for row in rows:
        values = list(row.values())
        for place, process in special:
            values[place] = process(values[place])
        ready.append(tuple(values))
    return ready


@lru_cache(maxsize=64)
def _special(dialect: Dialect, table: Table, names: tuple[str, ...]) -> list[tuple[int, Callable[[Any], Any]]]:
    """Which places of a row have to be made ready, and how."""
    made = (table.c[name].type.dialect_impl(dialect).bind_processor(dialect) for name in names)
    return [(place, process) for place, process in enumerate(made) if process is not None]


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
        # SQLAlchemy did not see this: the same trouble has the same name here as anywhere else.
        raise DBAPIError.instance(None, None, error, psycopg.Error, hide_parameters=True) from error
