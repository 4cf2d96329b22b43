"""Rows in every table, with values of every kind, for what copies whole databases."""

from __future__ import annotations

import re
from typing import Any

from sqlalchemy import BigInteger, Boolean, Column, Float, Integer, LargeBinary, MetaData, SmallInteger, Table, insert

from tidings.engine.columns import CompressedText
from tidings.engine.database import Database, Write
from tidings.maintenance.store.table_copy import tables
from tidings.storage.accounts.server_secrets import APP_LOGINS
from tidings.storage.schema import server_secrets

# Tables of the search index are filled by the workers, each engine its own; the others are about one process or moment.
_NOT_FILLED = re.compile(r"alembic_version|entry_words.*|search_.*|sqlite_.*")
TEXTS = ("plain", "Grüße, 東京 🌧", 'it\'s \\ "quoted"\tand\nbroken', "")


def fill(db: Write, rows: int) -> int:
    """Replace the rows of each table by that many. Returns the number of all rows.

    The rows refer to each other as the foreign keys require; beyond that they mean nothing.
    """
    for table in reversed(tables()):
        db.run(table.delete())
    for table in tables():
        db.run_many(insert(table), rows_for(table, rows))
    return rows * len(tables())


def fill_described(database: Database, rows: int) -> None:
    """Put that many rows into each table of a new database of any revision."""
    described = described_tables(database)
    with database.writing() as db:
        for table in reversed(described):
            # What it got with its schema.
            db.run(table.delete())
        for table in described:
            db.run_many(table.insert(), rows_for(table, rows))


def described_tables(database: Database) -> list[Table]:
    """Return the tables that the database has, as it describes them, each after those that it refers to."""
    found = MetaData()
    with database.reading() as db:
        found.reflect(db.connection, only=lambda name, _: not _NOT_FILLED.fullmatch(name))
    return found.sorted_tables


def rows_for(table: Table, count: int) -> list[dict[str, Any]]:
    """Return that many rows for a table. Row 1 refers to row 1 of other tables, and so on."""
    return [_row(table, number) for number in range(1, count + 1)]


def _row(table: Table, number: int) -> dict[str, Any]:
    values = {column.name: _value(column, number) for column in table.columns}
    # Every database has the secret of this name, so that none is added when it is upgraded.
    return values | {"name": APP_LOGINS} if table.name == server_secrets.name and number == 1 else values


def _value(column: Column[Any], number: int) -> Any:
    if column.foreign_keys or column.primary_key or column.name.endswith("_id"):
        return f"key {number} Ä" if column.type.python_type is str else _bytes_or_number(column, number)
    if column.nullable and number % 3 == 0:
        return None
    return _plain_value(column, number)


def _bytes_or_number(column: Column[Any], number: int) -> Any:
    return bytes([0, number % 256, number // 256, 255]) if isinstance(column.type, LargeBinary) else number


def _plain_value(column: Column[Any], number: int) -> Any:
    match column.type:
        case CompressedText():
            return f"<p>{TEXTS[number % len(TEXTS)]} {number}</p>" * (1 + 300 * (number % 2))
        case Boolean():
            return number == 1 if _is_for_one_row(column) else number % 2 == 0
        case Float():
            return 1.1 + number / 3
        case SmallInteger():
            return number % 3
        case BigInteger():
            return 1_790_000_000_000_000 + number
        case Integer():
            return -1 if number % 5 == 0 else number
        case LargeBinary():
            return bytes([0, number % 256, number // 256, 255])
        case _:
            return f"{number} {TEXTS[number % len(TEXTS)]}"


def _is_for_one_row(column: Column[Any]) -> bool:
    """Return whether an index lets only one row have this flag."""
    return any(index.unique and list(index.columns) == [column] for index in column.table.indexes)
