"""Snoozed entries are found through indexes, however many entries and snoozes there are."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest
from sqlalchemy import text

from storage.test_plans import LARGE, explained
from support import archive as archives
from support import distributed
from support.archive import Archive
from support.databases import Databases
from support.entry_fixtures import NOW
from tidings.base.times import DAY, Instant
from tidings.domain.entries.entries import EntryStatus
from tidings.engine.database import Database, Write
from tidings.snooze import store
from tidings.storage.entries import entries, history, snoozed

pytestmark = pytest.mark.slow

# The first user has most entries. A tenth of all is snoozed, half of them until a time that is over.
SHARES = (12_000, 10_000, 8_000)
FILL = f"""
INSERT INTO snoozed_entries (entry_id, user_id, until)
    SELECT id, user_id, {NOW} + (id % 200 - 100) * {DAY} FROM entries WHERE id % 10 = 0;
UPDATE entries SET status = 1 WHERE id % 10 = 0;
ANALYZE
"""
IDS = list(range(1_000, 1_200))


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


STEPS: dict[str, list[Callable[[Write, Archive], object]]] = {
    "the page": [
        lambda db, a: store.page(db, a.user_id, offset=0, limit=100),
        lambda db, a: snoozed.until(db, a.user_id, IDS),
    ],
    "the worker": [
        lambda db, _: store.due_users(db, NOW),
        lambda db, a: store.due(db, a.user_id, NOW, 500),
    ],
    "changes": [
        lambda db, a: snoozed.put(db, a.user_id, dict.fromkeys(IDS, Instant(NOW + DAY))),
        lambda db, a: entries.set_state(db, a.user_id, IDS, status=EntryStatus.READ, now=NOW),
        lambda db, a: entries.set_state(db, a.user_id, IDS, status=EntryStatus.UNREAD, now=NOW),
        lambda db, a: snoozed.end(db, [a.user_id], IDS),
    ],
    "deleting the history": [lambda db, a: history.flush(db, a.user_id, after=0, now=NOW)],
}


def test_snoozed_entries_are_found_through_indexes(archive: Archive) -> None:
    complaints = {}
    for name, steps in STEPS.items():
        with explained(archive.database) as plans, archive.database.writing() as db:
            for step in steps:
                step(db, archive)
        complaints[name] = [found for plan in plans if (found := plan.complaints())]

    assert "snoozed_entries" in LARGE
    assert {name: found for name, found in complaints.items() if found} == {}
