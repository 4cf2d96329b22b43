"""Listeners notice what another process wrote."""

from __future__ import annotations

import threading
import time
from contextlib import suppress

import pytest

from tidings.base.times import Instant
from tidings.engine import notify
from tidings.engine.database import Database
from tidings.engine.notify import Listener
from tidings.storage.accounts import users


def notified_within(listener: Listener, seconds: float) -> bool:
    until = time.monotonic() + seconds
    while time.monotonic() < until:
        if listener.wait():
            return True
    return False


@pytest.mark.slow
def test_a_listener_notices_a_write_of_another_connection(database_url: str, database: Database) -> None:
    listener, other = Listener(database, notify.FEEDS), Database(database_url)
    # It may ring for nothing once, as long as it does not know what is there.
    while listener.wait():
        pass

    def write() -> None:
        with other.writing() as db:
            users.add(db, username="alice", password_hash="x", is_admin=False, now=Instant(0))
            notify.notify(db, notify.FEEDS)

    writer = threading.Timer(0.3, write)
    writer.start()
    try:
        assert notified_within(listener, 30)
        assert not listener.wait()
    finally:
        writer.join()
        listener.close()
        listener.disconnect()
        other.close()


@pytest.mark.slow
def test_what_is_notified_afterwards_arrives_after_the_commit(database_url: str, database: Database) -> None:
    listener, other = Listener(database, notify.CHANGES), Database(database_url)
    while listener.wait():
        pass
    try:
        with other.writing() as db:
            users.add(db, username="alice", password_hash="x", is_admin=False, now=Instant(0))
            notify.notify_afterwards(db, notify.CHANGES)
        assert notified_within(listener, 30)
        with database.reading() as db:
            assert users.count(db) == 1

        # The connection is as it was before.
        with suppress(RuntimeError), other.writing() as db:
            users.add(db, username="bob", password_hash="x", is_admin=False, now=Instant(0))
            raise RuntimeError
        with database.reading() as db:
            assert users.count(db) == 1
    finally:
        listener.close()
        listener.disconnect()
        other.close()


def test_a_closed_listener_returns(database: Database) -> None:
    listener = Listener(database, notify.FEEDS)

    def listen() -> None:
        while not listener.is_closed:
            listener.wait()
        listener.disconnect()

    listening = threading.Thread(target=listen, daemon=True)
    listening.start()
    listener.close()
    listening.join(60)

    assert not listening.is_alive()
