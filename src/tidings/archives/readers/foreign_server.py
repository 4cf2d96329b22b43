"""Reads the PostgreSQL database of another program."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import count
from typing import Any, Final

import psycopg
from psycopg import IsolationLevel
from psycopg.conninfo import conninfo_to_dict
from psycopg.rows import dict_row

# Rows that are fetched together.
_ROWS: Final = 500
_CONNECT_TIMEOUT_S: Final = 10
_ERRORS: Final = (psycopg.Error, UnicodeError)


class UnreadableServer(Exception):
    """The database cannot be read; the message says why, without a password."""


class ForeignServer:
    """Reads another reader's database in one read-only transaction, so that queries agree. Raises UnreadableServer.

    dsn: a URL that begins with postgres:// or postgresql://. libpq takes missing parts from its own environment
    variables and password file.
    """

    def __init__(self, dsn: str) -> None:
        try:
            values: dict[str, Any] = dict(conninfo_to_dict(dsn))
        except psycopg.Error as error:
            # Its message may hold parts of the password.
            raise UnreadableServer("the address has to be postgresql://USER@HOST/DATABASE") from error
        values.setdefault("connect_timeout", _CONNECT_TIMEOUT_S)
        try:
            self._connection = psycopg.connect("", **(values | {"client_encoding": "UTF8"}))
            self._connection.read_only = True
            self._connection.isolation_level = IsolationLevel.REPEATABLE_READ
            self._connection.execute("SET LOCAL TimeZone = 'UTC'")
        except _ERRORS as error:
            raise _unreadable(error) from error
        self._numbers = count()

    def close(self) -> None:
        self._connection.close()

    def rows(self, statement: str, **parameters: Any) -> Iterator[Mapping[str, Any]]:
        """Yield the rows of a query by the names of their columns; few are in memory at the same time."""
        name = f"rows_{next(self._numbers)}"
        try:
            with self._connection.cursor(name, row_factory=dict_row) as cursor:
                cursor.itersize = _ROWS
                # The text is our own; names of columns come from the database's catalogue.
                yield from cursor.execute(statement.encode(), parameters)
        except _ERRORS as error:
            raise _unreadable(error) from error

    def columns(self, table: str) -> set[str]:
        """Return the names of a table's columns; nothing if it cannot be found by its name alone."""
        statement = (
            "SELECT attname AS name FROM pg_attribute"
            " WHERE attrelid = to_regclass(%(table)s) AND attnum > 0 AND NOT attisdropped"
        )
        return {row["name"] for row in self.rows(statement, table=table)}


def _unreadable(error: Exception) -> UnreadableServer:
    return UnreadableServer(" ".join(str(error).split())[:300])
