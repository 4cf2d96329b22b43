"""Databases on a distributed PostgreSQL, for tests: TIDINGS_TEST_CITUS_URL names its coordinator.

The extension belongs to one database of each node, so that a new database is made on each of them and connected again.
That takes seconds: each process of a run makes one and empties it for the next test.
"""

from __future__ import annotations

import itertools
import os
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from typing import Any

import psycopg
import pytest
from psycopg.conninfo import make_conninfo
from psycopg.sql import SQL, Identifier
from sqlalchemy import make_url

from support.databases import Databases
from support.postgres import create_database, drop_database
from support.relay import Relay
from tidings.engine.database import Database, is_distributed
from tidings.storage import migrate

VARIABLE = "TIDINGS_TEST_CITUS_URL"
# Enough for rows of two users to be on two nodes; each one more costs each test time.
SHARDS = 4

_WORKERS = "SELECT nodename, nodeport FROM pg_dist_node WHERE groupid > 0 ORDER BY groupid"
_COORDINATOR = "SELECT nodename, nodeport FROM pg_dist_node WHERE groupid = 0"
# Without those between nodes, of which this one has some, too.
_OTHER_CONNECTIONS = """
    SELECT count(pg_terminate_backend(pid, 5000)) FROM pg_stat_activity
    WHERE datname = current_database() AND pid <> pg_backend_pid() AND backend_type = 'client backend'
    AND application_name NOT LIKE 'citus%'
"""
_TABLES = """
    SELECT relname FROM pg_class WHERE relkind = 'r' AND relnamespace = 'public'::regnamespace
    AND NOT relispartition ORDER BY relname
"""
_SEQUENCES = "SELECT sequencename, start_value FROM pg_sequences WHERE schemaname = 'public' AND last_value IS NOT NULL"


def server() -> str | None:
    """Return the URL of the coordinator's database `postgres`; None if there is none to test with."""
    return os.environ.get(VARIABLE) or None


def skip(database: Database, reason: str) -> None:
    """Skip a test that asks for what only one server has."""
    with database.reading() as db:
        if is_distributed(db.connection):
            pytest.skip(reason)


def skip_plans(databases: Databases) -> None:
    """Skip what reads the plans of statements, before it fills a database."""
    if isinstance(databases, DistributedDatabases):
        pytest.skip("EXPLAIN shows here which nodes are asked: how one of them reads is what it shows on one server")


class DistributedDatabases:
    """Databases whose rows are on several nodes. server: the URL of the coordinator, which knows its workers."""

    def __init__(self, server: str) -> None:
        self._server = server
        with psycopg.connect(server, autocommit=True) as connection:
            self._workers: list[tuple[str, int]] = connection.execute(_WORKERS).fetchall()
            self._coordinator: tuple[str, int] = connection.execute(_COORDINATOR).fetchone()  # type: ignore[assignment]
        self._unused: list[_DistributedDatabase] = []
        self._made: list[str] = []
        self._numbers = itertools.count()

    def close(self) -> None:
        """Drop all databases on all nodes."""
        for database in self._unused:
            database.connection.close()
        for name in self._made:
            self._drop(name)

    @contextmanager
    def empty(self) -> Iterator[str]:
        """Yield the URL of a database without tables, which has the extension."""
        url = self._create()
        try:
            yield url
        finally:
            name = str(make_url(url).database)
            self._drop(name)
            self._made.remove(name)

    @contextmanager
    def migrated(self, *, is_alone: bool = False) -> Iterator[str]:
        database = self._unused.pop() if self._unused else _DistributedDatabase(self._migrate())
        if is_alone:
            database.connection.close()
        try:
            yield database.url
        finally:
            if database.restore():
                self._unused.append(database)

    @contextmanager
    def with_relays(self) -> Iterator[tuple[str, list[Relay]]]:
        """Yield the URL of a migrated database, and relays before its workers: a node is down while its is cut."""
        with ExitStack() as stack:
            relays = [stack.enter_context(Relay(f"http://{host}:{port}")) for host, port in self._workers]
            yield self._migrate([("127.0.0.1", relay.port) for relay in relays]), relays

    def _drop(self, name: str) -> None:
        drop_database(self._server, name)
        for host, port in self._workers:
            drop_database(make_conninfo(self._server, host=host, port=port), name)

    def _migrate(self, workers: Sequence[tuple[str, int]] = ()) -> str:
        url = self._create(workers)
        database = Database(url)
        migrate.upgrade(database)
        migrate.distribute(database, SHARDS)
        database.close()
        return url

    def _create(self, workers: Sequence[tuple[str, int]] = ()) -> str:
        """workers: by which addresses the coordinator knows them, if not by their own."""
        name = f"test{os.getpid()}x{next(self._numbers)}"
        self._made.append(name)
        places = [self._server, *(make_conninfo(self._server, host=host, port=port) for host, port in self._workers)]
        for place in places:
            create_database(place, name)
            with psycopg.connect(make_conninfo(place, dbname=name), autocommit=True) as connection:
                connection.execute("CREATE EXTENSION citus")
        with psycopg.connect(make_conninfo(self._server, dbname=name), autocommit=True) as connection:
            connection.execute("SELECT citus_set_coordinator_host(%s, %s)", self._coordinator)
            for worker in workers or self._workers:
                connection.execute("SELECT citus_add_node(%s, %s)", worker)
        return make_url(self._server).set(database=name).render_as_string(hide_password=False)


class _DistributedDatabase:
    """A database that tests use one after the other."""

    def __init__(self, url: str) -> None:
        self.url = url
        self.connection = self._connect()
        self._tables = [name for (name,) in self.connection.execute(_TABLES).fetchall()]
        self._rows = {name: rows for name in self._tables if (rows := self._read(name))}

    def restore(self) -> bool:
        """End all other connections, and bring back the first rows. Returns whether that succeeded."""
        try:
            if self.connection.closed:
                self.connection = self._connect()
            self._restore()
        except psycopg.Error:
            self.connection.close()
            return False
        return True

    def _connect(self) -> psycopg.Connection[Any]:
        connection = psycopg.connect(self.url, autocommit=True)
        connection.execute("SET citus.multi_shard_modify_mode TO 'sequential'")
        return connection

    def _restore(self) -> None:
        run = self.connection.execute
        run(_OTHER_CONNECTIONS)
        # A transaction whose coordinator was killed while it committed may be left on a worker.
        run("SELECT recover_prepared_transactions()")
        # Users first: most rows go with them.
        run("DELETE FROM users")
        filled = [name for name in self._tables if self._has_rows(name)]
        for name in filled:
            if name not in self._rows or self._read(name) != self._rows[name]:
                run(SQL("DELETE FROM {}").format(Identifier(name)))
        for name, rows in self._rows.items():
            if self._read(name) != rows:
                with self.connection.cursor().copy(SQL("COPY {} FROM STDIN").format(Identifier(name))) as copy:
                    copy.write(rows)
        for name, first in run(_SEQUENCES).fetchall():
            run("SELECT setval(%s, %s, false)", (name, first))

    def _has_rows(self, table: str) -> bool:
        query = SQL("SELECT 1 FROM {} LIMIT 1").format(Identifier(table))
        return self.connection.execute(query).fetchone() is not None

    def _read(self, table: str) -> bytes:
        with self.connection.cursor().copy(SQL("COPY {} TO STDOUT").format(Identifier(table))) as copy:
            return b"".join(copy)
