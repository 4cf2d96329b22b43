"""A process that is suspended while it sends several statements together loses its locks to those who wait for them."""

from __future__ import annotations

import pytest

from cli.commands import eventually
from support import locks
from support.entry_fixtures import FeedFixture
from support.idle_client import LOCK, half_sent, waiting_for_the_lock
from tidings.engine import idle_transactions
from tidings.engine.database import Database


@pytest.fixture
def server(database: Database) -> Database:
    if database.is_sqlite:
        pytest.skip("SQLite has no server that goes on")
    return database


@pytest.fixture(params=["of the database", "of a user's row"])
def lock(request: pytest.FixtureRequest, server: Database) -> str:
    """A statement that takes a lock, which a distributed database has on the coordinator, or on a node."""
    if request.param == "of the database":
        return LOCK
    return f"SELECT id FROM categories WHERE user_id = {FeedFixture.create(server).user_id} FOR UPDATE"


def test_an_idle_transaction_loses_its_locks_to_who_waits(server: Database, database_url: str, lock: str) -> None:
    with half_sent(database_url, lock), waiting_for_the_lock(server, lock) as has_lock:
        assert eventually(lambda: locks.is_any_waiting(server), within_s=60)
        # Neither has waited for so long.
        assert idle_transactions.end(server, idle_s=3600) == 0
        assert idle_transactions.end(server, idle_s=0) == 1
        assert has_lock.wait(60)


def test_a_transaction_that_works_or_that_nobody_waits_for_goes_on(
    server: Database, database_url: str, lock: str
) -> None:
    work = lock.replace("SELECT id", "SELECT pg_sleep(3600)").replace("FOR UPDATE", "")
    with (
        half_sent(database_url, lock, "SELECT pg_sleep(3600)" if work == lock else work) as holder,
        half_sent(database_url, "SELECT pg_advisory_xact_lock(21)"),
        waiting_for_the_lock(server, lock) as has_lock,
    ):
        assert eventually(lambda: locks.is_any_waiting(server), within_s=60)
        assert idle_transactions.end(server, idle_s=0) == 0
        assert not has_lock.is_set()
        holder.cancel()
        assert has_lock.wait(60)
