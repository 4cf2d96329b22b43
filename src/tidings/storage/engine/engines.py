"""How each engine is connected to: what is said to a connection when it is made, when it is taken, when it begins."""

from __future__ import annotations

import sqlite3
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import psycopg
from sqlalchemy import URL, Connection, Engine, Integer, create_engine, event, make_url
from sqlalchemy.exc import InvalidatePoolError
from sqlalchemy.pool import ConnectionPoolEntry

from tidings.domain.errors import StartError

# How long a SQLite writer waits for another process's transaction. Ours take milliseconds; a lost write is a bug.
BUSY_TIMEOUT_S = 30
TRY_AGAIN_S = 0.001

# Between two statements of a transaction lie milliseconds: whoever takes longer has come to a standstill.
STANDSTILL_S = 10

# A connection to PostgreSQL that nobody used for so long may be gone without our having heard of it.
RESTED_S = 1.0


def driver_url(url: str) -> URL:
    """`postgres://` is a common spelling of `postgresql://`; both are served by psycopg 3."""
    parsed = make_url(url)
    backend = parsed.get_backend_name()
    if backend in ("postgresql", "postgres"):
        return parsed.set(drivername="postgresql+psycopg")
    if backend == "sqlite" and parsed.database and parsed.database != ":memory:":
        return parsed.set(drivername="sqlite")
    raise StartError(
        f"TIDINGS_DATABASE_URL begins with {parsed.drivername!r}: use sqlite:///path/to/file or postgresql://user@host/name"
    )


def is_sqlite(connection: Connection) -> bool:
    return connection.dialect.name == "sqlite"


class _Whole(Integer):
    """A parameter that says its own size. Cast to INTEGER, an id beyond 2^31 would be an error, not merely unknown."""

    render_bind_cast = False


def postgresql(url: URL, pool_size: int) -> Engine:
    engine = create_engine(url, pool_size=pool_size, max_overflow=0, hide_parameters=True)
    engine.dialect.colspecs = {**engine.dialect.colspecs, Integer: _Whole}

    @event.listens_for(engine, "connect")
    def prepare(connection: Any, _record: Any) -> None:
        # The defaults are made for spinning disks: with them a page of unread entries is sorted out of all of them
        # instead of being read from its index. Compiling a statement takes longer than any of ours runs.
        connection.execute("SET random_page_cost = 1.1")
        connection.execute("SET jit = off")
        # A process that was stopped in the middle of a transaction gives up its locks, and that transaction.
        connection.execute(f"SET idle_in_transaction_session_timeout = '{STANDSTILL_S}s'")
        connection.commit()

    @event.listens_for(engine, "checkin")
    def rest(_connection: Any, record: ConnectionPoolEntry) -> None:
        record.info["rests_since"] = time.monotonic()

    # For each connection that is taken (`pool_pre_ping`) it would be a question more for every one that is asked.
    @event.listens_for(engine, "checkout")
    def see_to_it(connection: Any, record: ConnectionPoolEntry, _proxy: Any) -> None:
        rests_since = record.info.get("rests_since")
        if rests_since is not None and time.monotonic() - rests_since > RESTED_S:
            try:
                engine.dialect.do_ping(connection)
            except psycopg.Error as error:
                # A new one is made, and the others are not trusted either.
                raise InvalidatePoolError from error

    return engine


def _begin(connection: Connection) -> None:
    connection.exec_driver_sql("BEGIN")


def _begin_writing(connection: Connection) -> None:
    """Between tries SQLite pauses longer and longer, up to a tenth of a second: our transactions take milliseconds."""
    raw = connection.connection.driver_connection
    assert isinstance(raw, sqlite3.Connection)
    last_try = time.monotonic() + BUSY_TIMEOUT_S
    raw.execute("PRAGMA busy_timeout = 0")
    try:
        while time.monotonic() < last_try:
            try:
                raw.execute("BEGIN IMMEDIATE")
            except sqlite3.OperationalError as error:
                if error.sqlite_errorcode != sqlite3.SQLITE_BUSY:
                    break
                time.sleep(TRY_AGAIN_S)
            else:
                return
    finally:
        raw.execute(f"PRAGMA busy_timeout = {BUSY_TIMEOUT_S * 1000}")
    # What is wrong is told by SQLAlchemy.
    connection.exec_driver_sql("BEGIN IMMEDIATE")


