"""Copies the tables of one database to another, of either engine, page by page; and compares them by digest.

    table ─► pages in the order of the primary key ─► rows as stored ─► insert, or digest

Rows are copied as they are stored: compressed texts stay compressed. The search index is not copied, since each engine
has its own: all entries are marked as waiting to be indexed, and the workers index them after the start.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import msgspec
from msgspec import Struct
from sqlalchemy import Executable, LargeBinary, Table, bindparam, func, insert, select, text, tuple_, type_coerce
from sqlalchemy.exc import DBAPIError

from tidings.base.errors import StartError
from tidings.engine import errors, sequences, statements
from tidings.engine.columns import CompressedText
from tidings.engine.database import Read, Write
from tidings.storage.schema import entries, metadata, search_pending

# Called with the number of rows that are done and the total.
Progress = Callable[[int, int], None]

PAGE_SIZE = 2_000
# For tables whose `info` says that they have large rows.
SMALL_PAGE_SIZE = 100

_insert_pending = insert(search_pending).from_select(
    ["entry_id", "user_id"],
    select(entries.c.id, entries.c.user_id).where(entries.c.id.not_in(select(search_pending.c.entry_id))),
)


class TableDigest(Struct, frozen=True):
    """The content of a table, to compare two databases."""

    rows: int
    digest: bytes
    """SHA-256 of all rows in the order of the primary key, the same on both engines."""


def tables() -> list[Table]:
    """Return the tables that are copied, each after the tables that it refers to."""
    return [one for one in metadata.sorted_tables if "engine" not in one.info and one is not search_pending]


def count_rows(db: Read, table: Table) -> int:
    return int(db.scalar(select(func.count()).select_from(table)))


def pages(db: Read, table: Table, after: Sequence[Any] = ()) -> Iterator[list[tuple[Any, ...]]]:
    """Yield the rows in the order of the primary key, as stored. after: the key of the last row that is left out."""
    size = SMALL_PAGE_SIZE if "has_large_rows" in table.info else PAGE_SIZE
    positions = [list(table.columns).index(column) for column in table.primary_key]
    first, following = _statements(table)
    key = list(after)
    while True:
        bounds = {f"key_{number}": value for number, value in enumerate(key)}
        page = [tuple(row) for row in db.tuples(following if key else first, size=size, **bounds)]
        if page:
            yield page
        if len(page) < size:
            return
        key = [page[-1][position] for position in positions]


def last_key(db: Read, table: Table) -> tuple[Any, ...]:
    """Return the largest primary key of a table, () if the table is empty."""
    key = list(table.primary_key)
    keys = db.tuples(select(*key).order_by(*(column.desc() for column in key)).limit(1))
    return tuple(keys[0]) if keys else ()


def add_rows(db: Write, table: Table, rows: Sequence[tuple[Any, ...]]) -> None:
    """Insert rows as `pages` yields them. Raises StartError if the database refuses one."""
    try:
        statements.insert_stored(db, table, [column.name for column in table.columns], rows)
    except DBAPIError as error:
        if errors.cause_of(error) is not None:
            raise
        raise StartError(
            f"Rows of the table {table.name} cannot be copied: {errors.first_line(error.orig)}; run `tidings"
            " check --repair` on the database that they come from, then this command again"
        ) from error


def copy_all(source: Read, target: Write, progress: Progress) -> None:
    """Copy all rows into a new database, in the transaction of `target`. Both have the current schema."""
    for table in reversed(tables()):
        # What it got with its schema.
        target.run(table.delete())
    total = sum(count_rows(source, table) for table in tables())
    done = 0
    for table in tables():
        for page in pages(source, table):
            add_rows(target, table, page)
            done += len(page)
            progress(done, total)
    sequences.write(target, last_ids(source))
    request_indexing(target)


def remove_rows(db: Write) -> None:
    """Remove all rows from all tables of PostgreSQL, which keeps the tables locked until the transaction ends."""
    names = ", ".join(table.name for table in metadata.sorted_tables if table.info.get("engine") != "sqlite")
    db.run(text(f"TRUNCATE {names}"))


def digest(db: Read, table: Table) -> TableDigest:
    """Return the number and the digest of all rows of a table. Reads the whole table."""
    count, total = 0, hashlib.sha256()
    encoder = msgspec.msgpack.Encoder()
    for page in pages(db, table):
        count += len(page)
        for row in page:
            total.update(encoder.encode(row))
    return TableDigest(count, total.digest())


def last_ids(db: Read) -> dict[str, int]:
    """Return the last id that each table has given out, by name of the table."""
    return sequences.read(db, tables())


def request_indexing(db: Write) -> None:
    """Mark all entries as waiting to be indexed."""
    db.run(_insert_pending)


def _statements(table: Table) -> tuple[Executable, Executable]:
    """Return the statements of the first page and of the following ones."""
    stored = [
        type_coerce(column, LargeBinary).label(column.name) if isinstance(column.type, CompressedText) else column
        for column in table.columns
    ]
    key = list(table.primary_key)
    first = select(*stored).order_by(*key).limit(bindparam("size"))
    bounds = [bindparam(f"key_{number}", type_=column.type) for number, column in enumerate(key)]
    return first, first.where(key[0] > bounds[0] if len(key) == 1 else tuple_(*key) > tuple_(*bounds))
