"""Connections for reading that are kept between two reads.

The pool of SQLAlchemy makes a connection ready when it is taken, and resets it when it is given back. That takes longer
than what most reads ask of the database: 25 µs on SQLite, 100 on PostgreSQL.

Those for reads by key plan each statement once, until they go back to the pool: see `postgresql.plan_once`.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, Final

from sqlalchemy import Connection, Engine
from sqlalchemy.exc import SQLAlchemyError

from tidings.base.errors import TidingsError
from tidings.engine import postgresql
from tidings.engine.postgresql import PING_AFTER_IDLE_S

_PLANS_ONCE: Final = "plans_once"


class KeptReaders:
    """Some connections of a pool, ready to read.

    open_new: takes one from the pool. most: how many; others may need some of this pool.
    is_sqlite: each read is a transaction. Otherwise each statement is one. may_keep: asked after each read.
    plans_once: PostgreSQL plans their statements once.
    """

    def __init__(
        self,
        open_new: Callable[[], Connection],
        most: int,
        *,
        is_sqlite: bool,
        may_keep: Callable[[], bool],
        plans_once: bool = False,
    ) -> None:
        self._open_new = open_new
        self._may_keep = may_keep
        self._most = most
        self._plans_once = plans_once
        self._is_sqlite = is_sqlite
        self._kept: list[tuple[Connection, float]] = []
        self._waiting = 0
        self._given_up = 0
        self._lock = threading.Lock()

    @contextmanager
    def reading(self) -> Iterator[Connection]:
        """Yield a connection that nobody else uses. After an error it goes back to the pool, which knows what to do."""
        given_up = self._given_up
        connection = self._take() or self._wait_for_new()
        with self._lent(connection, given_up):
            yield connection

    @contextmanager
    def reading_if_ready(self) -> Iterator[Connection | None]:
        """Yield a connection that is ready now, or None. A thread that has another one may ask: it never waits."""
        given_up = self._given_up
        connection = self._take()
        if connection is None:
            yield None
            return
        with self._lent(connection, given_up):
            yield connection

    @contextmanager
    def _lent(self, connection: Connection, given_up: int) -> Iterator[None]:
        try:
            yield
        except TidingsError:
            self._give_back(connection, given_up)
            raise
        except BaseException:
            _close(connection)
            raise
        self._give_back(connection, given_up)

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
            _close(connection)

    def give_up(self) -> None:
        """Close all, without a word to the server, since the pool has lost one: the others are of the same server."""
        with self._lock:
            kept, self._kept = self._kept, []
            self._given_up += 1
        for connection, _ in kept:
            connection.invalidate()
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
        _close(connection)
        info["idle_since"] = since
        return None

    def _give_back(self, connection: Connection, given_up: int) -> None:
        """given_up: how often all had been given up when it was taken."""
        if connection.closed or connection.invalidated:
            _close(connection)
            return
        if self._is_sqlite:
            _in_driver(connection, lambda driver: driver.rollback())
        may_keep = self._may_keep()
        with self._lock:
            is_old = given_up != self._given_up
            is_kept = may_keep and not is_old and not self._waiting and len(self._kept) < self._most
        if not is_kept:
            _close(connection)
            return
        if self._plans_once and _PLANS_ONCE not in connection.info:
            connection.info[_PLANS_ONCE] = True
            postgresql.plan_once(connection)
        with self._lock:
            self._kept.append((connection, time.monotonic()))


def _close(connection: Connection) -> None:
    """Give a connection back to its pool, as it was when it was taken."""
    if not connection.closed and not connection.invalidated and connection.info.pop(_PLANS_ONCE, False):
        try:
            postgresql.plan_each_time(connection)
        except SQLAlchemyError:
            connection.invalidate()
    connection.close()


def _in_driver(connection: Connection, function: Callable[[Any], Any]) -> None:
    """Begin or end the transaction of SQLite, while that of SQLAlchemy goes on, if one has begun."""
    if connection.in_transaction():
        try:
            function(connection.connection.driver_connection)
        except BaseException:
            connection.close()
            raise
