"""Connections and transactions, the same on SQLite and PostgreSQL.

`Engines` holds the connection pools, with the settings of new connections and of transactions.
`Database.reading()` yields a `Read`, `Database.writing()` a `Write`; every other function of this ring takes one of
them as its first argument. A write is one transaction: it commits when its block ends, and rolls back when it raises.
"""

from __future__ import annotations

import sqlite3
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, suppress
from functools import lru_cache
from itertools import starmap
from operator import itemgetter
from pathlib import Path
from typing import Any, TypeVar

import psycopg
from msgspec import Struct
from sqlalchemy import (
    URL,
    Column,
    Connection,
    CursorResult,
    Engine,
    Executable,
    Table,
    create_engine,
    event,
    literal,
    make_url,
    select,
)
from sqlalchemy.exc import SQLAlchemyError

from tidings import metrics
from tidings.base.errors import StartError, StoreUnavailable
from tidings.base.messages import msg
from tidings.engine import driver_statements, errors, postgresql
from tidings.engine.errors import Cause, CauseLog, ConcurrentChange, DatabaseReplaced, FileReplaced, SchemaReplaced
from tidings.engine.kept_readers import KeptReaders
from tidings.engine.postgresql import PostgresPool, parse_url

# How long a writer of SQLite waits for another process's transaction. Ours take milliseconds; a lost write is a bug.
BUSY_TIMEOUT_S = 30
READ_CACHE_KIB = 4_000
# A transaction with more changed pages than fit would write them to the log before its end.
WRITE_CACHE_KIB = 16_000
MAPPED_BYTES = 32 * 2**20
BUSY_RETRY_S = 0.001
# Uses of a database between two calls of `close_unused` from which on new connections would cost more than they save.
BUSY_USES = 500

_ONE = select(literal(1))
_causes = CauseLog()

R = TypeVar("R", bound=Struct)
T = TypeVar("T")


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


def is_distributed(connection: Connection) -> bool:
    """Return whether rows of users are on several servers: see `engine.distribution`."""
    return postgresql.is_distributed(connection.dialect)


def _begin(connection: Connection) -> None:
    raw = connection.connection.driver_connection
    assert isinstance(raw, sqlite3.Connection)
    raw.execute("BEGIN")


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


def _execute_retrying(raw: sqlite3.Connection, statement: str) -> None:
    """Execute a statement that SQLite refuses immediately while another process executes the same one."""
    last_try = time.monotonic() + BUSY_TIMEOUT_S
    while True:
        try:
            raw.execute(statement)
        except sqlite3.OperationalError as error:
            if error.sqlite_errorcode & 0xFF != sqlite3.SQLITE_BUSY or time.monotonic() > last_try:
                raise
            time.sleep(BUSY_RETRY_S)
        else:
            return


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
        self._kept = KeptReaders(
            self._connect_reader,
            pool_size // 2 if self.is_sqlite else pool_size // 4,
            is_sqlite=self.is_sqlite,
            # What a pooler gives is another connection each time.
            may_keep=lambda: self.is_sqlite or not self.postgres.is_pooled,
        )
        self._kept_by_key = self._kept
        if not self.is_sqlite:
            self._kept_by_key = KeptReaders(
                self._connect_reader,
                pool_size // 4,
                is_sqlite=False,
                may_keep=lambda: postgresql.may_plan_once(self.postgres.engine.dialect),
                plans_once=True,
            )
            event.listen(self.writer, "invalidate", self._give_up_kept)

    @property
    def reader(self) -> Engine:
        return self._reader if self.is_sqlite else self.postgres.reader

    def reading(self, *, by_key: bool) -> AbstractContextManager[Connection]:
        """Return the context manager of a connection for reading. by_key: see `Database.reading`."""
        return self._kept_by_key.reading() if by_key else self._kept.reading()

    @property
    def ready_by_key(self) -> ReadyByKey | None:
        """Lends a connection for reading by key to a read that has another one; None on SQLite, which has no need."""
        return None if self.is_sqlite else self._kept_by_key.reading_if_ready

    def _give_up_kept(self, *_: Any) -> None:
        """Called for each connection that the pool has lost, as after a failover."""
        self._kept.give_up()
        self._kept_by_key.give_up()

    def _connect_reader(self) -> Connection:
        return self.reader.connect()

    def connect_writer(self) -> Connection:
        """Return a connection for writing, to be closed."""
        if self.is_sqlite:
            return self.writer.connect()
        with self._kept.waiting(self.writer), self._kept_by_key.waiting(self.writer):
            return self.writer.connect()

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
                _execute_retrying(raw, "PRAGMA journal_mode = WAL")

    @contextmanager
    def outside_transaction(self) -> Iterator[Any]:
        """Yield the driver's connection, for statements that SQLite refuses inside a transaction."""
        # One that is kept could remember what such a statement changes, as VACUUM does auto_vacuum.
        self._kept.close()
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
        self._kept.close()
        used = self._reader.pool
        self._reader.dispose(close=False)
        with self._reader.connect() as connection:
            connection.exec_driver_sql("PRAGMA schema_version")
        used.dispose()
        self.writer.dispose()

    def close(self) -> None:
        self._kept.close()
        self._kept_by_key.close()
        self.reader.dispose()
        self.writer.dispose()


