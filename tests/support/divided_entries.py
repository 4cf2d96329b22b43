"""Divides entries into partitions by user, as `tidings migrate --partitions` of version 0.2 did."""

from __future__ import annotations

import psycopg
from sqlalchemy import make_url

from tidings.engine.distribution import key_with_user

# Entries come first: the others refer to them.
DIVIDED = ("entries", "entry_contents", "entry_tags", "feed_counters")

_CONSTRAINTS = """
    SELECT conname, contype = 'f', pg_get_constraintdef(oid) FROM pg_constraint
    WHERE conrelid = %s::regclass AND contype IN ('p', 'u', 'f') ORDER BY conname
"""
_REFERENCES = "SELECT conname, conrelid::regclass FROM pg_constraint WHERE confrelid = 'entries'::regclass"
_INDEXES = """
    SELECT pg_get_indexdef(indexrelid) FROM pg_index WHERE indrelid = %s::regclass
    AND NOT EXISTS (SELECT FROM pg_constraint WHERE conindid = indexrelid) ORDER BY indexrelid
"""


def divide(url: str, count: int = 4) -> None:
    """Divide the tables of a database of PostgreSQL, of any schema since 0036."""
    with psycopg.connect(make_url(url).set(drivername="postgresql").render_as_string(hide_password=False)) as db:
        references = db.execute(_REFERENCES).fetchall()
        for name, referring in references:
            _run(db, f"ALTER TABLE {referring} DROP CONSTRAINT {name}")
        for table in DIVIDED:
            _divide_table(db, table, count)
        for name, referring in references:
            _run(
                db,
                f"ALTER TABLE {referring} ADD CONSTRAINT {name} FOREIGN KEY (entry_id, user_id)"
                " REFERENCES entries (id, user_id) ON DELETE CASCADE",
            )


def _divide_table(db: psycopg.Connection, table: str, count: int) -> None:
    constraints = db.execute(_CONSTRAINTS, [table]).fetchall()
    indexes = db.execute(_INDEXES, [table]).fetchall()
    _run(db, f"ALTER TABLE {table} RENAME TO undivided")
    like = "INCLUDING DEFAULTS INCLUDING STORAGE INCLUDING COMMENTS"
    _run(db, f"CREATE TABLE {table} (LIKE undivided {like}) PARTITION BY HASH (user_id)")
    for remainder in range(count):
        values = f"WITH (MODULUS {count}, REMAINDER {remainder})"
        _run(db, f"CREATE TABLE {table}_{remainder} PARTITION OF {table} FOR VALUES {values}")
    _run(db, f"INSERT INTO {table} SELECT * FROM undivided")
    if table == "entries":
        _run(db, "ALTER SEQUENCE entries_id_seq OWNED BY entries.id")
    _run(db, "DROP TABLE undivided")
    for name, is_reference, definition in constraints:
        wanted = definition if is_reference else key_with_user(definition)
        _run(db, f"ALTER TABLE {table} ADD CONSTRAINT {name} {wanted}")
    for (index,) in indexes:
        _run(db, key_with_user(index) if index.startswith("CREATE UNIQUE") else index)


def _run(db: psycopg.Connection, statement: str) -> None:
    db.execute(statement.encode())
