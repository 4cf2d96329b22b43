"""Stars and changes of status that arrive together: one transaction, and yet each with its own outcome."""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

import pytest
from sqlalchemy import event, select, text, update

from support import locks
from support.entry_fixtures import FeedFixture, ready
from tidings.base.errors import NotFound, StoreUnavailable
from tidings.domain.accounts.users import User
from tidings.domain.entries.entries import EntryStatus
from tidings.domain.entries.state_changes import StateChange
from tidings.engine import statements
from tidings.engine.database import Database
from tidings.services.clock import system_clock
from tidings.services.entries.entries import Entries
from tidings.services.listeners import Listeners
from tidings.storage.accounts import users
from tidings.storage.entries import counters, entries
from tidings.storage.schema import entries as entry_table

THREADS = 8
WAIT_S = 180


@pytest.fixture
def alice(database: Database) -> FeedFixture:
    return FeedFixture.create(database)


@pytest.fixture
def bob(database: Database) -> FeedFixture:
    return FeedFixture.create(database)


@pytest.fixture
def commits(database: Database) -> Iterator[Counter[str]]:
    """Counts the write transactions while it is used."""
    counted: Counter[str] = Counter()

    def count(_connection: object) -> None:
        counted["commits"] += 1

    event.listen(database.engine, "commit", count)
    yield counted
    event.remove(database.engine, "commit", count)


def user_of(fixture: FeedFixture) -> User:
    with fixture.database.reading() as db:
        found = users.get(db, fixture.user_id)
    assert found is not None
    return found


def starred(fixture: FeedFixture) -> set[int]:
    with fixture.database.reading() as db:
        found = select(entry_table.c.id).where(entry_table.c.user_id == fixture.user_id, entry_table.c.starred)
        return set(db.scalars(found))


def counted(fixture: FeedFixture) -> list[tuple[int, int, int, int]]:
    with fixture.database.reading() as db:
        return [
            (row.unread, row.read, row.starred_unread, row.starred_read)
            for row in counters.list_all(db, fixture.user_id)
        ]


def test_changes_of_several_users_in_one_transaction_touch_own_entries_only(
    alice: FeedFixture, bob: FeedFixture
) -> None:
    own, foreign = alice.add(ready("one"), ready("two")), bob.add(ready("three"))
    changes = [
        StateChange(alice.user_id, [*own, *foreign], EntryStatus.READ),
        StateChange(bob.user_id, [own[0]], toggles_star=True),
        StateChange(alice.user_id, [own[1]], toggles_star=True),
        StateChange(bob.user_id, foreign, starred=True),
        StateChange(bob.user_id, [2**62], starred=True),
    ]

    with alice.database.writing() as db:
        assert entries.change_states(db, changes, now=system_clock()).found == [2, 0, 1, 1, 0]

    assert (starred(alice), starred(bob)) == ({own[1]}, set(foreign))
    assert (counted(alice), counted(bob)) == ([(0, 2, 0, 1)], [(1, 0, 1, 0)])


@pytest.mark.slow
def test_concurrent_changes_share_transactions_and_lose_nothing(
    alice: FeedFixture, bob: FeedFixture, commits: Counter[str]
) -> None:
    fixtures = [alice, bob]
    ids = [fixture.add(*(ready(f"{number}") for number in range(THREADS))) for fixture in fixtures]
    service, rounds, outcomes = Entries(alice.database, system_clock, Listeners()), 25, Counter[str]()
    commits.clear()

    owners = [user_of(fixture) for fixture in fixtures]

    def change(number: int) -> None:
        owner, own = owners[number % 2], ids[number % 2][number]
        for _ in range(rounds):
            service.toggle_star(owner, own)
            service.update(owner, [own], status=EntryStatus.READ)
            try:
                service.toggle_star(owner, ids[1 - number % 2][number])
            except NotFound:
                outcomes["not found"] += 1

    with ThreadPoolExecutor(THREADS) as threads:
        assert list(threads.map(change, range(THREADS), timeout=WAIT_S)) == [None] * THREADS

    # Each entry was toggled an odd number of times, by its own user alone.
    assert [starred(fixture) for fixture in fixtures] == [set(ids[0][::2]), set(ids[1][1::2])]
    half = THREADS // 2
    assert [counted(fixture) for fixture in fixtures] == [[(half, half, 0, half)]] * 2
    assert outcomes["not found"] == THREADS * rounds
    assert commits["commits"] < 3 * THREADS * rounds


