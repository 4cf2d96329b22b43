"""Whatever its fields, a query reads no large table as a whole, and sorts no archive."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from storage.test_plans import explained, work_of
from support import archive as archives
from support import distributed
from support.archive import Archive
from support.databases import Databases
from support.entry_fixtures import NOW
from tidings.domain.entries.entries import Direction, EntryFilter, EntryStatus, Order, PageRequest, Total
from tidings.engine.database import Database
from tidings.query import parse
from tidings.query.model import DatedQuery
from tidings.storage.entries import entry_lists, unread_counts

pytestmark = pytest.mark.slow

QUERIES = (
    "n77", "rain", "-rain", "rai*", "title:n77", "text:rain -title:rain", "author:4", "-author:4", "url:example",
    "url:/7/", "site:example.org", "feed:1", "category:1", "label:large", "label:*", "-label:*", "tag:'tag 3'",
    "tag:*", "tag:tag*", "lang:de", "has:enclosure", "has:audio", "has:image", "has:video", "is:unread",
    "is:read", "is:starred", "is:shared", "-is:shared", "is:hidden", "-is:hidden", "is:duplicate",
    "-is:duplicate is:unread", "words>5", "minutes>2",
    "published:7d", "published:>1y", "changed:1d", "added:1d", "read:7d", "title:/7$/", "-title:/7$/", "author:/4/",
    "n77 OR is:starred", "rain (is:unread OR has:audio)", "-(rain is:unread) words>3", "L:1", "f:1", "c:1",
)  # fmt: skip
BOUND = 10_000
ORDERS = (Order.PUBLISHED_AT, Order.ID, Order.CHANGED_AT)


@pytest.fixture(scope="module")
def archive(databases: Databases) -> Iterator[Archive]:
    distributed.skip_plans(databases)
    with databases.migrated() as url:
        database = Database(url)
        yield archives.build(database, has_enclosures=True)
        database.close()


# One test for all: each process that takes part builds an archive of its own, which takes longer than the queries.
def test_queries_are_answered_from_indexes(archive: Archive) -> None:
    complaints = {
        (query, order, up_to): _complaints(
            archive, query, PageRequest(order=order, direction=Direction.DESC, count_up_to=up_to)
        )
        for query in QUERIES
        for order, up_to in [(order, BOUND) for order in ORDERS] + [(Order.PUBLISHED_AT, None)]
    }

    assert {case: found for case, found in complaints.items() if found} == {}


def test_unread_entries_of_all_queries_are_counted_from_indexes_in_one_statement(archive: Archive) -> None:
    queries = {number: DatedQuery(parse(query), NOW, "UTC") for number, query in enumerate(QUERIES)}

    with explained(archive.database) as plans, archive.database.reading() as db:
        counts = unread_counts.count(db, archive.user_id, queries, up_to=1_000)

    assert [found for plan in plans if (found := plan.complaints())] == []
    assert len({plan.statement for plan in plans if plan.statement.count("UNION ALL") > 9}) == 1
    with archive.database.reading() as db:
        for number, query in queries.items():
            unread = EntryFilter(statuses=(EntryStatus.UNREAD,), query=query)
            expected = entry_lists.page_ids(db, archive.user_id, unread, PageRequest(limit=1))[1]
            shown = Total(min(expected.number, 1_000), is_exact=expected.number <= 1_000)
            assert counts[number] == shown or counts[number] == expected, QUERIES[number]


def test_a_rare_word_in_a_feed_is_counted_from_its_matches(archive: Archive) -> None:
    """Counted, not timed: thousands of SQLite's steps, and pages of PostgreSQL; three times what it is."""
    query = DatedQuery(parse("n77 feed:1"), NOW, "UTC")
    with archive.database.reading() as db:
        work = work_of(db, lambda: unread_counts.count(db, archive.user_id, {1: query}, up_to=1_000))
    assert work.result[1].is_exact
    assert 0 < work.total < (4 if archive.database.is_sqlite else 900)


def _complaints(archive: Archive, query: str, page: PageRequest) -> list[str]:
    asked = EntryFilter(query=DatedQuery(parse(query), NOW, "UTC"))
    with explained(archive.database) as plans, archive.database.reading() as db:
        entry_lists.page(db, archive.user_id, asked, page)
    return [found for plan in plans if (found := plan.complaints())]
