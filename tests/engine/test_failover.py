"""A PostgreSQL server fails and its standby takes over: writes come back by themselves."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import psycopg
import pytest
from sqlalchemy import text

from support.people import Cast
from support.replication import Pair, until
from support.running import running_service
from tidings.base.errors import StoreUnavailable
from tidings.base.times import Instant
from tidings.engine.database import Database
from tidings.storage.accounts import users

pytestmark = pytest.mark.slow


@pytest.fixture
def pair(request: pytest.FixtureRequest) -> Iterator[Pair]:
    if request.config.getoption("--without-postgresql"):
        pytest.skip("without PostgreSQL")
    with ExitStack() as stack:
        yield Pair(stack)


def test_writes_go_to_the_standby_that_was_promoted(pair: Pair, tmp_path: Path) -> None:
    with running_service(pair.url, tmp_path) as service:
        alice = Cast(service).person("alice", is_admin=True)
        alice.post("/v1/categories", {"title": "before"})
        pair.wait_for_standby()
        pair.primary.stop()
        assert alice.call("POST", "/v1/categories", {"title": "lost"}).status == 503

        pair.standby.promote()

        until(lambda: alice.call("POST", "/v1/categories", {"title": "after"}).status == 201)
        assert {"before", "after"} <= {category["title"] for category in alice.get("/v1/categories")}


def test_open_connections_to_a_server_that_became_read_only_are_given_up(pair: Pair) -> None:
    """As when the old server lives on: its open connections would refuse writes for ever."""
    database = Database(pair.url, pool_size=2)
    add(database, "before")
    pair.wait_for_standby()
    pair.standby.promote()
    with psycopg.connect(pair.primary.url, autocommit=True) as above:
        above.execute("ALTER SYSTEM SET default_transaction_read_only = on")
        above.execute("SELECT pg_reload_conf()")

    def is_written() -> bool:
        try:
            add(database, "after")
        except StoreUnavailable:
            return False
        return True

    with database.reading() as db:
        until(lambda: db.scalar(text("SHOW default_transaction_read_only")) == "on")
    until(is_written)
    with database.reading() as db:
        assert users.by_name(db, "before") is not None
    database.close()


def add(database: Database, name: str) -> None:
    with database.writing() as db:
        users.add(db, username=name, password_hash="x", is_admin=False, now=Instant(0))
