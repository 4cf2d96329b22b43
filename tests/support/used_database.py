"""Puts a database of PostgreSQL that a test has used back into the state in which the test got it."""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from typing import Any

import psycopg
from psycopg.sql import SQL, Identifier

# Up to this size, deleting rows is faster than making new files for a table and those that refer to it.
_SMALL_BYTES = 2**18
# How long a connection may take to end, and the pause between two looks.
_PATIENCE_S = 10.0
_POLL_S = 0.002
# Whatever a test could change besides rows: a database with another schema is not used again.
_SCHEMA = """
    WITH own AS (SELECT oid FROM pg_namespace WHERE nspname !~ '^pg_(toast|temp)' AND nspname <> 'information_schema'
                 AND nspname <> 'pg_catalog'),
    tables AS (SELECT c.* FROM pg_class c JOIN own ON c.relnamespace = own.oid)
    SELECT md5(string_agg(thing, ',' ORDER BY thing)) FROM (
        SELECT (oid, relname, relkind, relowner, relacl, reloptions, relpersistence)::text FROM tables
        UNION ALL SELECT (attrelid, attnum, attname, atttypid, attnotnull, attoptions, attstattarget)::text
            FROM pg_attribute JOIN tables ON attrelid = tables.oid
        UNION ALL SELECT (c.oid, conrelid, convalidated)::text FROM pg_constraint c
        UNION ALL SELECT (indexrelid, indisvalid)::text FROM pg_index JOIN tables ON indexrelid = tables.oid
        UNION ALL SELECT (t.oid, tgenabled)::text FROM pg_trigger t
        UNION ALL SELECT (p.oid, prosrc)::text FROM pg_proc p JOIN own ON pronamespace = own.oid
        UNION ALL SELECT (oid)::text FROM pg_attrdef
        UNION ALL SELECT (oid)::text FROM pg_statistic_ext
        UNION ALL SELECT (setconfig)::text FROM pg_db_role_setting
            WHERE setdatabase = (SELECT oid FROM pg_database WHERE datname = current_database())
    ) AS things(thing)
"""
_OTHER_CONNECTIONS = """
    SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity
    WHERE datname = current_database() AND pid <> pg_backend_pid() AND backend_type = 'client backend'
"""
# Tables with rows or with what deleted ones left, and whether they are worth new files: those are slow to make.
_FILLED = f"""
    SELECT relname, reltuples >= 0 OR pg_table_size(oid) > {_SMALL_BYTES} FROM pg_class
    WHERE relkind = 'r' AND relnamespace = 'public'::regnamespace AND pg_relation_size(oid) > 0
"""
_SEQUENCES = "SELECT sequencename, start_value, last_value FROM pg_sequences WHERE last_value IS NOT NULL"
_STATISTICS = "DELETE FROM pg_statistic USING pg_class WHERE starelid = oid AND relnamespace = 'public'::regnamespace"


@dataclass
class UsedDatabase:
    """A migrated database that tests use one after the other. It is read when it is made, which is before the first."""

    name: str
    url: str
    _schema: str = field(init=False)
    _rows: dict[str, bytes] = field(init=False)
    _sequences: dict[str, int] = field(init=False)

    def __post_init__(self) -> None:
        with psycopg.connect(self.url) as connection:
            self._schema = _schema(connection)
            self._rows = {table: _read(connection, table) for table in _filled(connection)}
            self._sequences = {name: last for name, _, last in connection.execute(_SEQUENCES).fetchall()}

    def restore(self) -> bool:
        """End all connections, remove new rows, and bring back the first ones. Returns whether that succeeded."""
        try:
            with psycopg.connect(self.url) as connection:
                if not _end_other_connections(connection) or _schema(connection) != self._schema:
                    return False
                self._restore_rows(connection)
        except psycopg.Error:
            return False
        return True

    def _restore_rows(self, connection: psycopg.Connection[Any]) -> None:
        filled = _filled(connection)
        connection.execute("SET LOCAL session_replication_role = replica")
        if large := [Identifier(name) for name, is_large in filled.items() if is_large]:
            connection.execute(SQL("TRUNCATE {} CASCADE").format(SQL(", ").join(large)))
        small = [Identifier(name) for name, is_large in filled.items() if not is_large]
        connection.execute(SQL("; ").join(SQL("DELETE FROM {}").format(name) for name in small))
        for table, rows in self._rows.items():
            with connection.cursor().copy(SQL("COPY {} FROM STDIN").format(Identifier(table))) as copy:
                copy.write(rows)
        for name, first, _ in connection.execute(_SEQUENCES).fetchall():
            connection.execute(
                "SELECT setval(%s, %s, %s)", (name, self._sequences.get(name, first), name in self._sequences)
            )
        connection.execute(_STATISTICS)


def _end_other_connections(connection: psycopg.Connection[Any]) -> bool:
    """Return whether all have ended. PostgreSQL's own way to wait for one looks only every 100 ms."""
    deadline = time.monotonic() + _PATIENCE_S
    while connection.execute(_OTHER_CONNECTIONS).fetchone() != (0,):
        # Within a transaction the view would not change.
        connection.rollback()
        if time.monotonic() > deadline:
            return False
        time.sleep(_POLL_S)
    return True


def _schema(connection: psycopg.Connection[Any]) -> str:
    return str(connection.execute(_SCHEMA).fetchone())


def _filled(connection: psycopg.Connection[Any]) -> dict[str, bool]:
    return dict(connection.execute(_FILLED).fetchall())


def _read(connection: psycopg.Connection[Any], table: str) -> bytes:
    with connection.cursor().copy(SQL("COPY {} TO STDOUT").format(Identifier(table))) as copy:
        return b"".join(copy)
