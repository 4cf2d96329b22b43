"""The check finds each kind of damage by itself, says what it is, and repairs what can be repaired."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from psycopg.errors import FeatureNotSupported, ForeignKeyViolation
from sqlalchemy import text

from support.entry_fixtures import FeedFixture, ready
from tidings.domain.entries.entries import EntryStatus
from tidings.engine.database import Database, is_distributed
from tidings.maintenance.integrity import AREAS, IntegrityCheck, Problem
from tidings.storage.entries import counters, labels, search_index
from tidings.storage.schema import shared_contents

pytestmark = pytest.mark.slow


def problems(database: Database, *, repair: bool = False) -> list[Problem]:
    return list(IntegrityCheck(database).run(repair=repair, progress=lambda *_: None))


@pytest.fixture
def feed(database: Database) -> FeedFixture:
    """A feed with three indexed entries, of which one has a tag, a label and an enclosure."""
    created = FeedFixture.create(database)
    ids = created.add(ready("One", "<p>rain</p>"), ready("Two", "<p>wind</p>" * 300), ready("Three"))
    with database.writing() as db:
        db.run(
            text("INSERT INTO entry_tags (user_id, tag, entry_id) VALUES (:u, 'sky', :e)"), u=created.user_id, e=ids[0]
        )
        db.run(
            text("INSERT INTO enclosures (user_id, entry_id, url) VALUES (:u, :e, 'https://a.example/a.mp3')"),
            u=created.user_id,
            e=ids[0],
        )
        labels.attach(db, created.user_id, [labels.add(db, created.user_id, "Work", "work")], ids[:1])
        search_index.index_pending(db, limit=100)
    return created


@contextmanager
def without_foreign_keys(database: Database) -> Iterator[Any]:
    """Yield a function that executes statements, as an earlier bug or a hand at the database may have."""
    with database.outside_transaction() as raw:
        raw.execute("PRAGMA foreign_keys = OFF" if database.is_sqlite else "SET session_replication_role = replica")
        try:
            yield raw.execute
        finally:
            raw.commit()  # ends a failed transaction, too
            raw.execute("PRAGMA foreign_keys = ON" if database.is_sqlite else "RESET session_replication_role")


def test_a_database_in_use_has_no_problems(database: Database, feed: FeedFixture) -> None:
    feed.add(ready("Waits to be indexed"))
    with database.writing() as db:
        db.run(text("UPDATE entries SET status = 2 WHERE title = 'Three'"))
        counters.lock_all(db, feed.user_id)
        delta = counters.CounterDelta()
        delta.add(feed.user_id, feed.feed_id, EntryStatus.UNREAD, starred=False, times=-1)
        delta.write(db)

    assert problems(database) == []


BROKEN = {
    "references: 1 rows of enclosures whose entry_id is not in entries": "UPDATE enclosures SET entry_id = 999",
    "references: 1 rows of feeds whose icon_id is not in icons": "UPDATE feeds SET icon_id = 77",
    "references: 1 feeds without a source": "UPDATE feeds SET source_id = NULL",
    "references: 1 users without the last row of their changes": "DELETE FROM changes",
    "references: 1 users without the last": "DELETE FROM list_versions",
    "owners: 3 rows of entries with another user_id than their row of feeds": "UPDATE entries SET user_id = 999",
    "owners: 3 rows of entries with another category_id": "UPDATE entries SET category_id = 999",
    "owners: 1 rows of entry_tags with another user_id": "UPDATE entry_tags SET user_id = 999",
    "owners: 1 rows of entry_labels with another user_id": "UPDATE entry_labels SET user_id = 999",
    "owners: 1 rows of entry_labels with another published_at": "UPDATE entry_labels SET published_at = 1",
    "owners: 1 entries with a label of another user": "UPDATE labels SET user_id = 999",
    "owners: 1 further categories of feeds that are another user's, or the first": (
        "INSERT INTO feed_categories (feed_id, category_id, user_id) SELECT id, category_id, user_id FROM feeds"
    ),
    "owners: 1 rows of feed_categories with another user_id": (
        "INSERT INTO feed_categories (feed_id, category_id, user_id) SELECT id, category_id, 999 FROM feeds"
    ),
    "references: 1 rows of entry_labels whose entry_id": "UPDATE entry_labels SET entry_id = 999",
    "owners: 1 rows of enclosures with another user_id": "UPDATE enclosures SET user_id = 999",
    "references: 1 folded entries that no other": "UPDATE entries SET status = 3 WHERE title = 'One'",
    "bodies: 1 entries without a body": (
        "DELETE FROM entry_contents WHERE entry_id = (SELECT min(entry_id) FROM entry_contents)"
    ),
    "references: 3 rows of entry_contents whose shared_id is not in shared_contents": (
        "UPDATE entry_contents SET shared_id = 99"
    ),
    "counters: 1 feeds without counters": "DELETE FROM feed_counters",
    "counters: 1 feeds whose counters differ from their entries": (
        'UPDATE feed_counters SET unread = 0, "read" = 7, starred_unread = 1'
    ),
    "counters: 1 queues whose counters": (
        "INSERT INTO receivers (user_id, integration, address_digest, pending, pending_bytes)"
        " SELECT id, 'webhook', password_hash::bytea, 5, 70 FROM users"
    ),
}


@pytest.mark.slow
@pytest.mark.parametrize(("says", "statement"), BROKEN.items(), ids=[name.split(" ", 2)[2] for name in BROKEN])
def test_what_should_never_be_is_found_and_repaired(
    database: Database, feed: FeedFixture, says: str, statement: str
) -> None:
    if database.is_sqlite:
        statement = statement.replace("password_hash::bytea", "CAST(password_hash AS BLOB)")
    try:
        with without_foreign_keys(database) as execute:
            execute(statement)
    except (ForeignKeyViolation, FeatureNotSupported):
        with database.reading() as db:
            assert is_distributed(db.connection)
        pytest.skip("a distributed database refuses this damage: its keys contain the owner")

    found = problems(database)
    assert [one for one in found if f"{one.area}: {one.text}".startswith(says) and not one.is_repaired], found
    assert problems(database) == found

    repaired = problems(database, repair=True)
    assert {(one.area, one.is_repaired) for one in repaired} == {(one.area, True) for one in repaired}
    assert problems(database) == []
    assert {one.area for one in repaired} <= set(AREAS)


def test_repaired_counters_are_those_of_the_entries(database: Database, feed: FeedFixture) -> None:
    with database.writing() as db:
        db.run(text("UPDATE entries SET starred = true, status = 1 WHERE title = 'One'"))
        db.run(text("UPDATE entries SET starred = true WHERE title = 'Two'"))

    assert [one.text for one in problems(database, repair=True)] == ["1 feeds whose counters differ from their entries"]

    with database.reading() as db:
        assert counters.list_all(db, feed.user_id) == [counters.FeedCounters(feed.feed_id, 2, 1, 1, 1)]


@pytest.mark.slow
def test_entries_missing_in_the_index_are_found_and_indexed_again(database: Database, feed: FeedFixture) -> None:
    table = "search_documents" if database.is_sqlite else "search_vectors"
    with database.writing() as db:
        db.run(text(f"DELETE FROM {table} WHERE entry_id = (SELECT min(entry_id) FROM {table})"))
    assert "1 entries that no search finds" in [one.text for one in problems(database)]

    problems(database, repair=True)
    with database.writing() as db:
        search_index.index_pending(db, limit=100)

    assert feed.titles("rain") == ["One"]
    assert problems(database) == []


@pytest.mark.slow
@pytest.mark.parametrize("column", ["content", "other_content"])
def test_a_damaged_body_is_named_and_replaced_by_an_empty_one(
    database: Database, feed: FeedFixture, column: str
) -> None:
    with database.writing() as db:
        entry_id = db.scalar(text("SELECT id FROM entries WHERE title = 'Two'"))
        damaged = "X'01ffff'" if database.is_sqlite else "'\\x01ffff'"
        db.connection.exec_driver_sql(f"UPDATE entry_contents SET {column} = {damaged} WHERE entry_id = {entry_id}")

    (found,) = problems(database)
    assert found == Problem("bodies", f"1 entries whose body is damaged (ids {entry_id})")

    assert problems(database, repair=True) == [Problem(found.area, found.text, is_repaired=True)]
    assert problems(database) == []


@pytest.mark.slow
def test_a_damaged_shared_body_is_replaced_for_all_who_have_it(database: Database, feed: FeedFixture) -> None:
    with database.writing() as db:
        ids = db.scalars(text("SELECT id FROM entries WHERE title <> 'Three' ORDER BY id"))
        row = {"source_id": 1, "digest": b"1", "content": "<p>Rain</p>"}
        shared_id = db.insert(shared_contents.insert().values(row))
        db.run(text(f"UPDATE entry_contents SET shared_id = {shared_id} WHERE entry_id IN ({ids[0]}, {ids[1]})"))
    assert problems(database) == []
    with database.writing() as db:
        damaged = "X'01ffff'" if database.is_sqlite else "'\\x01ffff'"
        db.connection.exec_driver_sql(f"UPDATE shared_contents SET content = {damaged}")

    (found,) = problems(database)
    assert found == Problem("bodies", f"2 entries whose body is damaged (ids {ids[0]}, {ids[1]})")

    assert problems(database, repair=True) == [Problem(found.area, found.text, is_repaired=True)]
    assert problems(database) == []
    with database.reading() as db:
        assert db.scalar(text("SELECT count(*) FROM shared_contents")) == 0


def test_a_damaged_search_index_is_rebuilt(database: Database, feed: FeedFixture) -> None:
    if not database.is_sqlite:
        pytest.skip("PostgreSQL checks its own indexes (pg_amcheck)")
    with database.writing() as db:
        db.run(text("UPDATE entry_words_data SET block = X'00' WHERE id > 10"))

    assert sorted({one.area for one in problems(database)}) == ["search"]
    assert all(one.is_repaired for one in problems(database, repair=True))
    with database.writing() as db:
        search_index.index_pending(db, limit=100)

    assert problems(database) == []
    assert feed.titles("wind") == ["Two"]


def test_entries_whose_search_terms_are_missing_are_found_and_indexed_again(
    database: Database, feed: FeedFixture
) -> None:
    if not database.is_sqlite:
        pytest.skip("PostgreSQL has the terms in the index alone")
    with without_foreign_keys(database) as execute:
        execute("UPDATE search_documents SET terms_id = 99 WHERE word_count > 1")
    assert "1 entries that differ between the parts of the index" in [one.text for one in problems(database)]

    assert all(one.is_repaired for one in problems(database, repair=True))
    with database.writing() as db:
        search_index.index_pending(db, limit=100)

    assert problems(database) == []
    assert feed.titles("wind") == ["Two"]


def test_an_index_that_lacks_rows_is_rebuilt(database: Database, feed: FeedFixture) -> None:
    if not database.is_sqlite:
        pytest.skip("PostgreSQL checks its own indexes (pg_amcheck)")
    named = "WHERE name = 'ix_entries_user_changed'"
    with database.outside_transaction() as raw:
        index = raw.execute(f"SELECT type, name, tbl_name, rootpage, sql FROM sqlite_schema {named}").fetchone()
        raw.execute("PRAGMA writable_schema = ON")
        raw.execute(f"DELETE FROM sqlite_schema {named}")
        raw.execute("PRAGMA writable_schema = RESET")
        raw.execute("UPDATE entries SET changed_at = changed_at + 1")
        raw.execute("PRAGMA writable_schema = ON")
        raw.execute("INSERT INTO sqlite_schema VALUES (?, ?, ?, ?, ?)", index)
        raw.execute("PRAGMA writable_schema = RESET")
    database.close()

    found = problems(database)
    assert found
    assert {one.area for one in found} == {"file"}

    assert all(one.is_repaired for one in problems(database, repair=True))
    assert problems(database) == []


def test_a_damaged_file_is_reported_and_nothing_else_is_read(database: Database, feed: FeedFixture) -> None:
    if not database.is_sqlite:
        pytest.skip("SQLite only")
    path = Path(str(database.url.database))
    database.close()
    with path.open("r+b") as file:
        for page in range(4, path.stat().st_size // 4096):
            file.seek(page * 4096)
            file.write(b"\xff" * 300)

    for repair in (False, True):
        found = problems(database, repair=repair)
        assert {(one.area, one.is_repaired) for one in found} == {("file", False)}
