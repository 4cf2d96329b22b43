"""The last id that each table has given out: ids of deleted rows are not given out again."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from sqlalchemy import Table, text

from tidings.engine.database import Read, Write, is_sqlite

_select_all = text("SELECT name, seq FROM sqlite_sequence")
_delete = text("DELETE FROM sqlite_sequence WHERE name = :name")
_insert = text("INSERT INTO sqlite_sequence (name, seq) VALUES (:name, :last)")
_select_name = text("SELECT pg_get_serial_sequence(:name, 'id')")
_set = text("SELECT setval(CAST(pg_get_serial_sequence(:name, 'id') AS regclass), :last)")


def read(db: Read, tables: Iterable[Table]) -> dict[str, int]:
    """Return the last id by name of the table, without tables that have given out none."""
    numbered = [table.name for table in tables if table.dialect_options["sqlite"]["autoincrement"]]
    if is_sqlite(db.connection):
        all_tables = {str(row["name"]): int(row["seq"]) for row in db.rows(_select_all)}
        last_ids = {name: all_tables.get(name, 0) for name in numbered}
    else:
        last_ids = {name: _last_of(db, name) for name in numbered}
    return {name: last for name, last in sorted(last_ids.items()) if last}


def write(db: Write, last_ids: Mapping[str, int]) -> None:
    """Continue with the id behind the last one. last_ids: as `read` returns them."""
    for name, last in last_ids.items():
        if is_sqlite(db.connection):
            db.run(_delete, name=name)
            db.run(_insert, name=name, last=last)
        else:
            db.scalar(_set, name=name, last=last)


def _last_of(db: Read, table: str) -> int:
    sequence = db.scalar(_select_name, name=table)
    row = db.row(text(f"SELECT last_value, is_called FROM {sequence}"))  # noqa: S608 - a name from the catalogue, quoted
    assert row is not None
    return int(row["last_value"]) if row["is_called"] else int(row["last_value"]) - 1