class FileReplaced(Exception):
    """The file of an open SQLite database was deleted, or another one is in its place."""


class DatabaseFile:
    """Which file an SQLite database is, from when it was first seen: its device and inode.

    Open connections go on with a file that has no name any more. What they wrote would be gone with the process.
    """

    def __init__(self, path: str) -> None:
        self._path = Path(path)
        self._seen: tuple[int, int] | None = None

    def check(self) -> None:
        """FileReplaced when it is another one than before, or none."""
        try:
            found = self._path.stat()
        except FileNotFoundError:
            identity = None
        else:
            identity = (found.st_dev, found.st_ino)
        if self._seen is None:
            self._seen = identity
        elif identity != self._seen:
            what = "is gone" if identity is None else "was replaced by another one"
            raise FileReplaced(f"the database file {self._path} {what}: put it back, or restart Tidings")


def sqlite(url: URL, pool_size: int, *, file: DatabaseFile, is_writer: bool = False) -> Engine:
    """file: checked when a write begins, and again before it is committed."""
    engine = create_engine(
        url,
        pool_size=pool_size,
        max_overflow=0,
        pool_timeout=BUSY_TIMEOUT_S,
        connect_args={"timeout": BUSY_TIMEOUT_S},
        hide_parameters=True,
    )

    @event.listens_for(engine, "connect")
    def prepare(connection: Any, _record: Any) -> None:
        # We begin transactions ourselves (below): the driver would begin late and never IMMEDIATE.
        connection.isolation_level = None
        for pragma in (
            "synchronous = NORMAL",  # a killed process loses nothing; a power cut may take the last moments
            "foreign_keys = ON",
            "temp_store = MEMORY",
            "cache_size = -32000",
            "mmap_size = 268435456",
            "journal_size_limit = 67108864",
        ):
            connection.execute(f"PRAGMA {pragma}").close()

    event.listen(engine, "begin", _begin_writing if is_writer else _begin)
    if is_writer:
        event.listen(engine, "begin", lambda _connection: file.check())
        event.listen(engine, "commit", lambda _connection: file.check())
    return engine


class Engines:
    """The pools of connections to one database.

    reader: a connection sees one snapshot, or on PostgreSQL one a statement. writer: a connection is a transaction.
    turn: SQLite has one writer at a time; our own threads queue here, where waiting costs nothing. None on PostgreSQL.
    """

    def __init__(self, url: str, pool_size: int) -> None:
        self.url = driver_url(url)
        self.is_sqlite = self.url.get_backend_name() == "sqlite"
        self.turn = threading.Lock() if self.is_sqlite else None
        if self.is_sqlite:
            file = DatabaseFile(str(self.url.database))
            self.reader = sqlite(self.url, pool_size, file=file)
            self.writer = sqlite(self.url, 1, file=file, is_writer=True)
        else:
            self.writer = postgresql(self.url, pool_size)
            # A read is mostly one statement: BEGIN and COMMIT around it would triple its round trips.
            self.reader = self.writer.execution_options(isolation_level="AUTOCOMMIT")

    def prepare_file(self) -> None:
        """Set what stays with an SQLite file, once before its first table.

        Not for every connection: both settings take the write lock, and a new reader would wait for a writer.
        """
        if self.is_sqlite:
            with self.outside_transaction() as raw:
                raw.execute("PRAGMA auto_vacuum = INCREMENTAL")
                raw.execute("PRAGMA journal_mode = WAL")

    @contextmanager
    def outside_transaction(self) -> Iterator[Any]:
        """SQLite's own connection, for what is refused inside of a transaction."""
        with self.reader.connect() as connection:
            raw = connection.connection.driver_connection
            assert raw is not None
            raw.rollback()
            yield raw

    def close(self) -> None:
        self.reader.dispose()
        self.writer.dispose()
