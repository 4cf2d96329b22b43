"""Transactions are atomic, no write is lost, and reading never waits for writing."""

from __future__ import annotations

import multiprocessing
import sqlite3
import threading
import time
from pathlib import Path
from typing import Any

import pytest
from msgspec import Struct, defstruct, structs
from sqlalchemy import func, literal, select, text

from tidings.base.errors import InvalidInput, StartError, StoreUnavailable
from tidings.base.times import Instant
from tidings.domain.feeds.feeds import Feed
from tidings.engine import postgresql, sqlite_file
from tidings.engine.database import BUSY_USES, Database, columns, driver_url
from tidings.storage import migrate
from tidings.storage.accounts import users
from tidings.storage.feeds import categories, feeds
from tidings.storage.schema import feeds as feed_table
from tidings.storage.schema import users as table

NOW = Instant(0)


def add(database: Database, name: str) -> None:
    with database.writing() as db:
        users.add(db, username=name, password_hash="x", is_admin=False, now=NOW)


def count(database: Database) -> int:
    with database.reading() as db:
        return int(db.scalar(select(func.count()).select_from(table)))


def test_a_transaction_that_raises_is_rolled_back(database: Database) -> None:
    def fail() -> None:
        with database.writing() as db:
            users.add(db, username="half", password_hash="x", is_admin=False, now=NOW)
            raise RuntimeError

    with pytest.raises(RuntimeError):
        fail()

    assert count(database) == 0


def test_a_duplicate_row_is_invalid_input(database: Database) -> None:
    add(database, "alice")

    with pytest.raises(InvalidInput) as refused:
        add(database, "alice")

    assert "constraint" not in refused.value.message.lower()
    assert count(database) == 1


def test_reading_does_not_wait_for_a_writer_and_does_not_see_its_work(database: Database) -> None:
    with database.writing() as db:
        users.add(db, username="unseen", password_hash="x", is_admin=False, now=NOW)
        # A reader that waited would wait for this very block, and raise in the end.
        assert count(database) == 0

    assert count(database) == 1


def _add_many(url: str, prefix: str, times: int) -> None:
    database = Database(url)
    for number in range(times):
        add(database, f"{prefix}{number}")
    database.close()


@pytest.mark.slow
def test_no_write_is_lost_between_threads_and_processes(database: Database, database_url: str) -> None:
    spawn = multiprocessing.get_context("spawn")
    processes = [spawn.Process(target=_add_many, args=(database_url, f"p{number}-", 60)) for number in range(2)]
    threads = [threading.Thread(target=_add_many, args=(database_url, f"t{number}-", 60)) for number in range(2)]
    for process, thread in zip(processes, threads, strict=True):
        process.start()
        thread.start()
    for process, thread in zip(processes, threads, strict=True):
        process.join()
        thread.join()

    assert [process.exitcode for process in processes] == [0, 0]
    assert count(database) == 240


@pytest.mark.slow
def test_sqlite_connections_have_the_intended_settings(tmp_path: Path) -> None:
    database = Database(f"sqlite:///{tmp_path / 'one.db'}")
    migrate.upgrade(database)
    with database.reading() as db:
        pragmas = {name: db.scalar(text(f"PRAGMA {name}")) for name in ("journal_mode", "foreign_keys", "auto_vacuum")}
    database.close()

    assert pragmas == {"journal_mode": "wal", "foreign_keys": 1, "auto_vacuum": 2}


def test_postgresql_plans_for_the_values_of_each_execution(database: Database) -> None:
    """A plan for any user would read all entries of one who has most of them."""
    if database.is_sqlite:
        pytest.skip("SQLite has no plans for other values")
    with database.reading() as db:
        for number in range(12):
            db.rows(select(table.c.username).where(table.c.id == number))
        prepared = db.rows(
            text("SELECT custom_plans, generic_plans FROM pg_prepared_statements WHERE statement ~ 'users.username'")
        )

    # The first executions are not prepared yet.
    assert prepared
    assert [row["generic_plans"] for row in prepared] == [0] * len(prepared)
    assert sum(row["custom_plans"] for row in prepared) > 5


def test_an_unreachable_database_is_unavailable(tmp_path: Path) -> None:
    for url in (f"sqlite:///{tmp_path}/no/such/folder/x.db", f"postgresql://nobody@/x?host={tmp_path}"):
        database = Database(url)
        with pytest.raises(StoreUnavailable):
            count(database)
        database.close()


def cut_off(database: Database) -> None:
    """Close all idle connections, as a restart of PostgreSQL does."""
    others = "FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()"
    other = Database(database.url.render_as_string(hide_password=False))
    with other.reading() as db:
        assert db.rows(text(f"SELECT pg_terminate_backend(pid) {others}"))
        while db.scalar(text(f"SELECT count(*) {others}")):
            time.sleep(0.01)
    other.close()