def columns(table: Table, record: type[Struct]) -> list[Column[Any]]:
    """Return the columns of a table that have the names of a record's fields, in the order of the fields."""
    return [table.c[name] for name in record.__struct_fields__]


@lru_cache(maxsize=1024)
def _row_reader(record: type[R], names: tuple[str, ...]) -> Callable[[Any], R]:
    """Return a function that makes a record of a row, each field from the column of its name, in any order.

    Fields without a column keep their default; the function raises TypeError for a field without one. The mapping is
    computed once per statement: a record made by keyword takes four times as long, and a claim makes hundreds of feeds.
    """
    fields = record.__struct_fields__
    present = tuple(name for name in fields if name in names)
    indexes = [names.index(name) for name in present]
    if present != fields[: len(present)]:
        return lambda row: record(**{name: row[index] for name, index in zip(present, indexes, strict=True)})
    if indexes == list(range(len(names))):
        return lambda row: record(*row)
    if len(indexes) == 1:
        return lambda row: record(row[indexes[0]])
    pick = itemgetter(*indexes)
    return lambda row: record(*pick(row))


@lru_cache(maxsize=1024)
def _exact_reader(record: type[R], names: tuple[str, ...]) -> Callable[[Any], R]:
    if surplus := set(names).difference(record.__struct_fields__):
        raise TypeError(f"{record.__name__} has no field for {sorted(surplus)}")
    return _row_reader(record, names)


def _read_all(record: type[R], names: tuple[str, ...], rows: Sequence[tuple[Any, ...]]) -> list[R]:
    """Return a record for each row, as `_exact_reader` makes them."""
    make = _exact_reader(record, names)
    if names == record.__struct_fields__[: len(names)]:
        # A call less for each row, which is half of the time for short ones.
        return list(starmap(record, rows))
    return list(map(make, rows))


# A row by the names of its columns.
Row = dict[str, Any]
# Lends a connection that plans statements once, if one is ready.
ReadyByKey = Callable[[], AbstractContextManager[Connection | None]]


class Read:
    """A connection for reading: one snapshot on SQLite, one snapshot per statement on PostgreSQL.

    Inside a `Write` it reads the transaction.
    """

    def __init__(self, connection: Connection, ready_by_key: ReadyByKey | None = None) -> None:
        self.connection = connection
        self._ready_by_key = ready_by_key

    @contextmanager
    def by_key(self) -> Iterator[Read]:
        """Yield this read, or one whose statements PostgreSQL plans once: for those that find rows by their keys alone.

        It has another snapshot only where each statement has its own anyway.
        """
        if self._ready_by_key is None:
            yield self
            return
        with self._ready_by_key() as connection:
            yield self if connection is None else Read(connection)

    def rows(self, statement: Executable, /, **parameters: Any) -> list[Row]:
        """Return the rows, with columns by name."""
        names, found = driver_statements.fetch(self.connection, statement, parameters)
        return [dict(zip(names, row, strict=True)) for row in found]

    def row(self, statement: Executable, /, **parameters: Any) -> Row | None:
        """Return the first row, with columns by name; None if there is no row."""
        names, found = driver_statements.fetch(self.connection, statement, parameters, is_one=True)
        return dict(zip(names, found[0], strict=True)) if found else None

    def tuples(self, statement: Executable, /, **parameters: Any) -> Sequence[tuple[Any, ...]]:
        """Return rows to unpack by position; use it only next to the statement, otherwise `rows`."""
        return driver_statements.fetch(self.connection, statement, parameters)[1]

    def all(self, record: type[R], statement: Executable, /, **parameters: Any) -> list[R]:
        """Return one record per row. The statement selects only columns with names of fields (`columns`)."""
        names, found = driver_statements.fetch(self.connection, statement, parameters)
        return _read_all(record, names, found)

    def one(self, record: type[R], statement: Executable, /, **parameters: Any) -> R | None:
        """Return the record of the first row, None if there is no row."""
        names, found = driver_statements.fetch(self.connection, statement, parameters, is_one=True)
        make = _exact_reader(record, names)
        return make(found[0]) if found else None

    def joined(self, record: type[R], statement: Executable, /, **parameters: Any) -> list[tuple[R, Row]]:
        """Like `all`, for a statement that also selects other columns: return each record with its row by name."""
        names, found = driver_statements.fetch(self.connection, statement, parameters)
        make = _row_reader(record, names)
        return [(make(row), dict(zip(names, row, strict=True))) for row in found]

    def scalar(self, statement: Executable, /, **parameters: Any) -> Any:
        """Return the first column of the first row, None if there is no row."""
        found = driver_statements.fetch(self.connection, statement, parameters, is_one=True)[1]
        return found[0][0] if found else None

    def scalars(self, statement: Executable, /, **parameters: Any) -> list[Any]:
        """Return the first column of all rows."""
        return [row[0] for row in driver_statements.fetch(self.connection, statement, parameters)[1]]


