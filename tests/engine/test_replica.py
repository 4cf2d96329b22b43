"""Reads from a streaming replica: what a user has written is always seen, and a replica that lags is not read."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from itertools import count
from pathlib import Path
from typing import Any

import psycopg
import pytest
from sqlalchemy import text

from greader.apps import App
from support.people import Cast, Person
from support.postgres import Cluster
from support.publisher import Publisher
from support.replication import Pair, until
from support.running import running_service
from support.visitors import Visitor
from tidings.base.errors import StartError, StoreUnavailable
from tidings.engine import replica
from tidings.engine.database import Database
from tidings.storage.feeds import categories

pytestmark = pytest.mark.slow

_is_replica = text("SELECT pg_is_in_recovery()")
_numbers = count()


def execute(server: Cluster, statement: str) -> Any:
    with psycopg.connect(url_of(server), autocommit=True) as connection:
        done = connection.execute(statement)
        return done.fetchone() if done.description else None


@contextmanager
def paused(server: Cluster) -> Iterator[None]:
    """The standby goes on receiving the log, but replays nothing."""
    execute(server, "SELECT pg_wal_replay_pause()")
    until(lambda: execute(server, "SELECT pg_get_wal_replay_pause_state()") == ("paused",))
    try:
        yield
    finally:
        execute(server, "SELECT pg_wal_replay_resume()")


@pytest.fixture(scope="module")
def pair(request: pytest.FixtureRequest) -> Iterator[Pair]:
    """One for all tests; the last one ends it."""
    if request.config.getoption("--without-postgresql"):
        pytest.skip("without PostgreSQL")
    with ExitStack() as stack:
        yield Pair(stack)


@pytest.fixture
def database(pair: Pair) -> Iterator[Database]:
    opened = Database(url_of(pair.primary), replica_url=url_of(pair.standby))
    yield opened
    opened.close()


def url_of(server: Cluster) -> str:
    return server.url.replace("/postgres?", "/tidings?")


def reads_from_replica(database: Database, user_id: int) -> bool:
    with database.serving(user_id), database.reading() as db:
        return bool(db.scalar(_is_replica))


def add_user(database: Database) -> int:
    statement = text("INSERT INTO users (username, password_hash, created_at) VALUES (:name, '', 0) RETURNING id")
    with database.writing() as db:
        return int(db.scalar(statement, name=f"user{next(_numbers)}"))


def test_requests_read_from_the_replica_and_nothing_else_does(pair: Pair, database: Database) -> None:
    user = add_user(database)
    pair.wait_for_standby()

    assert reads_from_replica(database, user)
    with database.reading() as db:
        assert not db.scalar(_is_replica)
    with database.serving(user), database.snapshot() as db:
        assert not db.scalar(_is_replica)


def test_who_has_written_reads_from_the_primary_server_until_the_replica_has_it(pair: Pair, database: Database) -> None:
    user, bob = add_user(database), 1_000
    pair.wait_for_standby()
    elsewhere = Database(url_of(pair.primary), replica_url=url_of(pair.standby))
    assert reads_from_replica(database, bob)

    with paused(pair.standby):
        with database.writing() as db:
            db.run(text("UPDATE users SET stylesheet = stylesheet || 'x'"))
        database.note_write(user)

        # Another host knows it as well.
        assert not reads_from_replica(elsewhere, user)
        assert not reads_from_replica(database, user)
        assert reads_from_replica(database, bob)
    until(lambda: reads_from_replica(elsewhere, user))
    elsewhere.close()


def test_a_request_that_has_written_reads_what_it_wrote(pair: Pair, database: Database) -> None:
    user = add_user(database)
    pair.wait_for_standby()

    with paused(pair.standby):
        with database.serving(user):
            with database.reading() as db:
                assert db.scalar(_is_replica)
            with database.writing() as db:
                db.run(text("UPDATE users SET stylesheet = stylesheet || 'x'"))
            with database.reading() as db:
                assert db.scalar(text("SELECT stylesheet FROM users WHERE id = :id"), id=user).endswith("x")
        assert not reads_from_replica(database, user)


def test_a_replica_that_lags_is_not_read(pair: Pair, database: Database, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(replica, "MAX_LAG_S", 0.2)
    monkeypatch.setattr(replica, "SAMPLE_INTERVAL_S", 0.0)
    user = add_user(database)
    pair.wait_for_standby()
    assert reads_from_replica(database, 1_000)

    with paused(pair.standby):
        with database.writing() as db:
            db.run(text("UPDATE users SET stylesheet = stylesheet || 'x'"))
        until(lambda: not reads_from_replica(database, 1_000))
    until(lambda: reads_from_replica(database, user))


def test_without_the_replica_everything_is_read_from_the_primary_server(
    pair: Pair, database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(replica, "RETRY_AFTER_S", 0.0)
    user = add_user(database)
    pair.wait_for_standby()
    assert reads_from_replica(database, user)

    def is_given_up() -> bool:
        try:
            return not reads_from_replica(database, user)
        except StoreUnavailable:
            # A connection that had been tested less than a second ago.
            return False

    pair.standby.stop()
    until(is_given_up)
    assert not reads_from_replica(database, user)
    pair.standby.start()
    until(lambda: reads_from_replica(database, user))


def test_sqlite_has_no_replica(tmp_path: Path) -> None:
    with pytest.raises(StartError, match="TIDINGS_DATABASE_READ_URL needs PostgreSQL"):
        Database(f"sqlite:///{tmp_path}/a.db", replica_url="postgresql://replica/tidings")


def test_users_of_every_surface_see_what_they_wrote(pair: Pair, tmp_path: Path) -> None:
    """While replay is paused; afterwards the replica answers, as its statistics show."""
    replica_url = url_of(pair.standby)
    with running_service(url_of(pair.primary), tmp_path, DATABASE_READ_URL=replica_url) as service:
        person = Cast(service).person("alice", is_admin=True)
        pair.wait_for_standby()
        with paused(pair.standby):
            person.post("/v1/categories", {"title": "by API"})
            assert "by API" in titles(person)
            visitor = Visitor(service, person)
            visitor.sign_in()
            visitor.get("/categories")
            visitor.post("/categories/add", title="by page")
            assert "by page" in visitor.page("/categories")
            app = App(person).sign_in()
            app.call("POST", "rename-tag", {"s": "user/-/label/by page", "dest": "user/-/label/by app", "T": app.token})
            assert "by app" in str(app.get("tag/list"))
        wait_until_read(pair.standby, person)


def test_an_entry_that_the_replica_lacks_is_not_reported_as_deleted(pair: Pair, tmp_path: Path) -> None:
    """Clients take 404 for deleted for ever. The worker has stored the entry after the last write of its user."""
    with (
        running_service(url_of(pair.primary), tmp_path, DATABASE_READ_URL=url_of(pair.standby)) as service,
        Publisher() as site,
    ):
        person = Cast(service).person("carol", is_admin=True)
        person.has_feed(site, ["First"])
        (entry,) = person.entries()
        wait_until_read(pair.standby, person)
        with paused(pair.standby):
            copied = copy_entry(pair.primary, entry["id"])
            assert [one["id"] for one in person.entries()] == [entry["id"]], "read from the replica"
            assert person.get(f"/v1/entries/{copied}")["title"] == "First"
            assert person.call("GET", f"/v1/entries/{copied + 1}").status == 404


def test_clients_sync_with_the_primary_server(pair: Pair, tmp_path: Path) -> None:
    """Otherwise they would have a cursor that the replica does not know yet."""
    with running_service(url_of(pair.primary), tmp_path, DATABASE_READ_URL=url_of(pair.standby)) as service:
        person = Cast(service).person("dora", is_admin=True)
        cursor = person.get("/v1/sync")["next_cursor"]
        wait_until_read(pair.standby, person)
        with paused(pair.standby):
            elsewhere = Database(url_of(pair.primary))
            with elsewhere.writing() as db:
                categories.add(db, person.id, title="New", title_key="new", hide_globally=False)
            elsewhere.close()
            assert "New" not in titles(person), "read from the replica"
            page = person.get("/v1/sync", cursor=cursor)
            assert [one["title"] for one in page["categories"]] == ["All", "New"]
            assert person.get("/v1/sync", cursor=page["next_cursor"])["categories"] is None


def test_a_replica_that_was_promoted_is_not_read(pair: Pair, database: Database) -> None:
    user = add_user(database)
    pair.wait_for_standby()
    pair.standby.promote()

    assert not reads_from_replica(database, user)
    with database.serving(user), database.reading() as db:
        assert f"port={db.scalar(text('SHOW port'))}" in url_of(pair.primary)


def wait_until_read(standby: Cluster, person: Person) -> None:
    """Until requests of the person read from the standby, as its statistics show."""
    before = rows_read(standby)
    until(lambda: bool(titles(person)) and rows_read(standby) > before)


def copy_entry(server: Cluster, entry_id: int) -> int:
    """Return the id of a copy, which the server alone has."""
    names = "SELECT string_agg(quote_ident(column_name), ', ') FROM information_schema.columns"
    (columns,) = execute(server, f"{names} WHERE table_name = 'entries' AND column_name NOT IN ('id', 'hash')")
    copy = f"SELECT {columns}, 'a copy' FROM entries WHERE id = {entry_id}"
    (copied,) = execute(server, f"INSERT INTO entries ({columns}, hash) {copy} RETURNING id")
    return int(copied)


def titles(person: Person) -> set[str]:
    return {category["title"] for category in person.get("/v1/categories")}


def rows_read(server: Cluster) -> int:
    """Return how many rows of categories a server has read so far."""
    statement = "SELECT sum(seq_tup_read + idx_tup_fetch) FROM pg_stat_user_tables WHERE relname = 'categories'"
    (rows,) = execute(server, statement)
    return int(rows or 0)
