"""Reads the database of a service with plain SQL, independently of the service's own code."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from typing import Any, Protocol

import psycopg

Row = tuple[Any, ...]

TABLES = "SELECT oid FROM pg_class WHERE relkind = 'r' AND relnamespace = 'public'::regnamespace"
INDEXES = """
    SELECT c.oid FROM pg_class c JOIN pg_am a ON a.oid = c.relam
    WHERE a.amname = 'btree' AND c.relkind = 'i' AND c.relnamespace = 'public'::regnamespace
"""


class Reader(Protocol):
    engine: str

    def rows(self, sql: str) -> list[Row]: ...

    def damage(self) -> list[str]:
        """Return what the engine's own integrity check finds."""
        ...


class SqliteReader:
    engine = "sqlite"

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection

    def rows(self, sql: str) -> list[Row]:
        return self._connection.execute(sql).fetchall()

    def damage(self) -> list[str]:
        try:
            found = [text for (text,) in self.rows("PRAGMA integrity_check") if text != "ok"]
        except sqlite3.DatabaseError as error:  # the file is too damaged for the check
            return [str(error)]
        return found + [f"foreign key of {row[0]} row {row[1]}" for row in self.rows("PRAGMA foreign_key_check")]


class PostgresReader:
    engine = "postgresql"

    def __init__(self, connection: psycopg.Connection) -> None:
        self._connection = connection

    def rows(self, sql: str) -> list[Row]:
        return self._connection.execute(sql.encode()).fetchall()

    def damage(self) -> list[str]:
        """Return what amcheck finds in tables and B-trees. It also looks up each row in its indexes."""
        self._connection.execute("CREATE EXTENSION IF NOT EXISTS amcheck")
        found = []
        for (table,) in self.rows(TABLES):
            sql = f"SELECT msg FROM verify_heapam({table})"
            found += [f"table {table}: {text}" for (text,) in self.rows(sql)]
        for (index,) in self.rows(INDEXES):
            try:
                self.rows(f"SELECT bt_index_check({index}, true)::text")
            except psycopg.DatabaseError as error:
                found.append(f"index {index}: {error}")
        return found


@contextmanager
def reader(database_url: str) -> Iterator[Reader]:
    if database_url.startswith("sqlite:///"):
        path = database_url.removeprefix("sqlite:///")
        with closing(sqlite3.connect(path, timeout=30)) as connection:
            yield SqliteReader(connection)
        return
    with psycopg.connect(database_url, autocommit=True, connect_timeout=10) as connection:
        yield PostgresReader(connection)
