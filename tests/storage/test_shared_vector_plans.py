"""A search in vectors that entries of several users have finds the same as in each user's own, from indexes."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import pytest
from sqlalchemy import text

from storage.test_plans import explained, work_of
from support import archive as archives
from support import distributed
from support.archive import Archive
from support.databases import Databases
from support.entry_fixtures import NOW
from tidings.domain.entries.entries import Direction, EntryFilter, EntryStatus, Order, PageRequest
from tidings.engine.database import Database
from tidings.query import parse
from tidings.query.model import DatedQuery
from tidings.storage.entries import entry_lists

pytestmark = pytest.mark.slow


def asked(query: str) -> EntryFilter:
    return EntryFilter(query=DatedQuery(parse(query), NOW, "UTC"))


WANTED = {
    "a rare word": EntryFilter(search="n77"),
    "a frequent word": EntryFilter(search="rain"),
    "unread, a frequent word": EntryFilter(search="rain", statuses=(EntryStatus.UNREAD,)),
    "a beginning": EntryFilter(search="rai*"),
    "two words": EntryFilter(search="rain n76"),
    "without a frequent word": EntryFilter(search="-rain"),
    "starred, two words": EntryFilter(search="rain -n76", starred=True),
    "a query": asked("n77"),
    "a query of a rare word or a star": asked("n77 OR is:starred"),
    "a query of a frequent word": asked("rain (is:unread OR n77)"),
    "a query without both": asked("-(rain is:unread)"),
}
PAGES = {
    "exact": PageRequest(limit=100, order=Order.PUBLISHED_AT, direction=Direction.DESC),
    "up to 1,000": PageRequest(limit=100, order=Order.ID, count_up_to=1_000),
}
Found = tuple[list[int], int]


def found(database: Database, user_id: int) -> dict[tuple[str, str], Found]:
    with database.reading() as db:
        pages = {
            (name, kind): entry_lists.page(db, user_id, wanted, page)
            for name, wanted in WANTED.items()
            for kind, page in PAGES.items()
        }
    return {key: ([entry.id for entry in page.entries], page.total.number) for key, page in pages.items()}


@dataclass(frozen=True)
class SharedArchive:
    """An archive whose vectors are shared, and what was found before."""

    archive: Archive
    before: dict[tuple[str, str], Found]


@pytest.fixture(scope="module")
def shared(databases: Databases) -> Iterator[SharedArchive]:
    distributed.skip_plans(databases)
    with databases.migrated() as url:
        database = Database(url)
        if database.is_sqlite:
            database.close()
            pytest.skip("only PostgreSQL has vectors")
        archive = archives.build(database)
        before = found(database, archive.user_id)
        share(database)
        yield SharedArchive(archive, before)
        database.close()


def share(database: Database) -> None:
    """Let each entry have a shared vector, and one in seven its own; strangers have as many of the same sources."""
    words = "CAST(replace(CAST(words AS text), '''' || search_vectors.user_id || '/', '''/') AS tsvector)"
    with database.writing() as db:
        db.run(text("SET LOCAL session_replication_role = replica"))
        for first in (0, 1_000_000):
            db.run(
                text(
                    "INSERT INTO shared_vectors (id, content_id, source_id, digest, words)"
                    f" SELECT entry_id + {first}, entry_id + {first}, source_id, '', {words}"
                    " FROM search_vectors JOIN entries ON entries.id = entry_id JOIN feeds ON feeds.id = feed_id"
                )
            )
        db.run(text("INSERT INTO search_sources SELECT DISTINCT user_id, source_id FROM feeds"))
        db.run(text("UPDATE search_vectors SET vector_id = entry_id, words = NULL WHERE entry_id % 7 <> 3"))
    with database.outside_transaction() as raw:
        raw.execute("SET default_statistics_target = 1000")
        raw.execute("VACUUM (FULL, ANALYZE) search_vectors")
        raw.execute("VACUUM ANALYZE")


def test_searches_find_the_same_in_shared_vectors(shared: SharedArchive) -> None:
    assert found(shared.archive.database, shared.archive.user_id) == shared.before
    assert shared.before["a frequent word", "exact"][1] > 20_000


def test_shared_vectors_are_searched_in_their_indexes(shared: SharedArchive) -> None:
    with explained(shared.archive.database) as plans:
        found(shared.archive.database, shared.archive.user_id)

    assert [complaint for plan in plans if (complaint := plan.complaints())] == []
    assert any("shared_vectors" in plan.statement for plan in plans)


@pytest.mark.parametrize(("name", "kind", "most"), [("a rare word", "exact", 1_600), ("two words", "exact", 2_000)])
def test_a_search_for_rare_words_in_shared_vectors_is_little_work(
    shared: SharedArchive, name: str, kind: str, most: int
) -> None:
    with shared.archive.database.reading() as db:
        work = work_of(db, lambda: entry_lists.page(db, shared.archive.user_id, WANTED[name], PAGES[kind]))

    assert work.total <= most