class Write(Read):
    """One transaction."""

    def __init__(self, connection: Connection) -> None:
        super().__init__(connection)
        self.channels: set[str] = set()
        """Channels of PostgreSQL that are notified after the commit."""
        self.plans_once = False
        """Whether PostgreSQL plans statements once for all values, see `statements.references_planned_once`."""
        self._at_end: dict[Callable[[Write, Any], None], Any] = {}

    def collect(self, at_end: Callable[[Write, T], None], make: Callable[[], T]) -> T:
        """Return a collection, the same each time, with which `at_end` is called just before the commit.

        make: returns it when it is empty.
        """
        if at_end not in self._at_end:
            self._at_end[at_end] = make()
        collected: T = self._at_end[at_end]
        return collected

    def finish(self) -> None:
        """Call what waits for the end of the transaction."""
        for at_end, collected in self._at_end.items():
            at_end(self, collected)

    def run(self, statement: Executable, /, **parameters: Any) -> int:
        """Execute a statement. Returns the number of rows it changed."""
        return driver_statements.change(self.connection, statement, parameters)

    def run_many(self, statement: Executable, parameters: Sequence[Mapping[str, Any]], /) -> None:
        if len(parameters) == 1:
            self.run(statement, **parameters[0])
        elif parameters:
            self.connection.execute(statement, parameters)

    def upsert_many(self, statement: Executable, rows: Sequence[Mapping[str, Any]], /) -> Sequence[tuple[Any, ...]]:
        """Insert or update rows, and return what the statement returns of each, in any order."""
        return [tuple(row) for row in self.connection.execute(statement, rows)] if rows else []

    def insert(self, statement: Executable, /, **parameters: Any) -> int:
        """Insert a row. Returns its id."""
        result: CursorResult[Any] = self.connection.execute(statement, parameters)
        assert result.inserted_primary_key is not None
        return int(result.inserted_primary_key[0])


