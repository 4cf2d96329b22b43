"""How each engine is connected to: what is said to a connection when it is made, when it is taken, when it begins."""

from __future__ import annotations

import sqlite3
import time
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


def sqlite(url: URL, pool_size: int, *, is_writer: bool = False) -> Engine:
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
    return engine
