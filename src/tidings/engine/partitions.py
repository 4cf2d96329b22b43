"""Divides tables of PostgreSQL into partitions by the hash of `user_id`.

Statements are the same with and without partitions: what names the user reads one partition. A unique key of a divided
table has to contain `user_id`, which is therefore added to each; so references to an entry name its owner too.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from sqlalchemy import text

from tidings.base.errors import StartError
from tidings.engine.database import Read, Write, is_sqlite

_count = text("SELECT count(*) FROM pg_inherits WHERE inhparent = CAST(:table AS regclass)")
# The constraints of a table: p is its primary key, u are unique keys, f are foreign keys.
_constraints = text(
    "SELECT conname AS name, contype AS kind, pg_get_constraintdef(oid) AS definition FROM pg_constraint"
    " WHERE conrelid = CAST(:table AS regclass) AND contype IN ('p', 'u', 'f') ORDER BY conname"
)
_references = text(
    "SELECT conname AS name, CAST(CAST(conrelid AS regclass) AS text) AS referring FROM pg_constraint"
    " WHERE confrelid = CAST(:table AS regclass) ORDER BY conname"
)
_indexes = text(
    "SELECT pg_get_indexdef(indexrelid) FROM pg_index WHERE indrelid = CAST(:table AS regclass)"
    " AND NOT EXISTS (SELECT FROM pg_constraint WHERE conindid = indexrelid) ORDER BY indexrelid"
)


def count(db: Read, table: str) -> int:
    """Return into how many partitions a table is divided, 0 if it is not."""
    return int(db.scalar(_count, table=table))


def divide(db: Write, tables: Sequence[str], number: int) -> bool:
    """Divide tables into this number of partitions. They are rewritten, and locked until the end.

    tables: their names; the first is the one that others refer to.

    Returns False if they are so divided already. Raises StartError for SQLite, and for another number of partitions.
    """
    if is_sqlite(db.connection):
        raise StartError("--partitions needs PostgreSQL: the database is SQLite")
    first = tables[0]
    if existing := count(db, first):
        if existing != number:
            raise StartError(
                f"Entries are divided into {existing} partitions, which cannot be changed to {number}: move the data"
                " into an empty database to change it"
            )
        return False
    run(db, f"LOCK TABLE {', '.join(tables)} IN ACCESS EXCLUSIVE MODE")
    # Indexes are sorted in memory; the server's own setting counts again after the transaction.
    run(db, "SELECT set_config('maintenance_work_mem', '256MB', true)")
    references = db.rows(_references, table=first)
    for reference in references:
        run(db, f"ALTER TABLE {reference['referring']} DROP CONSTRAINT {reference['name']}")
    for table in tables:
        _divide_table(db, table, number, owns_sequence=table == first)
    for reference in references:
        run(
            db,
            f"ALTER TABLE {reference['referring']} ADD CONSTRAINT {reference['name']} FOREIGN KEY (entry_id, user_id)"
            f" REFERENCES {first} (id, user_id) ON DELETE CASCADE",
        )
    for table in tables:
        run(db, f"ANALYZE {table}")
    return True


def _divide_table(db: Write, table: str, number: int, *, owns_sequence: bool) -> None:
    constraints, indexes = db.rows(_constraints, table=table), db.scalars(_indexes, table=table)
    whole = f"undivided_{table}"
    run(db, f"ALTER TABLE {table} RENAME TO {whole}")
    like = "INCLUDING DEFAULTS INCLUDING STORAGE INCLUDING COMMENTS"
    run(db, f"CREATE TABLE {table} (LIKE {whole} {like}) PARTITION BY HASH (user_id)")
    for remainder in range(number):
        values = f"WITH (MODULUS {number}, REMAINDER {remainder})"
        run(db, f"CREATE TABLE {table}_{remainder} PARTITION OF {table} FOR VALUES {values}")
    run(db, f"INSERT INTO {table} SELECT * FROM {whole}")  # noqa: S608 - names of our schema
    if owns_sequence:
        # Otherwise the sequence would go with the old table.
        run(db, f"ALTER SEQUENCE {table}_id_seq OWNED BY {table}.id")
    run(db, f"DROP TABLE {whole}")
    for constraint in constraints:
        definition = constraint["definition"]
        if constraint["kind"] != "f":
            definition = key_with_user(definition)
        run(db, f"ALTER TABLE {table} ADD CONSTRAINT {constraint['name']} {definition}")
    for index in indexes:
        run(db, key_with_user(index) if index.startswith("CREATE UNIQUE") else index)


def key_with_user(definition: str) -> str:
    """Return the definition of a unique key with `user_id` as its last column, if it does not have that one."""
    found = re.search(r"\(([^()]*)\)", definition)
    assert found, definition
    if "user_id" in found[1].split(", "):
        return definition
    return f"{definition[: found.end(1)]}, user_id{definition[found.end(1) :]}"


def run(db: Write, statement: str) -> None:
    """Execute a statement with names of our schema and no parameters: a colon stands for itself."""
    db.run(text(statement.replace(":", r"\:")))
