"""Puts a database of PostgreSQL that a test has used back into the state in which the test got it."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import psycopg
from psycopg.sql import SQL, Composable, Composed, Identifier

from support import kept_connections

# Up to this size, deleting rows is faster than making new files for a table and those that refer to it.
_SMALL_BYTES = 2**18
# How long a connection may take to end, and the pause between two looks.
_PATIENCE_S = 10.0
_POLL_S = 0.002
# The smallest object id outside of PostgreSQL's own catalogs.
_FIRST_ID = 16_384
# Whatever a test could change besides rows: a database with another schema is not used again. Each change writes a row
# of a catalog in another transaction (xmin), but TRUNCATE and ANALYZE do so in pg_class, too.
_SCHEMA = f"""
    SELECT concat_ws(' ', (
        SELECT sum(hashtext(concat_ws(',', oid, relname, relkind, relowner, relacl, reloptions, relpersistence)))
        FROM pg_class WHERE relnamespace >= {_FIRST_ID} OR relnamespace = 'public'::regnamespace
    ), (
        SELECT (count(*), sum(xmin::text::bigint)) FROM pg_attribute WHERE attrelid >= {_FIRST_ID}
    ), (
        SELECT (count(*), sum(xmin::text::bigint)) FROM (
            SELECT xmin FROM pg_constraint
            UNION ALL SELECT xmin FROM pg_trigger
            UNION ALL SELECT xmin FROM pg_attrdef
            UNION ALL SELECT xmin FROM pg_statistic_ext
            UNION ALL SELECT xmin FROM pg_index WHERE indexrelid >= {_FIRST_ID}
            UNION ALL SELECT xmin FROM pg_proc WHERE oid >= {_FIRST_ID}
            UNION ALL SELECT xmin FROM pg_namespace WHERE nspname !~ '^pg_(toast|temp)'
            UNION ALL SELECT xmin FROM pg_db_role_setting
                WHERE setdatabase = (SELECT oid FROM pg_database WHERE datname = current_database())
        ) AS changed
    ))
"""
_OTHER_CONNECTIONS = """
    SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity
    WHERE datname = current_database() AND pid <> ALL(%s || pg_backend_pid()) AND backend_type = 'client backend'
