"""The stored counters equal a recount after any sequence of changes."""

from __future__ import annotations

import random
import threading
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from hashlib import sha256
from typing import Any

import pytest
from sqlalchemy import select

from tidings.base.errors import InvalidInput, NotFound
from tidings.base.times import SECOND, Instant
from tidings.domain.accounts.users import User
from tidings.domain.entries.entries import EntryStatus, ReadyEntry
from tidings.engine.database import Database
from tidings.services.accounts.users import Users
from tidings.services.entries.entries import Entries
from tidings.services.feeds.categories import Categories
from tidings.services.feeds.feeds import Feeds
from tidings.services.listeners import Listeners
from tidings.storage.entries import counters, entries, history, read_state
from tidings.storage.feeds import feeds
from tidings.storage.polling import entry_writes
from tidings.storage.schema import entries as entry_table
from tidings.storage.schema import feed_counters

NOW = Instant(1_800_000_000 * SECOND)
Counts = dict[int, tuple[int, int, int, int]]


def kept(database: Database, user_id: int) -> Counts:
    with database.reading() as db:
        return {
            one.feed_id: (one.unread, one.read, one.starred_unread, one.starred_read)
            for one in counters.list_all(db, user_id)
        }


def counted(database: Database, user_id: int) -> Counts:
    """Return the counts of every entry; a feed without entries has four zeros."""
    columns = (entry_table.c.feed_id, entry_table.c.status, entry_table.c.starred)
    with database.reading() as db:
        feed_ids = db.scalars(select(feed_counters.c.feed_id).where(feed_counters.c.user_id == user_id))
        found = Counter(map(tuple, db.tuples(select(*columns).where(entry_table.c.user_id == user_id))))
    return {
        feed: (
            found[feed, 0, True] + found[feed, 0, False],
            found[feed, 1, True] + found[feed, 1, False],
            found[feed, 0, True],
            found[feed, 1, True],
        )
        for feed in feed_ids
    }


def ready(number: int, *, status: EntryStatus = EntryStatus.UNREAD, starred: bool = False) -> ReadyEntry:
    return ReadyEntry(
        hash=number.to_bytes(32, "big"),
        fingerprint=b"",
        title=f"Entry {number}",
        url=f"https://example.org/{number}",
        content="<p>Text</p>",
        published_at=Instant(NOW + (number % 7 - 3) * SECOND),
        tags=("tag",),
        status=status,
        starred=starred,
    )


class RandomActions:
    """Random actions of a user and the poller; the same seed gives the same actions."""

    def __init__(self, database: Database, user: User, seed: int, *, alone: bool = True) -> None:
        self.database = database
        self.alone = alone
        self.user = user
        self.rng = random.Random(seed)
        self.number = 0
        self.services = Entries(database, lambda: NOW, Listeners())
        self.categories = Categories(database, lambda: NOW, Listeners())
        # Nothing is fetched here.
        others: Any = dict.fromkeys(("fetcher", "recent", "icons", "full_content", "pages", "schedule"))
        self.subscriptions = Feeds(database, clock=lambda: NOW, listeners=Listeners(), **others)
        self.steps: list[Callable[[], object]] = [
            *[self.poll] * 4,
            *[self.set_state] * 6,
            self.toggle_star,
            self.read_feed,
            self.read_category,
            self.read_all,
            self.undo_mark_read,
            self.flush,
            *[self.import_entry] * 2,
            self.move,
            self.subscribe,
            self.unsubscribe,
            self.drop_category,
        ]

    def step(self) -> str:
        chosen = self.rng.choice(self.steps)
        if not self.feed_ids():
            chosen = self.subscribe
        chosen()
        return str(getattr(chosen, "__name__", chosen))

    @contextmanager
    def refused_if(self, refusal: type[Exception], reason: Callable[[], bool]) -> Iterator[None]:
        """With other threads a step may come too late: another one has flushed the entry since it was read."""
        try:
            yield
        except refusal:
            if self.alone or not reason():
                raise

    def is_gone(self, entry_id: int) -> bool:
        with self.database.reading() as db:
            return entries.get(db, self.user.id, entry_id) is None

    def is_deleted(self, feed_id: int, hash_: bytes) -> bool:
        with self.database.reading() as db:
            return bool(entry_writes.look_up(db, {feed_id: [hash_]})[feed_id].deleted)

    def feed_ids(self) -> list[int]:
        with self.database.reading() as db:
            return [feed.id for feed in feeds.list_all(db, self.user.id)]

    def a_feed(self) -> int:
        return self.rng.choice(self.feed_ids())

    def a_category(self) -> int:
        self.number += 1
        return self.categories.create(self.user.id, f"Category {self.number}").id

    def some_entries(self) -> list[int]:
        mine = select(entry_table.c.id).where(entry_table.c.user_id == self.user.id).order_by(entry_table.c.id)
        with self.database.reading() as db:
            ids = db.scalars(mine)
        chosen = self.rng.sample(ids, min(len(ids), self.rng.randrange(8)))
        return [*chosen, *chosen[:2], 2_147_483_000]

    def subscribe(self) -> None:
        category_id = self.a_category()
        with self.database.writing() as db:
            address = f"https://example.org/feed/{self.number}"
            feeds.add(
                db,
                self.user.id,
                category_id=category_id,
                feed_url=address,
                title=address,
                created_at=NOW,
                checked_at=NOW,
                next_check_at=NOW,
            )

    def poll(self) -> None:
        feed_id = self.a_feed()
        status = self.rng.choice(list(EntryStatus))
        numbers = range(self.number + 1, self.number + 1 + self.rng.randrange(6))
        self.number += len(numbers)
        with self.database.writing() as db:
            counters.lock(db, self.user.id, [feed_id])
            feed = feeds.get(db, self.user.id, feed_id)
            assert feed is not None
            new = [ready(number, status=status, starred=self.rng.random() < 0.3) for number in numbers]
            entry_writes.add(db, self.user.id, feed_id, feed.category_id, new, now=NOW)

    def set_state(self) -> None:
        status = self.rng.choice([None, *EntryStatus])
        starred = self.rng.choice([None, True, False])
        self.services.update(self.user, self.some_entries(), status=status, starred=starred)

    def toggle_star(self) -> None:
        for entry_id in self.some_entries()[:1]:
            if entry_id == 2_147_483_000:
                continue
            with self.refused_if(NotFound, lambda: self.is_gone(entry_id)):  # noqa: B023 - called in this round
                self.services.toggle_star(self.user, entry_id)

    def read_feed(self) -> None:
        self.subscriptions.mark_read(self.user.id, self.a_feed())

    def read_category(self) -> None:
        feed_id = self.a_feed()
        with self.database.reading() as db:
            feed = feeds.get(db, self.user.id, feed_id)
        assert feed is not None
        self.categories.mark_read(self.user.id, feed.category_id)

    def read_all(self) -> None:
        with self.database.writing() as db:
            entries.mark_read(db, self.user.id, now=NOW)

    def undo_mark_read(self) -> None:
        # All that was done here was done at that moment.
        with self.database.writing() as db:
            read_state.undo_mark_read(db, self.user.id, NOW, now=NOW)

    def flush(self) -> None:
        self.services.flush_history(self.user.id)

    def import_entry(self) -> None:
        # Sometimes one that is there already.
        self.number += self.rng.choice([0, 1])
        given: dict[str, Any] = {"url": f"https://example.org/{self.number}", "starred": self.rng.random() < 0.5}
        if self.rng.random() < 0.5:
            given["status"] = self.rng.choice(["read", "unread"])
        feed_id, hash_ = self.a_feed(), sha256(given["url"].encode()).digest()
        if not self.is_deleted(feed_id, hash_):
            with self.refused_if(InvalidInput, lambda: self.is_deleted(feed_id, hash_)):
                self.services.import_one(self.user, feed_id, given)

    def move(self) -> None:
        self.subscriptions.update(self.user.id, self.a_feed(), {"category_id": self.a_category()})

    def unsubscribe(self) -> None:
        if self.rng.random() < 0.3:
            self.subscriptions.delete(self.user.id, self.a_feed())

    def drop_category(self) -> None:
        feed_id = self.a_feed()
        if self.rng.random() < 0.3:
            with self.database.reading() as db:
                feed = feeds.get(db, self.user.id, feed_id)
            assert feed is not None
            self.categories.delete(self.user.id, feed.category_id)


