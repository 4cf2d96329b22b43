"""Puts a database of PostgreSQL that a test has used back into the state in which the test got it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import psycopg
from psycopg.sql import SQL, Identifier

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
    SELECT pg_terminate_backend(pid, 10000) FROM pg_stat_activity
    WHERE datname = current_database() AND pid <> pg_backend_pid() AND backend_type = 'client backend'
"""
_FILLED = """
    SELECT relname FROM pg_class
    WHERE relkind = 'r' AND relnamespace = 'public'::regnamespace AND pg_relation_size(oid) > 0
"""
_SEQUENCES = "SELECT sequencename, last_value FROM pg_sequences WHERE last_value IS NOT NULL"
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
            self._sequences = dict(connection.execute(_SEQUENCES).fetchall())

    def restore(self) -> bool:
        """End all connections, remove new rows, and bring back the first ones. Returns whether that succeeded."""
        try:
            with psycopg.connect(self.url) as connection:
                connection.execute(_OTHER_CONNECTIONS)
                if _schema(connection) != self._schema:
                    return False
                self._restore_rows(connection)
        except psycopg.Error:
            return False
        return True

    def _restore_rows(self, connection: psycopg.Connection[Any]) -> None:
        names = SQL(", ").join(map(Identifier, _filled(connection)))
        connection.execute(SQL("TRUNCATE {} RESTART IDENTITY CASCADE").format(names))
        connection.execute("SET LOCAL session_replication_role = replica")
        for table, rows in self._rows.items():
            with connection.cursor().copy(SQL("COPY {} FROM STDIN").format(Identifier(table))) as copy:
                copy.write(rows)
        for name, _ in connection.execute(_SEQUENCES).fetchall():
            if name not in self._sequences:
                connection.execute(SQL("ALTER SEQUENCE {} RESTART").format(Identifier(name)))
        for name, value in self._sequences.items():
            connection.execute("SELECT setval(%s, %s)", (name, value))
        connection.execute(_STATISTICS)


def _schema(connection: psycopg.Connection[Any]) -> str:
    return str(connection.execute(_SCHEMA).fetchone())


def _filled(connection: psycopg.Connection[Any]) -> list[str]:
    return [name for (name,) in connection.execute(_FILLED).fetchall()]


def _read(connection: psycopg.Connection[Any], table: str) -> bytes:
    with connection.cursor().copy(SQL("COPY {} TO STDOUT").format(Identifier(table))) as copy:
        return b"".join(copy)
