"""Rules that are applied to stored entries: in chunks, once, through kills of the worker, and undone exactly."""

from __future__ import annotations

import time
from datetime import timedelta
from typing import Any

import pytest
from sqlalchemy import delete, select

from rules.applier import Appliers, appliers
from support.entry_fixtures import FeedFixture, ready
from support.outbox import MovableClock
from tidings.base.errors import InvalidInput
from tidings.base.times import DAY, Instant
from tidings.domain.accounts.users import User
from tidings.domain.entries.entries import EntryStatus
from tidings.engine.database import Database
from tidings.rules import runs as runs_module
from tidings.rules import runs_store
from tidings.rules.model import Action, ActionType, RuleFields, Scope
from tidings.rules.rules import Rules
from tidings.rules.runs import RuleRuns, remove_expired
from tidings.rules.tables import rule_runs
from tidings.services.entries.listing import EntryListReader
from tidings.services.entries.search_index import SearchIndexer
from tidings.services.listeners import Listeners
from tidings.storage.accounts import users
from tidings.storage.entries import counters, entries, labels, snoozed
from tidings.storage.schema import entries as entry_table
from tidings.storage.schema import entry_labels, feed_counters

READ, STAR, HIDE, DROP = map(Action, (ActionType.MARK_READ, ActionType.STAR, ActionType.HIDE, ActionType.DROP))


class Archive:
    """A user with stored entries, and the services that apply rules to them."""

    def __init__(self, database: Database) -> None:
        self.feed = FeedFixture.create(database)
        self.database = database
        self.clock = MovableClock()
        self.lists = EntryListReader(database, SearchIndexer(database))
        self.rules = Rules(database, self.clock, self.lists, Listeners())
        self.runs = RuleRuns(database, self.clock, self.lists, Listeners())
        with database.reading() as db:
            user = users.get(db, self.feed.user_id)
        assert user is not None
        self.user: User = user

    def rule(self, *actions: Action, query: str = "", **fields: Any) -> int:
        given: dict[str, Any] = {"scope": Scope.FEED, "feed_id": self.feed.feed_id} | fields
        return self.rules.create(self.user.id, RuleFields(query=query, actions=actions, **given)).id

    def finish(self, worker: str = "worker") -> int:
        """Work until nothing is left; returns the number of chunks."""
        chunks = 0
        while self.runs.work(worker):
            chunks += 1
        return chunks

    def state(self) -> Any:
        """Return all that a run may change: states, labels, counters, what is hidden; not when entries changed."""
        owner = self.user.id
        with self.database.reading() as db:
            listed = select(entry_table.c.id, entry_table.c.status, entry_table.c.starred)
            is_hidden = (entry_table.c.user_id == owner, entry_table.c.hidden.is_(True))
            given = select(entry_labels.c.label_id, entry_labels.c.entry_id)
            counted = select(feed_counters.c.unread, feed_counters.c.read, feed_counters.c.starred_unread)
            return (
                [tuple(row) for row in db.tuples(listed.where(entry_table.c.user_id == owner).order_by("id"))],
                sorted(tuple(row) for row in db.tuples(given.where(entry_labels.c.user_id == owner))),
                [tuple(row) for row in db.tuples(counted.where(feed_counters.c.user_id == owner))],
                [row["id"] for row in db.rows(select(entry_table).where(*is_hidden).order_by("id"))],
            )

    def all_ids(self) -> list[int]:
        return [id_ for id_, _, _ in self.state()[0]]

    def mark(self, ids: list[int], **state: Any) -> None:
        with self.database.writing() as db:
            entries.set_state(db, self.user.id, ids, now=self.clock(), **state)

    def hide(self, ids: list[int]) -> None:
        with self.database.writing() as db:
            entries.set_hidden(db, self.user.id, ids, hidden=True)

    def last(self, rule_id: int) -> runs_store.RuleRun:
        with self.database.reading() as db:
            run = runs_store.last_of(db, self.user.id, rule_id)
        assert run is not None
        return run


@pytest.fixture
def archive(database: Database) -> Archive:
    return Archive(database)