def create_actor(database: Database, seed: int, name: str = "alice") -> RandomActions:
    actor = RandomActions(database, Users(database, lambda: NOW).create(name, "secret"), seed)
    for _ in range(3):
        actor.subscribe()
    return actor


@pytest.mark.slow
@pytest.mark.parametrize("seed", [0, 1, *(pytest.param(seed, marks=pytest.mark.long) for seed in range(2, 4))])
def test_counters_equal_a_recount_after_any_sequence_of_changes(database: Database, seed: int) -> None:
    actor = create_actor(database, seed)
    taken: list[str] = []

    for _ in range(150):
        taken.append(actor.step())
        assert kept(database, actor.user.id) == counted(database, actor.user.id), taken[-5:]

    assert len(set(taken)) > 10


@pytest.mark.slow
def test_counters_equal_a_recount_after_concurrent_changes(database: Database) -> None:
    actor = create_actor(database, 1)
    for _ in range(5):
        actor.poll()
    actors = [RandomActions(database, actor.user, seed, alone=False) for seed in range(4)]
    for number, one in enumerate(actors, start=1):
        # Numbers of their own: entries are told apart by them. Nobody takes a feed away from another.
        one.number = number * 1_000_000
        gone = (one.subscribe, one.unsubscribe, one.drop_category)
        one.steps = [step for step in one.steps if step not in gone]
    failures: list[Exception] = []

    def run_steps(one: RandomActions) -> None:
        try:
            for _ in range(40):
                one.step()
        except Exception as error:  # noqa: BLE001 - told by the assertion below
            failures.append(error)

    threads = [threading.Thread(target=run_steps, args=(one,)) for one in actors]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert failures == []
    assert kept(database, actor.user.id) == counted(database, actor.user.id)


def test_flushing_stores_each_hash_once_and_deletes_all_rows(
    database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(history, "BATCH", 3)
    actor = create_actor(database, 1)
    feed_id = actor.a_feed()
    new = [ready(number, status=EntryStatus.READ, starred=number % 5 == 0) for number in range(1, 21)]
    with database.writing() as db:
        entry_writes.add(db, actor.user.id, feed_id, 1, new, now=NOW)

    actor.flush()

    flushed = {entry.hash for entry in new if not entry.starred}
    with database.reading() as db:
        assert entry_writes.look_up(db, {feed_id: [entry.hash for entry in new]})[feed_id].deleted == flushed
        assert entry_writes.look_up(db, {feed_id: list(flushed)})[feed_id].ids == {}
    assert kept(database, actor.user.id)[feed_id] == (0, 4, 0, 4)
