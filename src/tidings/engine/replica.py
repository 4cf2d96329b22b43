"""Reads from a streaming replica of PostgreSQL, by requests whose user has no write that the replica lacks.

After a request that writes, the position of the write-ahead log is stored for its user (`note_write`). The next request
of the user, on any host, reads from the replica once it has replayed the log up to that position, and until then from
the primary server. Source: PostgreSQL, "Hot Standby", and "System Administration Functions" (`pg_last_wal_replay_lsn`).
"""

from __future__ import annotations

import threading
import time
from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

import structlog
from sqlalchemy import (
    URL,
    BigInteger,
    Column,
    ColumnClause,
    Connection,
    ForeignKey,
    Integer,
    Table,
    bindparam,
    func,
    literal_column,
    select,
)
from sqlalchemy.dialects.postgresql import insert
from sqlalchemy.exc import SQLAlchemyError

from tidings.engine.columns import metadata
from tidings.engine.postgresql import PostgresPool

# PostgreSQL only, for reading from replicas. Unlogged: its rows need not survive a crash and are not replicated, and
# writing one after each write of a user costs little. A server that takes over begins with an empty table.
user_writes = Table(
    "user_writes",
    metadata,
    Column("user_id", Integer, ForeignKey("users.id", ondelete="CASCADE"), primary_key=True, autoincrement=False),
    Column("position", BigInteger, nullable=False, comment="In the write-ahead log, in bytes, after the last write."),
    prefixes=["UNLOGGED"],
    info={"engine": "postgresql"},
)

# A replica that is further behind is not read: what the worker stores would be missing for longer than users accept.
MAX_LAG_S = 10.0
# How often the positions of both servers are compared while there are requests.
SAMPLE_INTERVAL_S = 1.0
# How long a replica that did not answer is not tried again.
RETRY_AFTER_S = 5.0

# Positions in the log as whole numbers of bytes, which Python can compare.
_INSERTED: ColumnClause[int] = literal_column("(pg_current_wal_insert_lsn() - '0/0')::bigint")
_FLUSHED: ColumnClause[int] = literal_column("(pg_current_wal_flush_lsn() - '0/0')::bigint")
_REPLAYED: ColumnClause[int | None] = literal_column("(pg_last_wal_replay_lsn() - '0/0')::bigint")

_positions = select(
    func.coalesce(
        select(user_writes.c.position).where(user_writes.c.user_id == bindparam("user_id")).scalar_subquery(), 0
    ),
    _FLUSHED,
)
_replayed = select(_REPLAYED).where(func.pg_is_in_recovery())
_new_write = insert(user_writes).values(user_id=bindparam("user_id"), position=_INSERTED)
_note_write = _new_write.on_conflict_do_update(
    index_elements=[user_writes.c.user_id],
    set_={"position": func.greatest(user_writes.c.position, _new_write.excluded.position)},
)

log = structlog.get_logger()


class RequestReads:
    """Where a request reads. uses_replica: None until its first read."""

    __slots__ = ("has_written", "user_id", "uses_replica")

    def __init__(self, user_id: int) -> None:
        self.user_id = user_id
        self.uses_replica: bool | None = None
        self.has_written = False


_request: ContextVar[RequestReads | None] = ContextVar("request_reads", default=None)


def current_request() -> RequestReads | None:
    """Return the request that this thread serves, None if it may not read from the replica."""
    return _request.get()


@contextmanager
def serving(user_id: int) -> Iterator[RequestReads]:
    """Yield the request of a user whose reads may go to the replica."""
    request = RequestReads(user_id)
    token = _request.set(request)
    try:
        yield request
    finally:
        _request.reset(token)


class Replica:
    """A replica and what is known of it.

    url: names one server only; with several, their positions would be mixed up.
    """

    def __init__(self, url: URL, primary: PostgresPool, pool_size: int) -> None:
        self._primary = primary
        self._pool = PostgresPool(url, pool_size)
        self._lock = threading.Lock()
        # What the replica has replayed at least, and when the primary was at which position.
        self._replayed = 0
        self._samples: deque[tuple[float, int]] = deque()
        self._retry_at = 0.0

    def connect(self, request: RequestReads) -> Connection | None:
        """Return a connection to the replica, None if the request has to read from the primary server."""
        if request.has_written:
            return None
        try:
            if request.uses_replica is None:
                request.uses_replica = time.monotonic() >= self._retry_at and self._has_writes_of(request.user_id)
            return self._pool.reader.connect() if request.uses_replica else None
        except SQLAlchemyError as error:
            # If it was the primary server that did not answer, reading from it fails again, and is reported.
            request.uses_replica = False
            self._retry_at = time.monotonic() + RETRY_AFTER_S
            log.warning("replica unavailable", reason=str(error).partition("\n")[0])
            return None

    def note_write(self, user_id: int) -> None:
        """Store that the user has written, so that the next requests see it. Call it after the commit."""
        with self._primary.engine.begin() as connection:
            connection.execute(_note_write, {"user_id": user_id})

    def close(self) -> None:
        self._pool.engine.dispose()

    def _has_writes_of(self, user_id: int) -> bool:
        """Return whether the replica has what the user has written, and is not too far behind."""
        with self._primary.reader.connect() as connection:
            written, flushed = connection.execute(_positions, {"user_id": user_id}).one()
        is_due = self._sample(time.monotonic(), flushed)
        if is_due or written > self._replayed:
            self._replayed = self._read_replayed()
        with self._lock:
            is_fresh = any(position <= self._replayed for _, position in self._samples)
        return is_fresh and written <= self._replayed

    def _sample(self, now: float, flushed: int) -> bool:
        """Keep the position of the primary server of every second, for MAX_LAG_S. Returns whether it was kept."""
        with self._lock:
            while self._samples and self._samples[0][0] < now - MAX_LAG_S:
                self._samples.popleft()
            is_due = not self._samples or now - self._samples[-1][0] >= SAMPLE_INTERVAL_S
            if is_due:
                self._samples.append((now, flushed))
            return is_due

    def _read_replayed(self) -> int:
        """Return how far the replica is; 0 if it is not a replica any more."""
        with self._pool.reader.connect() as connection:
            return int(connection.execute(_replayed).scalar() or 0)
