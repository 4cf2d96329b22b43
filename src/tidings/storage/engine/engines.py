"""Creates the connection pools of each engine, with the settings of new connections and of transactions."""

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

# How long a writer of SQLite waits for another process's transaction. Ours take milliseconds; a lost write is a bug.
BUSY_TIMEOUT_S = 30
BUSY_RETRY_S = 0.001

# Between two statements of a transaction pass milliseconds: a process that takes longer has been suspended.
IDLE_TRANSACTION_TIMEOUT_S = 10

# A connection to PostgreSQL that was unused for this long may be broken, and is tested before use.
PING_AFTER_IDLE_S = 1.0


def driver_url(url: str) -> URL:
    """Return the URL with the driver that we use. `postgres://` is a common spelling of `postgresql://`.

    Raises StartError for any other engine, and for an SQLite database in memory.
    """
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


class _UntypedInteger(Integer):
    """A parameter without a cast. Cast to INTEGER, an id of 2^31 or more would be an error instead of not found."""

    render_bind_cast = False


def postgresql(url: URL, pool_size: int) -> Engine:
    engine = create_engine(url, pool_size=pool_size, max_overflow=0, hide_parameters=True)
    engine.dialect.colspecs = {**engine.dialect.colspecs, Integer: _UntypedInteger}

    @event.listens_for(engine, "connect")
    def prepare(connection: Any, _record: Any) -> None:
        # The default cost is made for spinning disks: with it, a page of unread entries is selected by sorting all of
        # them instead of reading an index. JIT compilation takes longer than any of our statements runs.
        connection.execute("SET random_page_cost = 1.1")
        connection.execute("SET jit = off")
        # A process that was suspended inside a transaction loses the transaction and its locks.
        connection.execute(f"SET idle_in_transaction_session_timeout = '{IDLE_TRANSACTION_TIMEOUT_S}s'")
        connection.commit()

    @event.listens_for(engine, "checkin")
    def note_idle(_connection: Any, record: ConnectionPoolEntry) -> None:
        record.info["idle_since"] = time.monotonic()

    # `pool_pre_ping` would cost one more round trip for every checkout, also of connections used a moment ago.
    @event.listens_for(engine, "checkout")
    def ping_idle(connection: Any, record: ConnectionPoolEntry, _proxy: Any) -> None:
        idle_since = record.info.get("idle_since")
        if idle_since is not None and time.monotonic() - idle_since > PING_AFTER_IDLE_S:
            try:
                engine.dialect.do_ping(connection)
            except psycopg.Error as error:
                # The pool makes a new connection, and discards the others as well.
                raise InvalidatePoolError from error

    return engine


def _begin(connection: Connection) -> None:
    connection.exec_driver_sql("BEGIN")


def _begin_writing(connection: Connection) -> None:
    """Begin a write transaction, retrying every BUSY_RETRY_S while another process writes.

    SQLite itself pauses up to a tenth of a second between tries; our transactions take milliseconds.
    """
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
                time.sleep(BUSY_RETRY_S)
            else:
                return
    finally:
        raw.execute(f"PRAGMA busy_timeout = {BUSY_TIMEOUT_S * 1000}")
    # Fails again, so that SQLAlchemy raises the error.
    connection.exec_driver_sql("BEGIN IMMEDIATE")


class FileReplaced(Exception):
    """The file of an open SQLite database was deleted, or another one is in its place."""


class DatabaseFile:
    """The identity of an SQLite file, its device and inode, from when it was first seen.

    Open connections keep using a file that was deleted. What they wrote would be lost when the process ends.
    """

    def __init__(self, path: str) -> None:
        self._path = Path(path)
        self._seen: tuple[int, int] | None = None

    def check(self) -> None:
        """Raise FileReplaced if the file was deleted or replaced."""
        try:
            found = self._path.stat()
        except FileNotFoundError:
            identity = None
        else:
            identity = (found.st_dev, found.st_ino)
        if self._seen is None:
            self._seen = identity
        elif identity != self._seen:
            change = "is gone" if identity is None else "was replaced by another one"
            raise FileReplaced(f"the database file {self._path} {change}: put it back, or restart Tidings")


def sqlite(url: URL, pool_size: int, *, file: DatabaseFile, is_writer: bool = False) -> Engine:
    """Create the pool of an SQLite file. file: checked when a write begins, and again before it is committed."""
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
    """The connection pools of one database.

    reader: a connection reads one snapshot; on PostgreSQL one per statement. writer: a connection is a transaction.
    write_lock: SQLite has one writer at a time; the threads of this process wait here. None on PostgreSQL.
    """

    def __init__(self, url: str, pool_size: int) -> None:
        self.url = driver_url(url)
        self.is_sqlite = self.url.get_backend_name() == "sqlite"
        self.write_lock = threading.Lock() if self.is_sqlite else None
        if self.is_sqlite:
            file = DatabaseFile(str(self.url.database))
            self.reader = sqlite(self.url, pool_size, file=file)
            self.writer = sqlite(self.url, 1, file=file, is_writer=True)
        else:
            self.writer = postgresql(self.url, pool_size)
            # A read is mostly one statement: BEGIN and COMMIT around it would triple its round trips.
            self.reader = self.writer.execution_options(isolation_level="AUTOCOMMIT")

    def prepare_file(self) -> None:
        """Set the permanent properties of an SQLite file, before its first table is created.

        Not done per connection: both settings take the write lock, and a new reader would wait for a writer.
        """
        if self.is_sqlite:
            with self.outside_transaction() as raw:
                raw.execute("PRAGMA auto_vacuum = INCREMENTAL")
                raw.execute("PRAGMA journal_mode = WAL")

    @contextmanager
    def outside_transaction(self) -> Iterator[Any]:
        """Yield the driver's connection, for statements that SQLite refuses inside a transaction."""
        with self.reader.connect() as connection:
            raw = connection.connection.driver_connection
            assert raw is not None
            raw.rollback()
            yield raw

    def close(self) -> None:
        self.reader.dispose()
        self.writer.dispose()
