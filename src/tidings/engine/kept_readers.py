"""Connections for reading that are kept between two reads.

The pool of SQLAlchemy makes a connection ready when it is taken, and resets it when it is given back. That takes longer
than what most reads ask of the database: 25 µs on SQLite, 100 on PostgreSQL.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, Final

from sqlalchemy import Connection, Engine

from tidings.engine.postgresql import PING_AFTER_IDLE_S

# Of one database. The rest of its pool is for those who wait for a connection.
MAX_KEPT: Final = 4


class KeptReaders:
    """Some connections of a pool, ready to read.

    open_new: takes one from the pool. pool_size: of this pool, which may be that of the writers, too.
    is_sqlite: each read is a transaction. Otherwise each statement is one. may_keep: asked after each read.
    """

    def __init__(
        self, open_new: Callable[[], Connection], pool_size: int, *, is_sqlite: bool, may_keep: Callable[[], bool]
    ) -> None:
        self._open_new = open_new
        self._may_keep = may_keep
        self._most = min(MAX_KEPT, pool_size // 2)
        self._is_sqlite = is_sqlite
        self._kept: list[tuple[Connection, float]] = []
        self._waiting = 0
        self._lock = threading.Lock()

    @contextmanager
    def reading(self) -> Iterator[Connection]:
        """Yield a connection that nobody else uses. After an error it goes back to the pool, which knows what to do."""
        connection = self._take() or self._wait_for_new()
        try:
            yield connection
        except BaseException:
            connection.close()
            raise
        self._give_back(connection)

    @contextmanager
    def waiting(self, engine: Engine) -> Iterator[None]:
        """Let connections go back to the pool of this engine while somebody waits for one of them."""
        pool: Any = engine.pool
        with self._lock:
            self._waiting += 1
        try:
            if pool.checkedout() >= pool.size():
                self.close()
            yield
        finally:
            with self._lock:
                self._waiting -= 1

    def close(self) -> None:
        """Give all back that are not in use."""
        with self._lock:
            kept, self._kept = self._kept, []
        for connection, _ in kept:
            connection.close()

    def _wait_for_new(self) -> Connection:
        with self._lock:
            self._waiting += 1
        try:
            return self._open_new()
        finally:
            with self._lock:
                self._waiting -= 1

    def _take(self) -> Connection | None:
        with self._lock:
            if not self._kept:
                return None
            connection, since = self._kept.pop()
        if self._is_sqlite:
            _in_driver(connection, lambda driver: driver.execute("BEGIN"))
            return connection
        if time.monotonic() - since <= PING_AFTER_IDLE_S:
            return connection
        # The pool tests it when it is taken again.
        info = connection.info
        connection.close()
        info["idle_since"] = since
        return None

    def _give_back(self, connection: Connection) -> None:
        if connection.closed or connection.invalidated:
            connection.close()
            return
        if self._is_sqlite:
            _in_driver(connection, lambda driver: driver.rollback())
        may_keep = self._may_keep()
        with self._lock:
            is_kept = may_keep and not self._waiting and len(self._kept) < self._most
            if is_kept:
                self._kept.append((connection, time.monotonic()))
        if not is_kept:
            connection.close()


def _in_driver(connection: Connection, function: Callable[[Any], Any]) -> None:
    """Begin or end the transaction of SQLite, while that of SQLAlchemy goes on, if one has begun."""
    if connection.in_transaction():
        try:
            function(connection.connection.driver_connection)
        except BaseException:
            connection.close()
            raise