def test_a_user_whose_rows_are_locked_holds_up_nobody_else(alice: FeedFixture, bob: FeedFixture) -> None:
    if alice.database.is_sqlite:
        pytest.skip("SQLite has one writer at a time")
    (own,), (other,) = alice.add(ready("one")), bob.add(ready("two"))
    service = Entries(alice.database, system_clock, Listeners())
    first, second = user_of(alice), user_of(bob)
    group = [StateChange(alice.user_id, [own], starred=True), StateChange(bob.user_id, [other], starred=True)]

    with ThreadPoolExecutor(2) as threads:
        with alice.database.writing() as db:
            counters.lock_all(db, alice.user_id)
            with pytest.raises(StoreUnavailable) as refused:
                service._write_changes(group)
            waiting = threads.submit(service.toggle_star, first, own)
            wait_for_a_lock(alice.database)
            # In a group of its own, or in one that was given up after MAX_GROUP_WAIT_S.
            service.toggle_star(second, other)
            assert starred(bob) == {other}
            assert not waiting.done()
        waiting.result(WAIT_S)

    assert refused.value.is_of_transaction
    assert starred(alice) == {own}


def wait_for_a_lock(database: Database) -> None:
    pause = threading.Event()
    for _ in range(WAIT_S * 100):
        if locks.is_any_waiting(database):
            return
        pause.wait(0.01)
    raise AssertionError("no transaction waits for a lock")


def test_a_change_that_waited_counts_what_the_one_before_it_wrote(alice: FeedFixture) -> None:
    """Otherwise two transactions that read the same state both count the same entry."""
    if alice.database.is_sqlite:
        pytest.skip("SQLite has one writer at a time")
    (own,) = alice.add(ready("one"))
    service, owner = Entries(alice.database, system_clock, Listeners()), user_of(alice)

    with ThreadPoolExecutor(1) as threads:
        with alice.database.writing() as db:
            counters.lock_all(db, alice.user_id)
            waiting = threads.submit(service.update, owner, [own], status=EntryStatus.READ)
            wait_for_a_lock(alice.database)
            entries.set_state(db, alice.user_id, [own], status=EntryStatus.READ, now=system_clock())
        waiting.result(WAIT_S)

    assert counted(alice) == [(0, 1, 0, 0)]


def test_a_full_disk_fails_the_large_change_alone(alice: FeedFixture) -> None:
    if not alice.database.is_sqlite:
        pytest.skip("PostgreSQL would be full for all databases of the server")
    ids = alice.add(*(ready(f"{number}") for number in range(3)))
    with alice.database.engine.connect() as connection:
        pages = connection.exec_driver_sql("PRAGMA page_count").scalar()
        connection.exec_driver_sql(f"PRAGMA max_page_count = {pages}")
    with pytest.raises(StoreUnavailable) as refused, alice.database.writing() as db:
        db.run(update(entry_table).where(entry_table.c.user_id == alice.user_id).values(title="x" * 1_000_000))

    assert refused.value.is_of_transaction
    Entries(alice.database, system_clock, Listeners()).update(user_of(alice), ids, starred=True)
    assert starred(alice) == set(ids)


def test_waits_are_limited_in_one_transaction_only(database: Database) -> None:
    if database.is_sqlite:
        pytest.skip("SQLite has one writer at a time")
    with database.writing() as db:
        statements.limit_waits(db, 0.1)
        assert db.scalar(text("SHOW lock_timeout")) == "100ms"
    with database.writing() as db:
        assert db.scalar(text("SHOW lock_timeout")) == "0"
