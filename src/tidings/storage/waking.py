"""Telling waiting workers that there is something to do now.

On PostgreSQL with LISTEN and NOTIFY: who listens hears of it with the commit, on whichever machine. SQLite has no such
thing; workers look for themselves every quarter of a second, and looking costs them one step into an index.
"""

from __future__ import annotations

import threading
from typing import Any

import psycopg
from sqlalchemy import text

from tidings.storage.database import Database, Write

FEEDS = "tidings_feeds"

# How long one wait lasts at most, so that who listens can stop; and how long without an ear after trouble.
LISTEN_S = 1.0
AFTER_TROUBLE_S = 5.0

_notify = {name: text(f"NOTIFY {name}") for name in (FEEDS,)}


def ring(db: Write, bell: str) -> None:
    """Heard when the transaction commits."""
    if db.connection.dialect.name == "postgresql":
        db.run(_notify[bell])


class Ear:
    """Hears one bell. `wait` is for a thread of its own."""

    def __init__(self, database: Database, bell: str) -> None:
        self._database = database
        self._bell = bell
        self._connection: psycopg.Connection[Any] | None = None
        self._closed = threading.Event()

    @property
    def is_deaf(self) -> bool:
        """Whether there is nothing to hear on this engine."""
        return self._database.is_sqlite

    def wait(self) -> bool:
        """Whether the bell rang, within a second or so."""
        try:
            return any(True for _ in self._listening().notifies(timeout=LISTEN_S, stop_after=1))
        except psycopg.Error:
            # The database is away: others say so.
            self.drop()
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
            self._connection.execute(f"LISTEN {self._bell}")
        return self._connection

    def drop(self) -> None:
        """Let go of the connection; only for the thread that waits."""
        connection, self._connection = self._connection, None
        if connection is not None:
            connection.close()
