"""Entries divided into partitions by user: nothing is lost, and statements read the partition of their user."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Any

import pytest
from sqlalchemy import event, func, select, text

from support import archive as archives
from support.archive import Archive
from support.databases import Databases
from support.entry_fixtures import NOW
from tidings.base.errors import StartError
from tidings.base.times import Instant
from tidings.domain.entries.entries import EntryFilter, EntryStatus, PageRequest
from tidings.engine import partitions, statements
from tidings.engine.database import Database
from tidings.maintenance.integrity import IntegrityCheck, Problem
from tidings.maintenance.store import table_copy
from tidings.storage import migrate, schema_revision
from tidings.storage.entries import entries as entry_storage
from tidings.storage.entries import entry_lists
from tidings.storage.feeds import feeds
from tidings.storage.schema import entries, entry_contents, entry_tags, feed_counters, metadata

COUNT = 4
DIVIDED = (entries, entry_contents, entry_tags, feed_counters)


@pytest.fixture
def archive(databases: Databases) -> Iterator[Archive]:
    with databases.migrated() as url:
        database = Database(url)
        if database.is_sqlite:
            pytest.skip("SQLite has no partitions")
        built = archives.build(database, (600, 300, 100), has_removed=False)
        with database.writing() as db:
            bodies = "SELECT id, user_id, decode('0041', 'hex') FROM entries"
            db.run(text(f"INSERT INTO entry_contents (entry_id, user_id, content) {bodies}"))
        yield built
        database.close()


def test_dividing_keeps_every_row_and_the_last_ids(archive: Archive) -> None:
    with archive.database.reading() as db:
        before = {table.name: table_copy.digest(db, table) for table in table_copy.tables()}
        ids = table_copy.last_ids(db)
    problems_before = problems(archive.database)

    assert migrate.partition(archive.database, COUNT)

    with archive.database.reading() as db:
        assert {table.name: table_copy.digest(db, table) for table in table_copy.tables()} == before
        assert table_copy.last_ids(db) == ids
        assert partitions.count(db, entries.name) == COUNT
        for table in DIVIDED:
            places = db.rows(text(f"SELECT user_id, count(DISTINCT tableoid) AS places FROM {table.name} GROUP BY 1"))
            assert [row["places"] for row in places] == [1, 1, 1], table.name
    with archive.database.writing() as db:
        assert statements.take_ids(db, entries, 1) == [ids["entries"] + 1]
    assert problems(archive.database) == problems_before
    migrate.check(archive.database)


def problems(database: Database) -> list[Problem]:
    return list(IntegrityCheck(database).run(repair=False, progress=lambda *_: None))


def test_a_division_is_for_good_and_repeating_it_changes_nothing(archive: Archive) -> None:
    assert migrate.partition(archive.database, COUNT)
    assert not migrate.partition(archive.database, COUNT)

    with pytest.raises(StartError, match="divided into 4 partitions, which cannot be changed to 8"):
        migrate.partition(archive.database, 8)
    assert migrate.upgrade(archive.database) == []


def test_a_divided_database_of_an_earlier_schema_is_upgraded_to_the_same_tables(databases: Databases) -> None:
    with databases.empty() as earlier_url, databases.migrated() as url:
        earlier, current = Database(earlier_url), Database(url)
        if current.is_sqlite:
            pytest.skip("SQLite has no partitions")
        migrate.upgrade(earlier, "0036")
        migrate.partition(earlier, COUNT)
        assert migrate.upgrade(earlier)[-1] == schema_revision.current()
        migrate.partition(current, COUNT)

        def keys(database: Database) -> Sequence[Any]:
            with database.reading() as db:
                return db.rows(text(_KEYS))

        assert keys(earlier) == keys(current)
        for database in (earlier, current):
            database.close()


# Each with its definition; PostgreSQL makes more of them for each partition.
_KEYS = """
SELECT conrelid::regclass::text AS table, conname AS name, pg_get_constraintdef(oid) AS definition
FROM pg_constraint WHERE connamespace = 'public'::regnamespace AND conparentid = 0 ORDER BY 1, 2
"""


def test_a_failed_division_changes_nothing(archive: Archive) -> None:
    with archive.database.writing() as db:
        db.run(text("CREATE TABLE undivided_feed_counters (in_the_way integer)"))

    with pytest.raises(StartError, match="undivided_feed_counters"):
        migrate.partition(archive.database, COUNT)

    with archive.database.reading() as db:
        assert partitions.count(db, entries.name) == 0
        assert db.scalar(select(func.count()).select_from(entries)) == 1_000


def test_rows_that_contradict_each_other_are_refused_with_what_to_do(archive: Archive) -> None:
    with archive.database.writing() as db:
        db.run(text("UPDATE entry_contents SET user_id = user_id + 1000 WHERE entry_id = 1"))

    with pytest.raises(StartError, match="tidings check --repair"):
        migrate.partition(archive.database, COUNT)


def test_sqlite_is_refused(database: Database) -> None:
    if not database.is_sqlite:
        pytest.skip("the other engine has partitions")

    with pytest.raises(StartError, match="needs PostgreSQL"):
        migrate.partition(database, COUNT)


def test_what_belongs_to_a_deleted_feed_goes_with_it(archive: Archive) -> None:
    migrate.partition(archive.database, COUNT)
    of_feed = select(entries.c.id).where(entries.c.feed_id == archive.feed_id)
    with archive.database.reading() as db:
        ids = db.scalars(of_feed)
    assert len(ids) > 1

    with archive.database.writing() as db:
        feeds.remove(db, archive.user_id, archive.feed_id)

    with archive.database.reading() as db:
        for table in metadata.tables.values():
            if "entry_id" in table.c and table.info.get("engine") != "sqlite" and table.name != "search_pending":
                found = select(func.count()).select_from(table).where(table.c.entry_id.in_(ids))
                assert db.scalar(found) == 0, table.name


def test_statements_that_name_the_user_read_one_partition(archive: Archive) -> None:
    migrate.partition(archive.database, COUNT)
    user_id, plans = archive.user_id, []

    @event.listens_for(archive.database.engine, "before_cursor_execute")
    def explain(_connection: Any, cursor: Any, statement: str, parameters: Any, _context: Any, is_many: bool) -> None:
        if (
            not is_many
            and re.match(r"SELECT|UPDATE|WITH", statement)
            and re.search("|".join(t.name for t in DIVIDED), statement)
        ):
            cursor.execute(f"EXPLAIN {statement}", parameters)
            plans.append("\n".join(row[0] for row in cursor.fetchall()))

    for entry_filter in (
        EntryFilter(),
        EntryFilter(statuses=(EntryStatus.UNREAD,)),
        EntryFilter(feed_id=archive.feed_id),
        EntryFilter(category_id=archive.category_id),
        EntryFilter(tags=("tag 3",)),
        EntryFilter(starred=True),
    ):
        with archive.database.reading() as db:
            assert entry_lists.page(db, user_id, entry_filter, PageRequest(limit=10)).entries
    with archive.database.writing() as db:
        entry_storage.get(db, user_id, 1)
        entry_storage.mark_read(db, user_id, now=Instant(NOW))

    assert len(plans) > 12
    several = [plan for plan in plans if any(len(read(plan, table.name)) > 1 for table in DIVIDED)]
    assert several == []


def read(plan: str, table: str) -> set[str]:
    """Return the partitions of a table that a plan reads."""
    return set(re.findall(rf"\bon ({table}_\d+)\b", plan))
