"""The texts of unread ids in memory are always those of the database, whatever changed them, and whichever process."""

from __future__ import annotations

import threading

import pytest

from storage.entries.test_counters import NOW, RandomActions, create_actor, ready
from tidings.domain.entries.entries import EntryFilter, EntryStatus
from tidings.domain.entries.state_changes import StateChange
from tidings.engine.database import Database, Read
from tidings.services.entries import unread_ids
from tidings.services.entries.unread_ids import UnreadIdTexts
from tidings.storage.entries import entries, entry_lists
from tidings.storage.polling import entry_writes

UNREAD = EntryFilter(statuses=(EntryStatus.UNREAD,))


def both(texts: UnreadIdTexts, db: Read, user_id: int) -> tuple[list[str], list[str]]:
    """Return the unread ids as they are told, and as they are in the database, each in one order."""
    told, stored = texts.joined(db, user_id), entry_lists.joined_ids(db, user_id, UNREAD)
    return sorted(told.split(",")), sorted(stored.split(","))


@pytest.mark.slow
@pytest.mark.parametrize("seed", [0, *(pytest.param(seed, marks=pytest.mark.long) for seed in range(1, 3))])
def test_kept_ids_are_those_of_the_database_after_any_change(database: Database, seed: int) -> None:
    actor, texts = create_actor(database, seed), UnreadIdTexts()
    taken: list[str] = []

    for _ in range(150):
        taken.append(actor.step())
        with database.snapshot() as db:
            told, stored = both(texts, db, actor.user.id)
        assert told == stored, taken[-3:]

    assert len(set(taken)) > 10


@pytest.mark.slow
def test_kept_ids_are_of_the_state_that_is_read_while_others_change_it(database: Database) -> None:
    actor, texts = create_actor(database, 1), UnreadIdTexts()
    for _ in range(5):
        actor.poll()
    # With connections of its own, as another process.
    other_database = Database(database.url.render_as_string(hide_password=False))
    other = RandomActions(other_database, actor.user, 7)
    other.number = 1_000_000
    done = threading.Event()
    failures: list[Exception] = []

    def change() -> None:
        try:
            for _ in range(120):
                other.step()
        except Exception as error:  # noqa: BLE001 - told by the assertion below
            failures.append(error)
        finally:
            done.set()

    writer = threading.Thread(target=change)
    writer.start()
    compared = 0
    while not done.is_set() or compared == 0:
        with database.snapshot() as db:
            told, stored = both(texts, db, actor.user.id)
        compared += 1
        assert told == stored
    writer.join()
    other_database.close()

    assert failures == []
    with database.snapshot() as db:
        told, stored = both(texts, db, actor.user.id)
    assert told == stored


def test_a_change_that_leaves_the_counts_as_they_were_is_seen(database: Database) -> None:
    actor, texts = create_actor(database, 1), UnreadIdTexts()
    with database.writing() as db:
        states = [EntryStatus.UNREAD, EntryStatus.READ]
        new = [ready(number, status=status) for number, status in enumerate(states, start=1)]
        first, second = entry_writes.add(db, actor.user.id, actor.a_feed(), 1, new, now=NOW)
    with database.reading() as db:
        assert texts.joined(db, actor.user.id) == str(first)

    with database.writing() as db:
        changes = [
            StateChange(actor.user.id, [first], EntryStatus.READ),
            StateChange(actor.user.id, [second], EntryStatus.UNREAD),
        ]
        entries.change_states(db, changes, now=NOW)

    with database.reading() as db:
        assert texts.joined(db, actor.user.id) == str(second)


def test_texts_unused_for_longest_are_dropped_above_the_limit(database: Database) -> None:
    actor, texts = create_actor(database, 1), UnreadIdTexts(limit=9)
    feed_ids = sorted(actor.feed_ids())
    with database.writing() as db:
        for number, feed_id in enumerate(feed_ids):
            new = [ready(10 * number + one) for one in range(3)]
            entry_writes.add(db, actor.user.id, feed_id, 1, new, now=NOW)

    for _ in range(2):
        with database.reading() as db:
            told, stored = both(texts, db, actor.user.id)
        assert told == stored
        assert texts.size <= 9


def test_a_few_unread_entries_of_a_large_archive_are_not_searched_feed_by_feed(
    database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(unread_ids, "_FEW_ENTRIES", 0)
    actor, texts = create_actor(database, 1), UnreadIdTexts()
    with database.writing() as db:
        new = [ready(number, status=EntryStatus.READ) for number in range(20)] + [ready(50), ready(51)]
        ids = entry_writes.add(db, actor.user.id, actor.a_feed(), 1, new, now=NOW)

    with database.reading() as db:
        assert texts.joined(db, actor.user.id) == f"{ids[-2]},{ids[-1]}"
    assert texts.size == 0