def test_an_idle_connection_that_was_cut_is_replaced(database: Database, monkeypatch: pytest.MonkeyPatch) -> None:
    if database.is_sqlite:
        pytest.skip("SQLite is a file")
    monkeypatch.setattr(postgresql, "PING_AFTER_IDLE_S", 0)
    add(database, "alice")
    cut_off(database)

    assert count(database) == 1
    add(database, "bob")
    assert count(database) == 2


def test_a_connection_cut_a_moment_ago_fails_once(database: Database, monkeypatch: pytest.MonkeyPatch) -> None:
    if database.is_sqlite:
        pytest.skip("SQLite is a file")
    monkeypatch.setattr(postgresql, "PING_AFTER_IDLE_S", 3600)
    add(database, "alice")
    cut_off(database)

    with pytest.raises(StoreUnavailable):
        count(database)
    assert count(database) == 1


def test_both_spellings_of_postgresql_are_one_and_others_are_refused() -> None:
    assert driver_url("postgres://u:p@h/d") == driver_url("postgresql://u:p@h/d")
    for wrong in ("mysql://x/y", "sqlite:///:memory:", "sqlite://"):
        with pytest.raises(StartError, match="TIDINGS_DATABASE_URL"):
            driver_url(wrong)


class Swapped(Struct):
    """As `select` below, in another order, and with a field that no column fills."""

    title: str
    added: str = "as it is by default"
    id: int = 0


ID_AND_TITLE = select(literal(7).label("id"), literal("Rain").label("title"))


def test_a_record_is_filled_by_the_names_of_columns(database: Database) -> None:
    more = ID_AND_TITLE.add_columns(literal(3).label("unread"))
    with database.reading() as db:
        assert db.all(Swapped, ID_AND_TITLE) == [Swapped("Rain", id=7)]
        assert db.one(Swapped, ID_AND_TITLE) == Swapped("Rain", id=7)
        assert db.one(Swapped, ID_AND_TITLE.where(literal(1) == 2)) is None
        ((record, row),) = db.joined(Swapped, more)
        assert (record, row["unread"]) == (Swapped("Rain", id=7), 3)
        with pytest.raises(TypeError, match="unread"):
            db.all(Swapped, more)
        with pytest.raises(TypeError, match="title"):
            db.joined(Swapped, select(literal(7).label("id")))


def test_a_field_of_feeds_may_be_added_anywhere(database: Database) -> None:
    """A record with a field more, in the middle or at the end, is filled as before."""
    names = list(Feed.__struct_fields__)
    with database.writing() as db:
        user_id = users.add(db, username="alice", password_hash="x", is_admin=False, now=NOW)
        category_id = categories.add(db, user_id, title="All", title_key="all", hide_globally=False)
        given = {"category_id": category_id, "feed_url": "https://example.org/", "title": "Rain"}
        id_ = feeds.add(db, user_id, **given, created_at=NOW, checked_at=NOW, next_check_at=NOW)
    with database.reading() as db:
        feed = feeds.get(db, user_id, id_)
        assert feed is not None
        for place in (0, 20, len(names)):
            grown = [(name, Any, None) for name in [*names[:place], "added", *names[place:]]]
            (created,) = db.all(defstruct("Grown", grown), select(*columns(feed_table, Feed)))
            assert structs.asdict(created) == structs.asdict(feed) | {"added": None}


def two_connections(database: Database) -> list[sqlite3.Connection]:
    """Return two connections to a file, which nobody uses any more."""
    with database.outside_transaction() as one, database.outside_transaction() as other:
        return [one, other]


def is_open(connection: sqlite3.Connection) -> bool:
    try:
        connection.execute("SELECT 1").close()
    except sqlite3.ProgrammingError:
        return False
    return True


@pytest.fixture
def path(database: Database) -> Path:
    if not database.is_sqlite:
        pytest.skip("a server has no file")
    return Path(str(database.url.database))


def test_unused_connections_to_a_file_are_closed(database: Database, path: Path) -> None:
    unused = two_connections(database)
    with database.reading() as used:
        assert database.close_unused()
        assert used.scalar(select(func.count()).select_from(table)) == 0

    assert [is_open(connection) for connection in unused].count(True) <= 1  # that of the reader
    assert sqlite_file.is_in_use(path)  # so that nobody replaces it
    add(database, "alice")
    assert count(database) == 1


@pytest.mark.usefixtures("path")
def test_connections_that_are_used_all_the_time_are_kept(database: Database) -> None:
    unused = two_connections(database)
    for _ in range(BUSY_USES):
        database.ping()

    assert not database.close_unused()
    assert all(is_open(connection) for connection in unused)
    assert database.close_unused()
    assert not any(is_open(connection) for connection in unused)


def test_connections_to_a_deleted_file_are_kept(database: Database, path: Path) -> None:
    """A new connection would open another file, or create one."""
    add(database, "alice")
    unused = two_connections(database)
    path.unlink()

    assert database.close_unused()

    assert all(is_open(connection) for connection in unused)
    assert not path.exists()
