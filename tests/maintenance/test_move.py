"""Moving everything between engines: equal by digest, resumable, and never half unnoticed."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from sqlalchemy import select, text

from support.entry_fixtures import FeedFixture, ready
from support.every_table import fill
from tidings.base.errors import StartError
from tidings.engine import sequences
from tidings.engine.database import Database
from tidings.maintenance.store import table_copy
from tidings.maintenance.store.move import move
from tidings.storage import migrate
from tidings.storage.entries import search_index
from tidings.storage.schema import categories, users

pytestmark = pytest.mark.slow


# Of each table. Of those with large rows: two pages, and a part of one.
ROWS = 23


class Interrupted(Exception):
    pass


def no_progress(_done: int, _total: int) -> None:
    pass


def interrupt_after(rows: int) -> Callable[[int, int], None]:
    def progress(done: int, _total: int) -> None:
        if done >= rows:
            raise Interrupted

    return progress


@pytest.fixture(autouse=True)
def small_pages(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let a page of large rows have ten."""
    monkeypatch.setattr(table_copy, "SMALL_PAGE_SIZE", 10)


@pytest.fixture(scope="module")
def original(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An SQLite file with rows in every table."""
    file = tmp_path_factory.mktemp("origin") / "origin.db"
    database = Database(f"sqlite:///{file}")
    migrate.upgrade(database)
    with database.writing() as db:
        fill(db, ROWS)
    database.close()
    return file


@pytest.fixture
def origin(original: Path, tmp_path: Path) -> Iterator[Database]:
    """A copy of that file, opened."""
    database = Database(f"sqlite:///{shutil.copy(original, tmp_path)}")
    yield database
    database.close()


@pytest.fixture
def target(empty_database_url: str) -> Iterator[Database]:
    """An empty database of the engine of the test."""
    database = Database(empty_database_url)
    yield database
    database.close()


def digests(database: Database) -> dict[str, table_copy.TableDigest]:
    with database.reading() as db:
        return {table.name: table_copy.digest(db, table) for table in table_copy.tables()}


def test_everything_arrives_and_comes_back_equal_by_digest(origin: Database, target: Database, tmp_path: Path) -> None:
    returned = Database(f"sqlite:///{tmp_path}/returned.db")

    there = move(origin, target, restart=False, progress=no_progress)
    back = move(target, returned, restart=False, progress=no_progress)

    assert there == back == digests(origin) == digests(target) == digests(returned)
    assert {found.rows for found in there.values()} == {ROWS}
    for database in (target, returned):
        migrate.check(database)
        with database.reading() as db:
            assert db.scalar(text("SELECT count(*) FROM search_pending")) == ROWS
    returned.close()


def test_an_id_that_was_given_out_is_not_given_out_again(origin: Database, target: Database) -> None:
    with origin.writing() as db:
        db.run(categories.insert().values(id=9000, user_id=1, title="gone", title_key="gone"))
        db.run(categories.delete().where(categories.c.id == 9000))

    move(origin, target, restart=False, progress=no_progress)

    with target.writing() as db:
        assert db.insert(categories.insert().values(user_id=1, title="new", title_key="new")) == 9001


def test_ids_beyond_32_bits_arrive(database: Database, tmp_path: Path) -> None:
    feed_fixture = FeedFixture.create(database)
    with database.writing() as db:
        sequences.write(db, {"entries": 2**40})
    (entry_id,) = feed_fixture.add(ready("One", "<p>body</p>"))
    other = Database(f"sqlite:///{tmp_path}/other.db")

    move(database, other, restart=False, progress=no_progress)

    assert entry_id == 2**40 + 1
    moved = FeedFixture(other, feed_fixture.user_id, feed_fixture.category_id, feed_fixture.feed_id)
    assert moved.titles() == ["One"]
    assert moved.add(ready("Two")) == [entry_id + 1]
    other.close()


def test_an_interrupted_move_goes_on_where_it_stopped(origin: Database, target: Database) -> None:
    with pytest.raises(Interrupted):
        move(origin, target, restart=False, progress=interrupt_after(300))
    for open_it in (migrate.check, migrate.upgrade):
        with pytest.raises(StartError, match=r"A move into the database .* is not complete"):
            open_it(target)

    reported: list[int] = []
    move(origin, target, restart=False, progress=lambda done, _total: reported.append(done))

    assert reported[0] > 300
    assert reported[-1] == 2 * ROWS * len(table_copy.tables())
    assert digests(target) == digests(origin)
    migrate.check(target)


def test_a_change_between_two_parts_of_a_move_is_noticed(origin: Database, target: Database) -> None:
    with pytest.raises(Interrupted):
        move(origin, target, restart=False, progress=interrupt_after(300))
    with origin.writing() as db:
        db.run(users.update().where(users.c.id == 1).values(theme="changed"))

    with pytest.raises(StartError, match=r"The databases differ in users: .* --restart"):
        move(origin, target, restart=False, progress=no_progress)
    with pytest.raises(StartError, match="is not complete"):
        migrate.check(target)

    move(origin, target, restart=True, progress=no_progress)
    assert digests(target) == digests(origin)


def test_a_target_that_holds_something_is_refused_and_left_as_it_is(origin: Database, database: Database) -> None:
    FeedFixture.create(database)
    before = digests(database)

    for restart in (False, True):
        with pytest.raises(StartError, match="is not empty"):
            move(origin, database, restart=restart, progress=no_progress)
    with pytest.raises(StartError, match="the same"):
        move(
            database, Database(database.url.render_as_string(hide_password=False)), restart=False, progress=no_progress
        )

    assert digests(database) == before
    migrate.check(database)


def test_searches_find_moved_entries_once_they_are_indexed(database: Database, tmp_path: Path) -> None:
    feed = FeedFixture.create(database)
    feed.add(ready("Rain tomorrow"), ready("Sun today"))
    moved = Database(f"sqlite:///{tmp_path}/moved.db")

    move(database, moved, restart=False, progress=no_progress)
    with moved.writing() as db:
        search_index.index_pending(db, limit=10)

    there = FeedFixture(moved, feed.user_id, feed.category_id, feed.feed_id)
    assert there.titles("rain") == ["Rain tomorrow"]
    moved.close()


def test_a_row_that_the_other_engine_refuses_is_named(origin: Database, target: Database) -> None:
    with origin.writing() as db:
        db.connection.exec_driver_sql("UPDATE users SET theme = 'a' || char(0) WHERE id = 5")
    if target.is_sqlite:
        move(origin, target, restart=False, progress=no_progress)
        return

    with pytest.raises(StartError, match="table users cannot be copied"):
        move(origin, target, restart=False, progress=no_progress)


def test_pages_come_in_the_order_of_the_key_and_begin_behind_a_row(origin: Database) -> None:
    table = table_copy.tables()[0]
    key = next(iter(table.primary_key))
    with origin.reading() as db:
        ids = db.scalars(select(key).order_by(key))
        rows = [row for page in table_copy.pages(db, table, [ids[9]]) for row in page]

    assert len(rows) == ROWS - 10