class Database:
    """A database and this process's connections to it.

    url: as in TIDINGS_DATABASE_URL. pool_size: maximum of connections.
    """

    def __init__(self, url: str, *, pool_size: int = 8) -> None:
        self._engines = Engines(url, pool_size)
        self._uses = 0
        self.url = self._engines.url
        self.is_sqlite = self._engines.is_sqlite

    @property
    def kind(self) -> str:
        """The engine: "sqlite" or "postgresql"."""
        return self.url.get_backend_name()

    @property
    def best_concurrency(self) -> int:
        """The number of threads from which on more of them do not get more done.

        SQLite computes in this process, where Python runs one thread at a time; PostgreSQL computes in its own.
        """
        return 1 if self.is_sqlite else 4

    @property
    def is_distributed(self) -> bool:
        """Whether rows of users are on several servers, as of the first connection."""
        return postgresql.is_distributed(self.engine.dialect)

    @property
    def engine(self) -> Engine:
        return self._engines.writer

    @contextmanager
    def reading(self, *, by_key: bool = False) -> Iterator[Read]:
        """Yield a connection for reading.

        by_key: statements find rows by their keys alone, and the same plan is right for all values. PostgreSQL then
        makes it once.
        """
        started = time.perf_counter()
        self._uses += 1
        ready_by_key = None if by_key else self._engines.ready_by_key
        with _translated_errors(), self._engines.reading(by_key=by_key) as connection:
            yield Read(connection, ready_by_key)
        metrics.record_database_read(time.perf_counter() - started)

    @contextmanager
    def snapshot(self, *, of_all_users: bool = False) -> Iterator[Read]:
        """Yield a connection whose statements all read the same state, for hours if need be.

        of_all_users: where rows are distributed by user, the state of all servers; otherwise what is read first on
        each of them begins its own.
        """
        if self.is_sqlite:
            with self.reading() as db:
                yield db
            return
        with _translated_errors(), self.engine.connect() as pooled:
            connection = pooled.execution_options(isolation_level="REPEATABLE READ")
            with connection.begin():
                connection.exec_driver_sql("SET LOCAL idle_in_transaction_session_timeout = 0")
                if of_all_users:
                    postgresql.begin_snapshot(connection)
                yield Read(connection)

    @contextmanager
    def writing(self, *, by_key: bool = False) -> Iterator[Write]:
        """Yield a transaction. by_key: see `reading`."""
        requested = begun = time.perf_counter()
        self._uses += 1
        try:
            with self._write_lock(), _translated_errors(), self._engines.connect_writer() as connection:
                with connection.begin():
                    begun = time.perf_counter()
                    db = Write(connection)
                    if by_key and postgresql.may_plan_once(connection.dialect):
                        postgresql.plan_once_in_transaction(connection)
                        db.plans_once = True
                    yield db
                    db.finish()
                if db.channels:
                    postgresql.notify(connection, db.channels)
        finally:
            metrics.record_database_write(time.perf_counter() - begun, waited=begun - requested)

    @contextmanager
    def _write_lock(self) -> Iterator[None]:
        """On SQLite, let one thread of this process write at a time; others wait up to `BUSY_TIMEOUT_S`."""
        lock = self._engines.write_lock
        if lock is None:
            yield
            return
        if not lock.acquire(timeout=BUSY_TIMEOUT_S):
            raise _unavailable(Cause("", f"other threads kept writing for {BUSY_TIMEOUT_S} s"))
        try:
            yield
        finally:
            lock.release()

    def prepare_file(self) -> None:
        """Set the permanent properties of an SQLite file, before its first table is created."""
        with _translated_errors():
            self._engines.prepare_file()

    @contextmanager
    def outside_transaction(self) -> Iterator[Any]:
        """Yield the driver's connection, for statements that SQLite refuses inside a transaction."""
        with _translated_errors(), self._engines.outside_transaction() as raw:
            yield raw

    def ping(self) -> None:
        """Raise StoreUnavailable if the database does not answer."""
        with self.reading() as db:
            db.scalar(_ONE)

    def expect_revision(self, revision: str) -> None:
        """Refuse writes to an SQLite file whose schema has another revision from now on."""
        self._engines.expect_revision(revision)

    def close_unused(self) -> bool:
        """Close unused connections to an SQLite file, whose caches take up to 50 MB, unless there was much to do.

        Returns whether there was little to do since the last call.
        """
        uses, self._uses = self._uses, 0
        if uses >= BUSY_USES:
            return False
        with suppress(FileReplaced, SQLAlchemyError):
            self._engines.close_unused()
        return True

    def listen(self, channel: str) -> psycopg.Connection[Any] | None:
        """Return a connection that listens on a channel of PostgreSQL; None through a pooler, which passes none on."""
        connection = self._engines.postgres.connect()
        if postgresql.is_pooled(connection):
            connection.close()
            return None
        connection.execute(f"LISTEN {channel}")
        return connection

    def close(self) -> None:
        self._engines.close()


@contextmanager
def _translated_errors() -> Iterator[None]:
    """Turn errors that a caller can act on into errors of the domain; programming errors stay as they are."""
    try:
        yield
    except (*errors.DRIVER_ERRORS, SQLAlchemyError, DatabaseReplaced) as error:
        if errors.is_of_constraint(error):
            raise ConcurrentChange from error
        cause = errors.cause_of(error)
        if cause is None:
            raise
        raise _unavailable(cause) from error


def _unavailable(cause: Cause) -> StoreUnavailable:
    _causes.log(cause)
    return StoreUnavailable(
        msg("The database does not answer at the moment; try again shortly."),
        reason=cause.reason,
        is_of_transaction=cause.code in errors.OF_TRANSACTION,
    )
