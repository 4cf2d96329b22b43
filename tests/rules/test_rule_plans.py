"""The statements of rules and of their runs go through indexes, also when they are many."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import msgspec
import pytest
from sqlalchemy import text

from storage.test_plans import LARGE, explained
from support import archive as archives
from support import distributed
from support.archive import Archive
from support.databases import Databases
from support.entry_fixtures import NOW
from tidings.base.times import Instant
from tidings.domain.entries.entries import Direction, Order, PageRequest
from tidings.engine.database import Database, Read, Write
from tidings.query import parse
from tidings.rules import runs_store, store
from tidings.rules.model import Action, ActionType, RuleFields
from tidings.rules.rules import matching
from tidings.rules.runs_store import ChangedEntry, RuleRun, RunState
from tidings.storage.entries import entries, entry_lists

pytestmark = pytest.mark.slow

# A run of the largest user has changed every second entry, and there are many runs and rules of many users.
FILL = """
INSERT INTO rules (user_id, position, name, scope, query, actions)
    SELECT users.id, feeds.id, 'Rain', 'all', 'rain', '[]' FROM users JOIN feeds ON feeds.user_id = users.id;
INSERT INTO rule_runs (user_id, rule_id, query, actions, timezone, state, started_at, finished_at)
    SELECT user_id, id, 'rain', '[]', 'UTC', 'done', 0, 1 FROM rules;
INSERT INTO rule_run_entries (run_id, entry_id, user_id, status, starred, changed_at)
    SELECT (SELECT min(id) FROM rule_runs), id, user_id, 0, false, changed_at FROM entries WHERE id % 2 = 0;
INSERT INTO rule_changed_entries (entry_id, user_id, changed_at) SELECT id, user_id, changed_at FROM entries;
ANALYZE
"""


@pytest.fixture(scope="module")
def archive(databases: Databases) -> Iterator[Archive]:
    distributed.skip_plans(databases)
    with databases.migrated() as url:
        database = Database(url)
        built = archives.build(database, (20_000, 5_000))
        with database.writing() as db:
            for statement in FILL.split(";"):
                db.run(text(statement))
        yield built
        database.close()


IDS = list(range(1000, 1500))
ACTIONS = (Action(ActionType.HIDE), Action(ActionType.MARK_READ))
FIELDS = RuleFields(name="Snow", query="title:sun", actions=ACTIONS)
RUN = RuleRun(1, 1, 1, "rain", None, None, "[]", "UTC", RunState.DONE.value, None, 0, 0, NOW, NOW)
PAGE = PageRequest(order=Order.ID, direction=Direction.DESC, limit=500)


def entries_of(db: Read, a: Archive, query: str) -> object:
    """Read the ids of a step of a run."""
    found = matching(RuleFields(query=query, actions=ACTIONS), parse(query), now=NOW, zone="UTC", changed_only=True)
    return entry_lists.found_ids(db, a.user_id, msgspec.structs.replace(found, before_entry_id=15_000), PAGE)


STEPS: dict[str, list[Callable[[Write, Archive], object]]] = {
    "new entries": [
        lambda db, a: store.enabled_of(db, [a.user_id, a.user_id + 1]),
        lambda db, a: store.count_matches(db, [(a.user_id, 1, 3, 7), (a.user_id, 2, 1, 7)], now=NOW),
    ],
    "changed entries": [
        lambda db, a: store.untouched(db, a.user_id, IDS),
        lambda db, a: store.note_changed(db, a.user_id, IDS, now=NOW),
        lambda db, a: entries.set_hidden(db, a.user_id, IDS, hidden=True),
    ],
    "rules of a user": [
        lambda db, a: store.list_all(db, a.user_id),
        lambda db, a: store.get(db, a.user_id, 1),
        lambda db, a: store.lock_all(db, a.user_id),
        lambda db, a: store.add(db, a.user_id, FIELDS),
        lambda db, a: store.change(db, a.user_id, 1, FIELDS),
        lambda db, a: store.set_enabled(db, a.user_id, 1, enabled=False),
        lambda db, a: store.set_positions(db, a.user_id, {1: 2, 2: 1}),
        lambda db, a: store.remove(db, a.user_id, 1),
        lambda db, a: store.feeds_with_filters(db, a.user_id),
        lambda db, a: store.feeds_to_choose(db, a.user_id, limit=300),
    ],
    "a run": [
        lambda db, a: runs_store.begin(db, a.user_id, 1, FIELDS, timezone="UTC", total=1, now=NOW),
        lambda db, a: runs_store.last_of(db, a.user_id, 1),
        lambda db, a: runs_store.open_of(db, a.user_id),
        lambda db, _: runs_store.has_open(db, "worker", NOW),
        lambda db, _: runs_store.claim(db, "worker", now=NOW, until=NOW),
        lambda db, a: entries_of(db, a, "title:sun"),
        lambda db, a: entries_of(db, a, ""),
        lambda db, _: runs_store.lock_held(db, RUN, "worker"),
        lambda db, _: runs_store.remember(db, RUN, [ChangedEntry(7, 0, False, NOW, "[]", True)]),
        lambda db, _: runs_store.advance(db, RUN, before=7, changed=1),
        lambda db, _: runs_store.set_state(db, RUN, RunState.DONE, finished_at=NOW),
        lambda db, _: runs_store.release_all(db, "worker"),
    ],
    "undoing a run": [
        lambda db, _: runs_store.changed_entries(db, RUN, limit=500),
        lambda db, a: entries.set_hidden(db, a.user_id, IDS, hidden=False),
        lambda db, _: runs_store.forget(db, RUN, IDS),
    ],
    "what is too old": [
        lambda db, _: runs_store.remove_old_entries(db, Instant(2), 500),
        lambda db, _: runs_store.remove_old(db, Instant(2), 500),
    ],
}


def test_rules_and_their_runs_read_no_large_table_as_a_whole(archive: Archive) -> None:
    complaints = {}
    for name, steps in STEPS.items():
        with explained(archive.database) as plans, archive.database.writing() as db:
            for step in steps:
                step(db, archive)
        # Rules and feeds of a user are few, and may be sorted.
        of_large = [plan for plan in plans if any(f" {table} " in f"{plan.statement} " for table in LARGE)]
        complaints[name] = [found for plan in of_large if (found := plan.complaints())]

    assert {"rule_run_entries", "rule_changed_entries"} <= LARGE
    told = [f"{name}: {one}" for name, found in complaints.items() for one in found]
    assert not told, "\n".join(told)