"""
_TABLES = "SELECT relname FROM pg_class WHERE relkind = 'r' AND relnamespace = 'public'::regnamespace"
# Tables worth new files, which are slow to make: those with statistics, and large ones, even if no row is left in them.
_WORN = f"{_TABLES} AND (reltuples >= 0 OR pg_table_size(oid) > {_SMALL_BYTES})"
_SEQUENCES = "SELECT json_object_agg(sequencename, ARRAY[start_value, last_value]) FROM pg_sequences"
_HAS_STATISTICS = f"SELECT EXISTS (SELECT FROM pg_statistic WHERE starelid >= {_FIRST_ID})"
_REMOVE_STATISTICS = SQL(f"DELETE FROM pg_statistic WHERE starelid >= {_FIRST_ID}")


class _State(NamedTuple):
    """What is in a database."""

    schema: str
    has_statistics: bool
    sequences: dict[str, tuple[int, int | None]]
    """The first and the last number of each; no last one if it has given none."""
    worn: list[str]
    filled: list[str]
    digests: list[str]
    """One for each table that has rows at first."""


class UsedDatabase:
    """A migrated database that tests use one after the other. It is read when it is made, which is before the first.

    is_verified: whether every table is compared each time with what it was, which takes longer than to put it back.
    """

    def __init__(self, name: str, url: str, *, is_verified: bool = False) -> None:
        self.name = name
        self.url = url
        self._is_verified = is_verified
        self._connection = self._connect()
        self._tables = [table for (table,) in self._connection.execute(_TABLES).fetchall()]
        self._rows = {table: rows for table in self._tables if (rows := self._read(table))}
        self._all_state = self._statement()
        self._first = self._state()

    def restore(self) -> bool:
        """End all other connections, remove new rows, and bring back the first ones. Returns whether that succeeded."""
        try:
            return self._restore()
        except psycopg.OperationalError:
            # The test has ended this connection, too.
            self.close()
        except psycopg.Error:
            return False
        try:
            self._connection = self._connect()
            return self._restore()
        except psycopg.Error:
            return False

    def close(self) -> None:
        """End the connections. The one that puts the database back is made again when it does so."""
        self._connection.close()
        kept_connections.close(self.url)

    def _connect(self) -> psycopg.Connection[Any]:
        """Return a connection to keep: a new one needs ten times as long to learn the catalog as to put all back."""
        connection = psycopg.connect(self.url, autocommit=True)
        # Without foreign keys, tables can be emptied in any order.
        connection.execute("SET session_replication_role = replica")
        return connection

    def _restore(self) -> bool:
        # They may hold locks.
        if not self._end_others() or (state := self._state()).schema != self._first.schema:
            return False
        if changes := list(self._changes(state)):
            # One round trip, of which the next differs.
            self._connection.execute(SQL("; ").join(changes), prepare=False)
        if state.worn or state.digests != self._first.digests:
            for table, rows in self._rows.items():
                self._connection.execute(SQL("DELETE FROM {}").format(Identifier(table)))
                with self._connection.cursor().copy(SQL("COPY {} FROM STDIN").format(Identifier(table))) as copy:
                    copy.write(rows)
        if self._is_verified:
            self._verify()
        return True

    def _changes(self, state: _State) -> Iterator[Composable]:
        if state.worn:
            yield SQL("TRUNCATE {} CASCADE").format(SQL(", ").join(map(Identifier, state.worn)))
        for table in state.filled:
            if table not in self._rows and table not in state.worn:
                yield SQL("DELETE FROM {}").format(Identifier(table))
        for name, (first, last) in state.sequences.items():
            if (at_first := self._first.sequences[name][1]) != last:
                number, is_called = (first, False) if at_first is None else (at_first, True)
                yield SQL("SELECT setval({}, {}, {})").format(name, number, is_called)
        if state.has_statistics:
            yield _REMOVE_STATISTICS

    def _end_others(self) -> bool:
        """Return whether all others have ended but kept ones. PostgreSQL's own way to wait looks every 100 ms."""
        deadline = time.monotonic() + _PATIENCE_S
        kept = kept_connections.server_processes(self.url)
        while self._connection.execute(_OTHER_CONNECTIONS, [kept], prepare=True).fetchone() != (0,):
            if time.monotonic() > deadline:
                return False
            time.sleep(_POLL_S)
        return True

    def _state(self) -> _State:
        (row,) = self._connection.execute(self._all_state, prepare=True).fetchall()
        return _State(*row)

    def _statement(self) -> Composed:
        filled = [
            SQL("CASE WHEN EXISTS (SELECT FROM {}) THEN {} END").format(Identifier(table), table)
            for table in self._tables
        ]
        digests = [
            SQL("(SELECT md5(string_agg(r::text, ' ' ORDER BY r::text)) FROM {} AS r)").format(Identifier(table))
            for table in self._rows
        ]
        queries = (_SCHEMA, _HAS_STATISTICS, _SEQUENCES, f"SELECT ARRAY({_WORN})")
        return SQL("SELECT {}, array_remove({}, NULL), {}").format(
            SQL(", ").join(SQL(f"({query})") for query in queries), _array(filled), _array(digests)
        )

    def _read(self, table: str) -> bytes:
        with self._connection.cursor().copy(SQL("COPY {} TO STDOUT").format(Identifier(table))) as copy:
            return b"".join(copy)

    def _verify(self) -> None:
        rows = {table: rows for table in self._tables if (rows := self._read(table))}
        changed = sorted(name for name in {*rows, *self._rows} if rows.get(name) != self._rows.get(name))
        assert not changed, f"other rows than at first: {', '.join(changed)}"
        state = self._state()
        assert state._replace(filled=[]) == self._first._replace(filled=[])


def _array(values: Sequence[Composable]) -> Composable:
    return SQL("ARRAY[{}]::text[]").format(SQL(", ").join(values))
