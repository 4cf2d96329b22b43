"""Bells: who waits hears of what another process wrote."""

from __future__ import annotations

import threading
import time

from tidings.domain.times import Instant
from tidings.storage.accounts import users
from tidings.storage.engine import notify
from tidings.storage.engine.database import Database
from tidings.storage.engine.notify import Listener


def heard_within(ear: Listener, seconds: float) -> bool:
    until = time.monotonic() + seconds
    while time.monotonic() < until:
        if ear.wait():
            return True
    return False


def test_what_another_connection_writes_is_heard(database_url: str, database: Database) -> None:
    ear, other = Listener(database, notify.FEEDS), Database(database_url)
    # It may ring for nothing once, as long as it does not know what is there.
    while ear.wait():
        pass

    def write() -> None:
        with other.writing() as db:
            users.add(db, username="alice", password_hash="x", is_admin=False, now=Instant(0))
            notify.notify(db, notify.FEEDS)

    writer = threading.Timer(0.3, write)
    writer.start()
    try:
        assert heard_within(ear, 30)
        assert not ear.wait()
    finally:
        writer.join()
        ear.close()
        ear.disconnect()
        other.close()


def test_who_stops_listening_is_not_kept(database: Database) -> None:
    ear = Listener(database, notify.FEEDS)
    ear.wait()
    ear.close()

    started = time.monotonic()
    ear.wait()

    assert time.monotonic() - started < 15
    ear.disconnect()
