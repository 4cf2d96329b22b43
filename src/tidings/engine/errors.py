"""The errors of the database: those that callers can act on, and those that mean that it is unavailable.

The latter are recognized by their codes and not by their texts.
SQLSTATE: https://www.postgresql.org/docs/current/errcodes-appendix.html
SQLite: https://www.sqlite.org/rescode.html; the primary code is the lowest byte of an extended one.
"""

from __future__ import annotations

import re
import sqlite3
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any, Final

import psycopg
import structlog
from msgspec import Struct
from sqlalchemy.exc import DBAPIError, IntegrityError, OperationalError
from sqlalchemy.exc import TimeoutError as PoolTimeout

from tidings.base.errors import InvalidInput
from tidings.base.messages import msg


class ConcurrentChange(InvalidInput):
    """Another request is making the same change at this moment; a repeated request will find it made."""

    def __init__(self) -> None:
        super().__init__(msg("Someone else changed the same thing at this moment: look again, then repeat."))


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


log = structlog.get_logger()

SQLITE_CODES: Final = frozenset(
    {
        sqlite3.SQLITE_BUSY,
        sqlite3.SQLITE_CANTOPEN,
        sqlite3.SQLITE_CORRUPT,
        sqlite3.SQLITE_FULL,
        sqlite3.SQLITE_IOERR,
        sqlite3.SQLITE_LOCKED,
        sqlite3.SQLITE_NOTADB,
        sqlite3.SQLITE_PERM,
        sqlite3.SQLITE_PROTOCOL,
        sqlite3.SQLITE_READONLY,
    }
)
# Prefixes of SQLSTATE. 08: connection. 25006: read-only, such as a standby. 25P03: a transaction was idle too long.
# 40001, 40P01: serialization failure, deadlock. 53: out of disk, memory or connections. 55P03: waited too long for a
# lock. 57014: statement timeout. 57P0: shutdown, restart, or not ready yet. 58: system error. XX001, XX002: corrupted.
SQLSTATES: Final = ("08", "25006", "25P03", "40001", "40P01", "53", "55P03", "57014", "57P0", "58", "XX001", "XX002")
# Codes of errors that roll back one transaction, while others go on: 53100 and SQLITE_FULL are a full disk.
OF_TRANSACTION: Final = frozenset({"40001", "40P01", "53100", "55P03", "57014", "SQLITE_FULL"})
# How long the same cause is not logged again.
LOG_INTERVAL_S: Final = 10.0


class Cause(Struct, frozen=True):
    """Why the database is unavailable; for the log, not for clients.

    code: SQLSTATE, or the name of SQLite's code; "" when there was no answer.
    reason: the engine's message, without the statement and its parameters.
    """

    code: str
    reason: str


# What a distributed PostgreSQL says of a constraint that rows inserted in bulk violate: the text of the node,
# which names its shard's constraint, but the code of an internal error.
_INTERNAL_ERROR: Final = "XX000"
_CONSTRAINT_OF_SHARD: Final = re.compile(r'"(?:ck|fk|ix|pk|uq)_\w+_\d+"')
# What it says, with the same code, when a node is lost in the middle of a statement or a transaction.
_CONNECTION_FAILURE: Final = "08006"
_NODE_LOST: Final = re.compile(
    r"server closed the connection|connection not open|no connection to the server|could not (?:receive|send) .* server"
    r"|SSL connection has been closed|failure on connection marked as essential|could not commit transaction for shard"
)

# Raised where the driver is used without SQLAlchemy.
DRIVER_ERRORS: Final = (sqlite3.Error, psycopg.Error)


def cause_of(error: BaseException) -> Cause | None:
    """Return why the database is unavailable, or None for an error of the statement or its data."""
    if isinstance(error, DatabaseReplaced):
        return Cause("", str(error))
    if isinstance(error, PoolTimeout):
        return Cause("", "all connections of this process are in use")
    if isinstance(error, DBAPIError):
        cause = _cause_of_driver(error.orig)
        if cause is None and error.connection_invalidated:
            return Cause("", first_line(error.orig))
        # No SQLSTATE means no answer: the connection was refused or broke.
        if cause is None and isinstance(error, OperationalError) and _is_without_code(error.orig):
            return Cause("", first_line(error.orig))
        return cause
    return _cause_of_driver(error)


def is_of_constraint(error: BaseException) -> bool:
    """Return whether rows contradict a key, or another constraint of their table."""
    if isinstance(error, IntegrityError):
        return True
    original = error.orig if isinstance(error, DBAPIError) else error
    return (
        isinstance(original, psycopg.Error)
        and original.sqlstate == _INTERNAL_ERROR
        and _CONSTRAINT_OF_SHARD.search(first_line(original)) is not None
    )


def _cause_of_driver(error: BaseException | None) -> Cause | None:
    if isinstance(error, sqlite3.Error):
        code = getattr(error, "sqlite_errorcode", None)
        if code is not None and code & 0xFF in SQLITE_CODES:
            return Cause(error.sqlite_errorname, first_line(error))
    elif isinstance(error, psycopg.Error):
        if (error.sqlstate or "").startswith(SQLSTATES):
            return Cause(error.sqlstate or "", first_line(error))
        if error.sqlstate == _INTERNAL_ERROR and _NODE_LOST.match(first_line(error)):
            return Cause(_CONNECTION_FAILURE, first_line(error))
    return None


def _is_without_code(error: Any) -> bool:
    return isinstance(error, psycopg.OperationalError) and error.sqlstate is None


def first_line(error: BaseException | None) -> str:
    """Return the first line of an error's message, without the details that follow."""
    return (str(error).strip().splitlines() or ["no reason given"])[0]


_is_muted: ContextVar[bool] = ContextVar("is_muted", default=False)


@contextmanager
def without_log() -> Iterator[None]:
    """Do not log causes inside the block: a failing start reports the cause itself, in one line."""
    before = _is_muted.set(True)
    try:
        yield
    finally:
        _is_muted.reset(before)


class CauseLog:
    """Logs why the database is unavailable.

    A new cause is logged immediately, a repeated one every LOG_INTERVAL_S with a count.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        # When a cause was logged last, and how often it occurred since, by code.
        self._logged: dict[str, tuple[float, int]] = {}

    def log(self, cause: Cause) -> None:
        if _is_muted.get():
            return
        now = time.monotonic()
        with self._lock:
            logged_at, since = self._logged.get(cause.code, (None, 0))
            if logged_at is not None and now - logged_at < LOG_INTERVAL_S:
                self._logged[cause.code] = (logged_at, since + 1)
                return
            self._logged[cause.code] = (now, 0)
        log.error("database unavailable", code=cause.code, reason=cause.reason, suppressed=since)
