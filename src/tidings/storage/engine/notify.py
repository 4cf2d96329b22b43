"""Telling waiting workers that there is something to do now.

On PostgreSQL with LISTEN and NOTIFY: who listens hears of it with the commit, on whichever machine. SQLite has no such
thing, but counts the commits of others: reading that counter takes some microseconds, so it is looked at twenty times
a second. Whatever was written then rings every bell.
"""

from __future__ import annotations

import sqlite3
import threading
import time
from typing import Any

import psycopg
from sqlalchemy import text

from tidings.storage.engine.database import Database, Write
from tidings.storage.engine.engines import is_sqlite

FEEDS = "tidings_feeds"

LOOK_AGAIN_S = 0.05
# How long one wait lasts at most, so that who listens can stop; and how long without an ear after trouble.
LISTEN_S = 1.0
AFTER_TROUBLE_S = 5.0

_notify = {name: text(f"NOTIFY {name}") for name in (FEEDS,)}


def notify(db: Write, channel: str) -> None:
    """Heard when the transaction commits."""
    if not is_sqlite(db.connection):
        db.run(_notify[channel])


class Listener:
    """Hears one bell. `wait` is for a thread of its own."""

    def __init__(self, database: Database, channel: str) -> None:
        self._database = database
        self._channel = channel
        self._connection: psycopg.Connection[Any] | None = None
        self._counter: sqlite3.Connection | None = None
        self._commits = 0
        self._closed = threading.Event()

    def wait(self) -> bool:
        """Whether the bell rang, within a second or so."""
        try:
            if self._database.is_sqlite:
                return self._is_written_to()
            return any(True for _ in self._listening().notifies(timeout=LISTEN_S, stop_after=1))
        except (psycopg.Error, sqlite3.Error):
            # The database is away: others say so.
            self.disconnect()
            self._closed.wait(AFTER_TROUBLE_S)
            return False

    def close(self) -> None:
        """What waits returns within a second, and lets go of its connection."""
        self._closed.set()

    @property
    def is_closed(self) -> bool:
        return self._closed.is_set()

    def _listening(self) -> psycopg.Connection[Any]:
        if self._connection is None:
            url = self._database.url.set(drivername="postgresql").render_as_string(hide_password=False)
            self._connection = psycopg.connect(url, autocommit=True)
            self._connection.execute(f"LISTEN {self._channel}")
        return self._connection

    def _is_written_to(self) -> bool:
        if self._counter is None:
            self._counter = sqlite3.connect(str(self._database.url.database))
        until = time.monotonic() + LISTEN_S
        while time.monotonic() < until and not self._closed.wait(LOOK_AGAIN_S):
            before = self._commits
            (self._commits,) = self._counter.execute("PRAGMA data_version").fetchone()
            if self._commits != before:
                return True
        return False

    def disconnect(self) -> None:
        """Let go of the connections; only for the thread that waits."""
        for connection in (self._connection, self._counter):
            if connection is not None:
                connection.close()
        self._connection = self._counter = None
