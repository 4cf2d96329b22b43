"""All transactions lock rows in the same order, so that PostgreSQL never detects a deadlock.

In each test one transaction holds a row that another waits for, and then takes what the other must not have yet.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from functools import partial
from typing import Any

import pytest
from sqlalchemy import select, update

from support import locks
from support.entry_fixtures import NOW, FeedFixture, ready
from tidings.base.times import Instant
from tidings.domain.accounts.users import User
from tidings.domain.entries.entries import ReadyEntry
from tidings.domain.feeds.feeds import Feed
from tidings.domain.polling.changes import FeedUpdate
from tidings.engine.database import Database, Write
from tidings.engine.statements import limit_waits
from tidings.rules.arrival import decide_arrivals
from tidings.rules.tables import rules as rule_table
from tidings.services.entries.labels import Labels
from tidings.services.listeners import AccountRoom, Listeners
from tidings.services.polling import store
from tidings.storage.accounts import users
from tidings.storage.entries import counters, labels
from tidings.storage.feeds import bulk, categories, feeds
from tidings.storage.polling import sources
from tidings.storage.schema import entries as entry_table
from tidings.storage.schema import feed_counters as counter_table
from tidings.storage.schema import feeds as feed_table
from tidings.storage.schema import labels as label_table
from tidings.storage.schema import sources as source_table
from tidings.storage.schema import tombstones as tombstone_table
from tidings.storage.schema import users as user_table

pytestmark = pytest.mark.slow

WORKER = "worker"
LATER = Instant(NOW + 10)


@pytest.fixture
def postgresql(database: Database) -> Database:
    if database.is_sqlite:
        pytest.skip("SQLite has one writer at a time")
    return database


@pytest.fixture
def feed_fixtures(postgresql: Database) -> list[FeedFixture]:
    """Return feeds of one user, each with its own source, all claimed."""
    first = FeedFixture.create(postgresql)
    feed_fixtures = [first, first.another_feed()]
    with postgresql.writing() as db:
        # The first one last: where the rows lie says nothing of their order.
        for source_id in reversed(db.scalars(select(source_table.c.id).order_by(source_table.c.id))):
            claimed = {"claimed_by": WORKER, "claimed_until": LATER}
            db.run(update(source_table).where(source_table.c.id == source_id).values(**claimed))
    return feed_fixtures


def feed(feed_fixture: FeedFixture) -> Feed:
    with feed_fixture.database.reading() as db:
        found = feeds.get(db, feed_fixture.user_id, feed_fixture.feed_id)
    assert found is not None
    return found


def source_ids(database: Database) -> list[int]:
    with database.reading() as db:
        return db.scalars(select(source_table.c.id).order_by(source_table.c.id))


def lock(db: Write, column: Any, value: Any) -> None:
    """Lock a row; raises soon if another transaction holds it."""
    limit_waits(db, 3)
    rows = select(column).where(column == value)
    owner = column.table.c.get("user_id")
    if owner is not None:
        # A distributed database locks rows of one node.
        rows = rows.where(owner == db.scalar(select(owner).where(column == value)))
    assert set(db.scalars(rows.with_for_update())) == {value}


def ensure_order(database: Database, work: Callable[[Write], object], *, held: tuple[Any, Any], then: Any) -> None:
    """Check that work of another transaction waits for row `held` before it locks row `then`.

    held, then: a column and the value that identify the row.
    """
    trouble: list[Exception] = []

    def do() -> None:
        try:
            with database.writing() as db:
                # Without an ORDER BY, rows come in their physical order.
                db.connection.exec_driver_sql("SET LOCAL enable_indexscan = off")
                db.connection.exec_driver_sql("SET LOCAL enable_bitmapscan = off")
                work(db)
        except Exception as error:  # noqa: BLE001 - told below
            trouble.append(error)

    other = threading.Thread(target=do)
    with database.writing() as db:
        lock(db, *held)
        other.start()
        until = time.monotonic() + 30
        while other.is_alive() and not locks.is_any_waiting(database) and time.monotonic() < until:
            time.sleep(0.02)
        assert other.is_alive(), f"it did not wait: {trouble}"
        lock(db, *then)
    other.join(30)
    assert trouble == []


def test_claims_are_renewed_without_waiting_for_locks(postgresql: Database, feed_fixtures: list[FeedFixture]) -> None:
    first, second = source_ids(postgresql)

    with postgresql.writing() as db:
        lock(db, source_table.c.id, first)
        with postgresql.writing() as other:
            other.connection.exec_driver_sql("SET LOCAL lock_timeout = '3s'")
            assert sources.renew(other, WORKER, [first, second], Instant(LATER + 1)) == {second}

    with postgresql.reading() as reading:
        until = select(source_table.c.claimed_until).order_by(source_table.c.id)
        assert reading.scalars(until) == [LATER, LATER + 1]


@pytest.mark.parametrize("change", ["move", "disable", "remove"])
def test_changes_of_many_feeds_lock_them_in_the_order_of_ids(
    postgresql: Database, feed_fixtures: list[FeedFixture], change: str
) -> None:
    first, second = feed_fixtures
    with postgresql.writing() as db:
        category = categories.add(db, first.user_id, title="New", title_key="new", hide_globally=False)
        # As above.
        for feed_id in (second.feed_id, first.feed_id):
            db.run(update(feed_table).where(feed_table.c.id == feed_id).values(title="Feed"))
    ids = [first.feed_id, second.feed_id]
    changes: dict[str, Callable[[Write], object]] = {
        "move": lambda db: bulk.move(db, first.user_id, ids, category),
        "disable": lambda db: bulk.disable(db, first.user_id, ids),
        "remove": lambda db: bulk.remove(db, first.user_id, ids),
    }

    ensure_order(
        postgresql,
        changes[change],
        held=(feed_table.c.id, first.feed_id),
        then=(feed_table.c.id, second.feed_id),
    )


def test_claims_are_released_in_the_order_of_ids(postgresql: Database, feed_fixtures: list[FeedFixture]) -> None:
    first, second = source_ids(postgresql)

    ensure_order(
        postgresql,
        lambda db: sources.release_all(db, WORKER),
        held=(source_table.c.id, first),
        then=(source_table.c.id, second),
    )

    with postgresql.reading() as db:
        assert db.scalars(select(source_table.c.claimed_by)) == ["", ""]


def test_feeds_come_before_sources_where_several_moved(postgresql: Database, feed_fixtures: list[FeedFixture]) -> None:
    moved = [
        (feed(one), {"feed_url": f"https://example.org/moved-{one.feed_id}", "moved_times": 0}) for one in feed_fixtures
    ]

    ensure_order(
        postgresql,
        lambda db: store.record(db, moved),
        held=(feed_table.c.id, feed_fixtures[1].feed_id),
        then=(source_table.c.id, source_ids(postgresql)[0]),
    )

    assert [feed(one).feed_url for one in feed_fixtures] == [
        f"https://example.org/moved-{one.feed_id}" for one in feed_fixtures
    ]
    assert len(source_ids(postgresql)) == 4


def test_tombstones_are_updated_in_order(postgresql: Database, feed_fixtures: list[FeedFixture]) -> None:
    hashes = [bytes([number]) * 32 for number in (1, 2)]
    with postgresql.writing() as db:
        rows = [
            {"user_id": one.user_id, "feed_id": one.feed_id, "hash": hash_, "seen_at": 0}
            for one in feed_fixtures
            for hash_ in reversed(hashes)
        ]
        db.run_many(tombstone_table.insert(), rows)
        owner = users.get(db, feed_fixtures[0].user_id)
    assert owner is not None
    later, deleted = Instant(2 * NOW), frozenset(hashes)
    batch: list[FeedUpdate[ReadyEntry]] = [
        FeedUpdate(user=owner, feed=feed(one), now=later, deleted=deleted) for one in reversed(feed_fixtures)
    ]

    ensure_order(
        postgresql,
        lambda db: store.store_updates(db, batch, listeners=Listeners()),
        held=(tombstone_table.c.feed_id, feed_fixtures[0].feed_id),
        then=(tombstone_table.c.feed_id, feed_fixtures[1].feed_id),
    )


def test_accounts_with_a_limit_come_before_counters(postgresql: Database, feed_fixtures: list[FeedFixture]) -> None:
    first = feed_fixtures[0]
    with postgresql.reading() as db:
        owner = users.get(db, first.user_id)
    assert owner is not None
    entry, listeners = ready("Rain"), Listeners()
    listeners.account_rooms.append(lambda _db, ids: {id_: AccountRoom(entries=9) for id_ in ids})
    batch = [FeedUpdate(user=owner, feed=feed(first), now=LATER, new={entry.hash: entry})]

    ensure_order(
        postgresql,
        lambda db: store.store_updates(db, batch, listeners=listeners),
        held=(user_table.c.id, first.user_id),
        then=(counter_table.c.feed_id, first.feed_id),
    )


@pytest.mark.parametrize("held", ["counters", "rules"])
def test_rules_are_counted_between_counters_and_feeds(
    postgresql: Database, feed_fixtures: list[FeedFixture], held: str
) -> None:
    first = feed_fixtures[0]
    with postgresql.writing() as db:
        ids = [
            db.insert(rule_table.insert().values(user_id=first.user_id, query="rain", actions='[{"type": "star"}]'))
            for _ in range(2)
        ]
        owner = users.get(db, first.user_id)
    assert owner is not None
    entry = ready("Rain")
    listeners = Listeners()
    listeners.entries_arriving.append(partial(decide_arrivals, listeners))
    batch = [FeedUpdate(user=owner, feed=feed(first), now=LATER, new={entry.hash: entry}, columns={"title": "New"})]

    ensure_order(
        postgresql,
        lambda db: store.store_updates(db, batch, listeners=listeners),
        held=(counter_table.c.feed_id, first.feed_id) if held == "counters" else (rule_table.c.id, ids[0]),
        then=(rule_table.c.id, ids[1]) if held == "counters" else (feed_table.c.id, first.feed_id),
    )

    with postgresql.reading() as reading:
        assert reading.scalars(select(rule_table.c.matched_total)) == [1, 1]


@pytest.fixture
def label_ids(feed_fixtures: list[FeedFixture], postgresql: Database) -> list[int]:
    """Return labels of the user, a and b; an entry has both. Their rows are not in the order of their ids."""
    labels_of_user = Labels(postgresql, lambda: NOW, Listeners())
    names = {"a": "a", "b": "b"}
    feed_fixtures[0].add(ready("One"))
    with postgresql.writing() as db:
        ids = sorted(labels.ensure(db, feed_fixtures[0].user_id, names).values())
        for label_id in reversed(ids):
            db.run(update(label_table).where(label_table.c.id == label_id).values(name="Label"))
    labels_of_user.change(feed_fixtures[0].user_id, entry_ids(postgresql), add=names)
    return ids


def owner(database: Database, user_id: int) -> User:
    with database.reading() as db:
        found = users.get(db, user_id)
    assert found is not None
    return found


def entry_ids(database: Database) -> list[int]:
    with database.reading() as db:
        return db.scalars(select(entry_table.c.id))


@pytest.mark.parametrize("change", ["give", "take", "give and take", "delete", "of an entry", "give by id"])
def test_labels_come_after_counters(
    postgresql: Database, feed_fixtures: list[FeedFixture], label_ids: list[int], change: str
) -> None:
    services = Labels(postgresql, lambda: NOW, Listeners())
    user_id, mine = feed_fixtures[0].user_id, entry_ids(postgresql)
    changes: dict[str, Callable[[], object]] = {
        "give": lambda: services.change(user_id, mine, add=["a"]),
        "take": lambda: services.change(user_id, mine, remove=["a"]),
        "give and take": lambda: services.change(user_id, mine, add=["a"], remove=["b"]),
        "delete": lambda: services.delete(user_id, label_ids[0]),
        "of an entry": lambda: services.set_of_entry(user_id, mine[0], [], "a"),
        "give by id": lambda: services.update_entries(
            owner(postgresql, user_id), mine, add=[label_ids[0]], starred=True
        ),
    }

    ensure_order(
        postgresql,
        lambda _: changes[change](),
        held=(counter_table.c.feed_id, feed_fixtures[0].feed_id),
        then=(label_table.c.id, label_ids[0]),
    )


@pytest.mark.parametrize(
    "change", ["give both", "take both", "give b, take a", "give a, take b", "of an entry", "by id", "order"]
)
def test_labels_are_locked_in_the_order_of_ids(
    postgresql: Database, feed_fixtures: list[FeedFixture], label_ids: list[int], change: str
) -> None:
    services = Labels(postgresql, lambda: NOW, Listeners())
    user_id, mine = feed_fixtures[0].user_id, entry_ids(postgresql)
    services.change(user_id, mine, remove=["a", "b"])
    changes: dict[str, Callable[[], object]] = {
        "give both": lambda: services.change(user_id, mine, add=["b", "a"]),
        "take both": lambda: services.change(user_id, mine, remove=["b", "a"]),
        "give b, take a": lambda: services.change(user_id, mine, add=["b"], remove=["a"]),
        "give a, take b": lambda: services.change(user_id, mine, add=["a"], remove=["b"]),
        "of an entry": lambda: services.set_of_entry(user_id, mine[0], [label_ids[0]], "b"),
        "by id": lambda: services.update_entries(
            owner(postgresql, user_id), mine, add=[label_ids[1]], remove=[label_ids[0]]
        ),
        "order": lambda: services.update(user_id, label_ids[1], position=1),
    }

    ensure_order(
        postgresql,
        lambda _: changes[change](),
        held=(label_table.c.id, label_ids[0]),
        then=(label_table.c.id, label_ids[1]),
    )


def test_locking_administrators_does_not_block_inserts_of_their_rows(
    postgresql: Database, feed_fixtures: list[FeedFixture]
) -> None:
    """A check locks a feed of a user and posts events, while a deletion of the user locks administrators first."""
    with postgresql.writing() as db:
        db.connection.exec_driver_sql("UPDATE users SET is_admin = true")
        assert users.lock_admins(db) == [feed_fixtures[0].user_id]
        with postgresql.writing() as other:
            other.connection.exec_driver_sql("SET LOCAL lock_timeout = '3s'")
            counters.lock_all(other, feed_fixtures[0].user_id)
            categories.add(other, feed_fixtures[0].user_id, title="New", title_key="new", hide_globally=False)
