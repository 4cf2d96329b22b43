"""Connections to databases of PostgreSQL that a test leaves to the next one, since these use the same databases.

With a new one, a short test takes 150 ms of processor time instead of 40: the server reads its catalog again for each.
Only what a pool has closed in order is kept: a test whose connections break, or are ended, leaves none.
"""

from __future__ import annotations

import os
import select
from collections.abc import Mapping
from typing import Any

import psycopg
from psycopg.pq import TransactionStatus
from sqlalchemy import Dialect, Engine, event, make_url

# What statements set for a session, but for prepared statements, which a pool keeps as well.
_RESET = "RESET ALL; UNLISTEN *; CLOSE ALL; DISCARD TEMP; SELECT pg_advisory_unlock_all()"


class _Kept:
    """A connection that nobody uses, and how it was made: only who wants the same may take it."""

    def __init__(self, connection: psycopg.Connection[Any], wanted: Mapping[str, Any]) -> None:
        self.connection = connection
        self.wanted = wanted
        # The connection of a process is not its child's.
        self.process = os.getpid()


# For each database: what most tests use at the same time. An idle connection of the server takes 10 MB.
_MOST = 2

# By the name of the database.
_kept: dict[str, list[_Kept]] = {}


def keep(url: str) -> None:
    """Keep connections to the database from now on."""
    _kept.setdefault(_name(url), [])


def close(url: str) -> None:
    """Close what is kept for the database, and keep nothing until the next `keep`."""
    for one in _kept.pop(_name(url), []):
        one.connection.close()


def server_processes(url: str) -> list[int]:
    """Return the processes of the server that serve the kept connections."""
    return [one.connection.info.backend_pid for one in _kept.get(_name(url), []) if not one.connection.closed]


def use(engine: Engine) -> None:
    """Let an engine take connections that were left, and leave its own when its pool is closed."""
    dialect: Any = engine.dialect
    name = engine.url.database or ""
    close_connection = dialect.do_close
    how: list[dict[str, Any]] = []

    @event.listens_for(engine, "do_connect")
    def take(_dialect: Dialect, _record: Any, _arguments: Any, named: dict[str, Any]) -> Any:
        wanted = {key: value for key, value in named.items() if key != "context"}
        how[:] = [wanted]
        try:
            one = _kept[name].pop()
        except (KeyError, IndexError):
            return None
        if one.process != os.getpid():
            return None
        if one.wanted == wanted and not _has_ended(one.connection):
            return one.connection
        one.connection.close()
        return None

    def leave(connection: Any) -> None:
        places = _kept.get(name)
        if places is None or len(places) >= _MOST or not how or not _reset(connection):
            close_connection(connection)
        else:
            places.append(_Kept(connection, how[0]))

    dialect.do_close = leave


def _reset(connection: psycopg.Connection[Any]) -> bool:
    """Make an idle connection as it was at first. Returns whether that succeeded."""
    if connection.closed or connection.info.transaction_status != TransactionStatus.IDLE:
        return False
    connection.isolation_level = connection.read_only = connection.deferrable = None
    try:
        connection.autocommit = True
        connection.execute(_RESET)
        connection.autocommit = False
    except psycopg.Error:
        return False
    return True


def _has_ended(connection: psycopg.Connection[Any]) -> bool:
    """Return whether the server has written something, which it does to an idle connection only when it ends it."""
    if connection.closed:
        return True
    # Unlike `select.select`, it takes descriptors of any number.
    waiting = select.poll()
    waiting.register(connection, select.POLLIN)
    return bool(waiting.poll(0))


def _name(url: str) -> str:
    return make_url(url).database or ""
