"""Looking for duplicates reads no large table as a whole, however many there are."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial

import pytest
from sqlalchemy import text

from storage.test_plans import LARGE, explained
from support import archive as archives
from support import distributed
from support.archive import Archive
from support.databases import Databases
from support.entry_fixtures import NOW
from tidings.base.times import DAY, Instant
from tidings.domain.entries.entries import Direction, EntryFilter, EntryStatus, Folded, PageRequest
from tidings.duplicates import store
from tidings.duplicates.matching import Keys
from tidings.duplicates.store import Found
from tidings.engine.database import Database, Read, Write
from tidings.query import parse
from tidings.query.model import DatedQuery
from tidings.storage.entries import duplicates, entries, entry_lists, folded

pytestmark = pytest.mark.slow

# The first user has most entries, as in the archive of `storage.test_plans`. It has more of them; but each statement
# here finds a few hundred by their keys, and reading all of thirty thousand is as wrong a plan for that.
SHARES = (12_000, 10_000, 8_000)
# Every tenth entry repeats the one before it, and is folded.
FILL = """
INSERT INTO duplicate_keys (entry_id, user_id, address, identity, title, published_at)
    SELECT id, user_id, id * 7919, id * 104729, id % 5000, published_at FROM entries;
INSERT INTO duplicates (entry_id, user_id, original_id, status, original_status, found_at, compared)
    SELECT id, user_id, id - 1, 0, 0, published_at, id % 500 > 0 FROM entries WHERE id % 10 = 0;
UPDATE entries SET status = 3 WHERE id % 10 = 0;
INSERT INTO page_addresses (entry_id, user_id, url, address)
    SELECT id, user_id, '', id * 7919 FROM entries WHERE id % 5 = 0;
ANALYZE
"""


@pytest.fixture(scope="module")
def archive(databases: Databases) -> Iterator[Archive]:
    distributed.skip_plans(databases)
    with databases.migrated() as url:
        database = Database(url)
        built = archives.build(database, SHARES)
        with database.writing() as db:
            for statement in FILL.split(";"):
                db.run(text(statement))
        yield built
        database.close()


def page_for_apps(db: Read, archive: Archive, *, statuses: tuple[EntryStatus, ...], folded_as: Folded) -> None:
    for feed_id in (None, archive.feed_id):
        entry_filter = EntryFilter(statuses=statuses, folded=folded_as, feed_id=feed_id)
        entry_lists.page(db, archive.user_id, entry_filter, PageRequest())
        entry_lists.id_page(db, archive.user_id, entry_filter, direction=Direction.DESC, limit=1_000)


IDS = list(range(1000, 1200))
KEYS = [Keys(id_ * 7919, id_ * 104729, id_ % 5000) for id_ in IDS]
STEPS: dict[str, list[Callable[[Write, Archive], object]]] = {
    "new entries": [
        lambda db, a: store.by_ids(db, a.user_id, IDS),
        lambda db, a: store.ids_with_keys(db, a.user_id, KEYS, Instant(NOW - DAY), NOW),
        lambda db, a: store.feeds_naming(db, a.user_id, IDS),
        lambda db, a: store.members(db, a.user_id, IDS),
        lambda db, a: store.add(db, a.user_id, [Found(1001, a.feed_id, 1000, 0, 0)], compared=False, now=NOW),
        lambda db, a: store.set_status(db, a.user_id, {1001: EntryStatus.FOLDED}),
    ],
    "what is left to do": [
        lambda db, a: store.batch(db, a.user_id, 500, 200),
        lambda db, a: store.uncompared(db, a.user_id, 20),
        lambda db, a: store.rivals(db, a.user_id, IDS),
        lambda db, a: store.set_compared(db, a.user_id, IDS),
        lambda db, _: store.user_to_compare(db),
        lambda db, _: store.kept_feeds(db),
    ],
    "undoing it": [
        lambda db, a: store.recorded(db, a.user_id, 200),
        lambda db, a: store.remove(db, a.user_id, IDS),
        lambda db, a: store.remove_keys(db, a.user_id, 200),
        lambda db, a: duplicates.set_originals(db, a.user_id, {1009: 1010}),
    ],
    "a page": [
        lambda db, a: duplicates.others_of(db, a.user_id, IDS),
        lambda db, a: duplicates.originals_or_selves(db, a.user_id, IDS),
        lambda db, a: duplicates.statuses_alone(db, a.user_id, IDS),
        lambda db, a: entry_lists.page(db, a.user_id, EntryFilter(), PageRequest()),
        lambda db, a: entry_lists.page(db, a.user_id, EntryFilter(statuses=(EntryStatus.UNREAD,)), PageRequest()),
        lambda db, a: entry_lists.page(
            db, a.user_id, EntryFilter(query=DatedQuery(parse("is:duplicate"), NOW, "UTC")), PageRequest()
        ),
    ],
    "changes of folded entries": [
        lambda db, a: entries.set_state(db, a.user_id, IDS, status=EntryStatus.READ, now=NOW),
        lambda db, a: duplicates.forget_originals(db, a.user_id, IDS),
        lambda db, a: duplicates.unread_copies(db, [a.user_id], IDS),
    ],
    "apps": [
        lambda db, a: folded.counts(db, a.user_id),
        lambda db, a: folded.joined_unread_ids(db, a.user_id),
        lambda db, a: folded.statuses(db, a.user_id, IDS),
        *(
            partial(page_for_apps, statuses=statuses, folded_as=folded_as)
            for statuses in ((), (EntryStatus.UNREAD,), (EntryStatus.READ,))
            for folded_as in (Folded.READ, Folded.ALL)
        ),
    ],
}


def test_duplicates_are_found_through_indexes(archive: Archive) -> None:
    complaints = {}
    for name, steps in STEPS.items():
        with explained(archive.database) as plans, archive.database.writing() as db:
            for step in steps:
                step(db, archive)
        complaints[name] = [found for plan in plans if (found := plan.complaints())]

    assert {"duplicates", "duplicate_keys", "page_addresses"} <= LARGE
    assert {name: found for name, found in complaints.items() if found} == {}
