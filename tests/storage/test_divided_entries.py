"""Entries that an earlier version divided into partitions by user: they are migrated, used and moved as any others."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest
from sqlalchemy import func, select, text

from support import every_table
from support.databases import PostgresDatabases
from support.divided_entries import divide
from support.entry_fixtures import NOW, FeedFixture, ready
from tidings.base.times import Instant
from tidings.domain.entries.entries import EntryStatus
from tidings.engine.database import Database
from tidings.maintenance.integrity import IntegrityCheck
from tidings.maintenance.status import StatusReader
from tidings.maintenance.store import table_copy
from tidings.maintenance.store.move import move
from tidings.services.clock import system_clock
from tidings.storage import migrate, schema_revision
from tidings.storage.entries import entries as entry_storage
from tidings.storage.feeds import feeds
from tidings.storage.schema import entries

# Each with its definition; PostgreSQL makes more of them for each partition.
KEYS = text(
    r"SELECT conrelid\:\:regclass\:\:text AS table, conname AS name, pg_get_constraintdef(oid) AS definition"
    r" FROM pg_constraint WHERE connamespace = 'public'\:\:regnamespace AND conparentid = 0 ORDER BY 1, 2"
)


@pytest.fixture
def one_server(postgres_url: str) -> Iterator[PostgresDatabases]:
    """Databases of one server, even if the others of this run are distributed."""
    with closing(PostgresDatabases(postgres_url)) as databases:
        yield databases


@pytest.fixture
def divided(one_server: PostgresDatabases) -> Iterator[Database]:
    """A database with today's schema, whose entries are divided."""
    with one_server.migrated() as url:
        divide(url)
        with closing(Database(url)) as database:
            yield database


def test_a_divided_database_of_an_earlier_schema_is_migrated(one_server: PostgresDatabases, divided: Database) -> None:
    with one_server.empty() as url:
        earlier = Database(url)
        migrate.upgrade(earlier, "0036")
        every_table.fill_described(earlier, 30)
        divide(url)

        assert migrate.upgrade(earlier)[-1] == schema_revision.current()

        with earlier.reading() as migrated, divided.reading() as today:
            assert migrated.rows(KEYS) == today.rows(KEYS)
            assert table_copy.count_rows(migrated, entries) == 30
        earlier.close()


def test_a_divided_database_is_used_and_moved_as_any_other(divided: Database, tmp_path: Path) -> None:
    one, other = FeedFixture.create(divided), FeedFixture.create(divided)
    ids = one.add(ready("A", "apple"), ready("B"))
    other.add(ready("C"))

    with divided.writing() as db:
        entry_storage.mark_read(db, one.user_id, now=Instant(NOW))
    assert sorted(one.titles(statuses=(EntryStatus.READ,))) == ["A", "B"]
    assert other.titles(statuses=(EntryStatus.UNREAD,)) == ["C"]
    assert list(IntegrityCheck(divided).run(repair=False, progress=lambda *_: None)) == []
    status = StatusReader(divided, system_clock).read()
    assert (status.entries_read, status.entries_unread) == (2, 1)

    with divided.writing() as db:
        feeds.remove(db, one.user_id, one.feed_id)
    with divided.reading() as db:
        assert db.scalar(select(func.count()).select_from(entries).where(entries.c.id.in_(ids))) == 0
    target = Database(f"sqlite:///{tmp_path}/target.db")
    assert move(divided, target, restart=False, progress=lambda *_: None)["entries"].rows == 1
    target.close()
