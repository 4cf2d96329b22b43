"""Creates the connection pools of each engine, with the settings of new connections and of transactions."""

from __future__ import annotations

import sqlite3
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from sqlalchemy import URL, Connection, Engine, create_engine, event, make_url

from tidings.base.errors import StartError
from tidings.engine.postgresql import PostgresPool, parse_url

# How long a writer of SQLite waits for another process's transaction. Ours take milliseconds; a lost write is a bug.
BUSY_TIMEOUT_S = 30
READ_CACHE_KIB = 4_000
# A transaction with more changed pages than fit would write them to the log before its end.
WRITE_CACHE_KIB = 16_000
MAPPED_BYTES = 32 * 2**20
BUSY_RETRY_S = 0.001


def driver_url(url: str) -> URL:
    """Return the URL with the driver that we use. `postgres://` is a common spelling of `postgresql://`.

    Raises StartError for any other engine, and for an SQLite database in memory.
    """
    if url.startswith(("postgresql:", "postgres:", "postgresql+")):
        return parse_url(url)
    parsed = make_url(url)
    backend = parsed.get_backend_name()
    if backend == "sqlite" and parsed.database and parsed.database != ":memory:":
        return parsed.set(drivername="sqlite")
    raise StartError(
        f"TIDINGS_DATABASE_URL begins with {parsed.drivername!r}: use sqlite:///path/to/file or postgresql://user@host/name"
    )


def is_sqlite(connection: Connection) -> bool:
    return connection.dialect.name == "sqlite"


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


class DatabaseReplaced(Exception):
    """The database is not the one that this process began to work with."""


class SchemaReplaced(DatabaseReplaced):
    """The schema has another revision: a backup was restored, or another version of Tidings migrated it."""

    def __init__(self, revision: str | None, expected: str) -> None:
        super().__init__(
            f"the database has schema {revision or 'none'}, this version of Tidings needs {expected}: restart Tidings"
        )


class FileReplaced(DatabaseReplaced):
    """The file of an open SQLite database was deleted, or another one is in its place."""


class DatabaseFile:
    """The identity of an SQLite file, its device and inode, from when it was first seen.

    revision: the revision that the schema must have; "" for any.
    Open connections keep using a file that was deleted. What they wrote would be lost when the process ends.
    """

    def __init__(self, path: str) -> None:
        self._path = Path(path)
        self.revision = ""
        self._seen: tuple[int, int] | None = None

    def check_schema(self, connection: Connection) -> None:
        """Raise SchemaReplaced if another database was copied into the file, which keeps its inode.

        Does nothing without a `revision`. Costs some 10 µs for each transaction that writes.
        """
        if not self.revision:
            return
        raw = connection.connection.driver_connection
        assert isinstance(raw, sqlite3.Connection)
        try:
            revision = raw.execute("SELECT version_num FROM alembic_version").fetchone()
        except sqlite3.OperationalError as error:
            if error.sqlite_errorcode != sqlite3.SQLITE_ERROR:
                raise
            revision = None
        if revision is None or revision[0] != self.revision:
            raise SchemaReplaced(revision and revision[0], self.revision)

    def check(self) -> None:
        """Raise FileReplaced if the file was deleted or replaced."""
        try:
            status = self._path.stat()
        except FileNotFoundError:
            identity = None
        else:
            identity = (status.st_dev, status.st_ino)
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
            # Both count for each connection or process. The system caches the file anyway, once for all.
            f"cache_size = -{WRITE_CACHE_KIB if is_writer else READ_CACHE_KIB}",
            f"mmap_size = {MAPPED_BYTES}",
            "journal_size_limit = 67108864",
        ):
            connection.execute(f"PRAGMA {pragma}").close()

    event.listen(engine, "begin", _begin_writing if is_writer else _begin)
    if is_writer:
        event.listen(engine, "begin", lambda _connection: file.check())
        event.listen(engine, "begin", file.check_schema)
        event.listen(engine, "commit", lambda _connection: file.check())
    return engine


class Engines:
    """The connection pools of one database.

    reader: a connection reads one snapshot; on PostgreSQL one per statement. writer: a connection is a transaction.
    postgres: the pool of both, only on PostgreSQL.
    write_lock: SQLite has one writer at a time; the threads of this process wait here. None on PostgreSQL.
    """

    def __init__(self, url: str, pool_size: int) -> None:
        self.url = driver_url(url)
        self.is_sqlite = self.url.get_backend_name() == "sqlite"
        self.write_lock = threading.Lock() if self.is_sqlite else None
        if self.is_sqlite:
            self._file = DatabaseFile(str(self.url.database))
            self._reader = sqlite(self.url, pool_size, file=self._file)
            self.writer = sqlite(self.url, 1, file=self._file, is_writer=True)
        else:
            self.postgres = PostgresPool(self.url, pool_size)
            self.writer = self.postgres.engine

    @property
    def reader(self) -> Engine:
        return self._reader if self.is_sqlite else self.postgres.reader

    def expect_revision(self, revision: str) -> None:
        """Refuse writes to an SQLite file whose schema has another revision from now on."""
        if self.is_sqlite:
            self._file.revision = revision

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

    def close_unused(self) -> None:
        """Close the connections to an SQLite file that are not in use, but one, which shows that the file is in use.

        They are opened again when needed, in a millisecond. Raises FileReplaced, with nothing closed, if a new
        connection would open another file.
        """
        if not self.is_sqlite:
            return
        self._file.check()
        used = self._reader.pool
        self._reader.dispose(close=False)
        with self._reader.connect() as connection:
            connection.exec_driver_sql("PRAGMA schema_version")
        used.dispose()
        self.writer.dispose()

    def close(self) -> None:
        self.reader.dispose()
        self.writer.dispose()