def test_a_rule_is_applied_in_chunks_and_undone_exactly(archive: Archive, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(runs_module, "CHUNK", 3)
    stranger = FeedFixture.create(archive.database)
    (theirs,) = stranger.add(ready("Rain of others"))
    ids = archive.feed.add(*(ready(f"Rain {number}") for number in range(8)), ready("Snow"))
    archive.mark(ids[:2], status=EntryStatus.READ)
    archive.mark(ids[2:4], starred=True)
    with archive.database.writing() as db:
        counters.lock_all(db, archive.user.id)
        label = labels.add(db, archive.user.id, "Wet", "wet")
        labels.attach(db, archive.user.id, [label], [ids[0], ids[4]])
    archive.hide(ids[3:5])
    before = archive.state()
    rule = archive.rule(READ, STAR, HIDE, Action(ActionType.LABEL, label), query="title:rain")

    run = archive.runs.start(archive.user, rule)
    assert (run.total, run.changed, run.state) == (8, 0, "running")
    with pytest.raises(InvalidInput, match="Another rule"):
        archive.runs.start(archive.user, rule)
    assert archive.finish() == 3

    states, given, _, hidden = archive.state()
    assert states == [(id_, 1, True) for id_ in ids[:8]] + [(ids[8], 0, False)]
    assert [entry_id for _, entry_id in given] == ids[:8]
    assert hidden == ids[:8]
    assert (archive.last(rule).state, archive.last(rule).changed) == ("done", 8)
    # Nothing is left to do.
    assert archive.runs.start(archive.user, rule).total == 0
    assert archive.finish() == 1
    with archive.database.writing() as db:
        # As if the second run had not been.
        db.run(delete(rule_runs).where(rule_runs.c.changed == 0))

    archive.runs.undo(archive.user.id, rule)
    archive.finish()

    assert archive.state() == before
    assert (archive.last(rule).state, archive.last(rule).changed) == ("undone", 0)
    with pytest.raises(InvalidInput, match="nothing to undo"):
        archive.runs.undo(archive.user.id, rule)
    with archive.database.reading() as db:
        assert db.scalar(select(entry_table.c.status).where(entry_table.c.id == theirs)) == 0


def test_dropped_entries_come_back_unless_their_user_changed_them_since(archive: Archive) -> None:
    ids = archive.feed.add(*(ready(f"Rain {number}") for number in range(4)))
    archive.mark(ids[:1], starred=True)
    rule = archive.rule(DROP)
    archive.runs.start(archive.user, rule)
    archive.finish()
    # A star keeps an entry.
    assert [status for _, status, _ in archive.state()[0]] == [0, 2, 2, 2]
    archive.clock.move(timedelta(seconds=1))
    archive.mark(ids[1:2], status=EntryStatus.READ)

    archive.runs.undo(archive.user.id, rule)
    archive.finish()

    assert [status for _, status, _ in archive.state()[0]] == [0, 1, 0, 0]


def test_a_snoozed_entry_is_not_dropped_and_comes_back_when_its_user_wanted(archive: Archive) -> None:
    ids = archive.feed.add(ready("Rain"), ready("Snow"))
    archive.mark(ids, status=EntryStatus.READ)
    with archive.database.writing() as db:
        snoozed.put(db, archive.user.id, {ids[0]: Instant(archive.clock() + DAY)})
    rule = archive.rule(DROP)

    archive.runs.start(archive.user, rule)
    archive.finish()

    assert [status for _, status, _ in archive.state()[0]] == [1, 2]
    with archive.database.reading() as db:
        assert [*snoozed.until(db, archive.user.id, ids)] == ids[:1]


def test_after_a_day_nothing_is_kept_for_undoing(archive: Archive) -> None:
    archive.feed.add(ready("Rain"), ready("Snow"))
    rule = archive.rule(READ)
    archive.runs.start(archive.user, rule)
    archive.finish()
    assert archive.runs.can_undo(archive.last(rule))
    with archive.database.writing() as db:
        assert remove_expired(db, archive.clock(), 100) == 0
        assert remove_expired(db, Instant(archive.clock() + DAY + 1), 1) == 1
        assert remove_expired(db, Instant(archive.clock() + DAY + 1), 100) == 1
        assert remove_expired(db, Instant(archive.clock() + 31 * DAY), 100) == 1
    with archive.database.reading() as db:
        assert runs_store.last_of(db, archive.user.id, rule) is None


def test_a_run_goes_on_where_another_worker_left_it(archive: Archive, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(runs_module, "CHUNK", 2)
    archive.feed.add(*(ready(f"Rain {number}") for number in range(6)))
    rule = archive.rule(READ)
    archive.runs.start(archive.user, rule)
    assert archive.runs.work("first")
    assert not archive.runs.work("second")
    claimed = archive.last(rule)

    assert archive.runs.release_all("first") == 1
    assert archive.runs.work("second")
    # The first one comes back too late, with what it had read.
    archive.runs._apply_chunk(claimed, "first")
    archive.runs.release_all("second")
    archive.finish("third")

    assert archive.last(rule).changed == 6
    assert archive.state()[2] == [(0, 6, 0)]


def test_a_run_that_goes_on_is_stopped_by_undoing_it(archive: Archive, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(runs_module, "CHUNK", 2)
    archive.feed.add(*(ready(f"Rain {number}") for number in range(6)))
    before = archive.state()
    rule = archive.rule(READ)
    archive.runs.start(archive.user, rule)
    archive.runs.work("worker")
    claimed = archive.last(rule)

    archive.runs.undo(archive.user.id, rule)
    # A worker that has read what to change next.
    archive.runs._apply_chunk(claimed, "worker")
    archive.finish()

    assert archive.state() == before
    assert archive.last(rule).state == "undone"


@pytest.mark.slow
def test_a_run_survives_kills_of_the_worker(
    archive: Archive, database_url: str, request: pytest.FixtureRequest
) -> None:
    count = 100_000 if request.config.getoption("--long") else 600
    for start in range(0, count, 200):
        archive.feed.add(*(ready(f"Rain {number}") for number in range(start, start + 200)))
    archive.mark(archive.all_ids()[::7], status=EntryStatus.READ)
    archive.hide(archive.all_ids()[::5])
    before = archive.state()
    rule = archive.rule(READ, STAR, HIDE)
    archive.runs.start(archive.user, rule)
    with appliers(database_url) as processes:
        _kill_until(archive, rule, "done", processes, kills=3)

        run = archive.last(rule)
        assert run.changed == count
        assert archive.state()[2] == [(0, count, 0)]
        assert archive.state()[3] == archive.all_ids()

        archive.runs.undo(archive.user.id, rule)
        _kill_until(archive, rule, "undone", processes, kills=3)
    assert archive.state() == before


def _kill_until(archive: Archive, rule: int, state: str, processes: Appliers, *, kills: int) -> None:
    """Let processes go on with a run; the first ones are killed in the middle of it."""
    for number in range(kills + 1):
        seen = archive.last(rule).changed
        with processes.one():
            deadline = time.monotonic() + 300
            while archive.last(rule).state != state and (number == kills or archive.last(rule).changed == seen):
                assert time.monotonic() < deadline, "it did not get on"
                time.sleep(0.005)
            # Each is killed somewhere else: between two chunks, or in the middle of one.
            time.sleep(0.02 * number)
        assert number == kills or archive.last(rule).state != state, "it ended before it was killed"
    assert archive.last(rule).state == state
