"""Wakes waiting workers when there is something to do.

On PostgreSQL with LISTEN and NOTIFY: listeners on all machines are notified at the commit. SQLite has no notifications,
but counts the commits of other connections: reading that counter takes some microseconds, so it is polled twenty times
a second. On SQLite any commit wakes the listeners of every channel.
"""

from __future__ import annotations

import sqlite3
import threading
import time
from typing import Any

import psycopg
from sqlalchemy import text

from tidings.engine.database import Database, Write, is_sqlite

FEEDS = "tidings_feeds"
CHANGES = "tidings_changes"

# How often the commit counter of SQLite is read.
POLL_INTERVAL_S = 0.05
# How long one wait lasts at most, so that a listener can stop.
MAX_WAIT_S = 1.0
# How long a listener pauses after an error of the database.
RECONNECT_DELAY_S = 5.0

_notify = {name: text(f"NOTIFY {name}") for name in (FEEDS,)}


def notify(db: Write, channel: str) -> None:
    """Notify the listeners of a channel when the transaction commits."""
    if not is_sqlite(db.connection):
        db.run(_notify[channel])


def notify_afterwards(db: Write, channel: str) -> None:
    """Notify the listeners of a channel right after the transaction has committed.

    PostgreSQL lets transactions that notify commit one after the other, each with its write to the disk. That is too
    slow for what every transaction notifies of. A process that is killed at that moment notifies nobody.
    """
    if not is_sqlite(db.connection):
        db.channels.add(channel)


class Listener:
    """Waits for notifications of one channel. `wait` is for a thread of its own."""

    def __init__(self, database: Database, channel: str) -> None:
        self._database = database
        self._channel = channel
        self._connection: psycopg.Connection[Any] | None = None
        self._is_unheard = False
        self._counter: sqlite3.Connection | None = None
        self._commits = 0
        self._closed = threading.Event()

    def wait(self) -> bool:
        """Return whether a notification arrived; waits up to MAX_WAIT_S."""
        try:
            if self._database.is_sqlite:
                return self._wait_for_commit()
            return self._wait_for_notification()
        except (psycopg.Error, sqlite3.Error):
            # The database is unavailable: other parts log that.
            self.disconnect()
            self._closed.wait(RECONNECT_DELAY_S)
            return False

    def pause(self, seconds: float) -> None:
        """Wait, whatever arrives, until the listener is closed."""
        self._closed.wait(seconds)

    def close(self) -> None:
        """End a running `wait`, which returns within a second."""
        self._closed.set()

    @property
    def is_deaf(self) -> bool:
        """Whether notifications do not arrive, since a pooler stands between."""
        return self._is_unheard

    @property
    def is_closed(self) -> bool:
        return self._closed.is_set()

    def _wait_for_notification(self) -> bool:
        """Wait for a notification on PostgreSQL.

        Through a pooler none arrives: workers then notice a refresh when they look for due sources. After a connection
        was made, there may have been some before.
        """
        if self._connection is None and not self._is_unheard:
            self._connection = self._database.listen(self._channel)
            self._is_unheard = self._connection is None
            return not self._is_unheard
        if self._connection is None:
            self._closed.wait(MAX_WAIT_S)
            return False
        return any(True for _ in self._connection.notifies(timeout=MAX_WAIT_S, stop_after=1))

    def _wait_for_commit(self) -> bool:
        if self._counter is None:
            self._counter = sqlite3.connect(str(self._database.url.database))
        deadline = time.monotonic() + MAX_WAIT_S
        while time.monotonic() < deadline and not self._closed.wait(POLL_INTERVAL_S):
            before = self._commits
            (self._commits,) = self._counter.execute("PRAGMA data_version").fetchone()
            if self._commits != before:
                return True
        return False

    def disconnect(self) -> None:
        """Close the connections. Only for the thread that waits."""
        for connection in (self._connection, self._counter):
            if connection is not None:
                connection.close()
        self._connection = self._counter = None
