"""Measures a point of the estimate of `benchmarks.capacity` at a hundredth of its size, on PostgreSQL.

A hundred users subscribe to sources by the same law, and get what these publish in a day: entries of published feeds,
each text once for all of its subscribers. They are stored as polling stores them, and indexed.
"""

from __future__ import annotations

import os
import random
import tempfile
from collections.abc import Iterator, Sequence
from itertools import count, islice
from pathlib import Path

from msgspec import Struct
from msgspec.structs import replace
from sqlalchemy import text

from benchmarks.fan_out import pid_of
from benchmarks.lists import databases, vacuum
from benchmarks.subscribers import NOW, published_entries
from support.processor import spent_ms
from tidings.domain.entries.entries import ReadyEntry
from tidings.domain.feeds.feeds import Feed
from tidings.engine.database import Database
from tidings.services.polling.run import MAX_FEEDS
from tidings.storage.accounts import users
from tidings.storage.entries import counters, search_index
from tidings.storage.feeds import categories, feeds
from tidings.storage.polling import entry_writes

# As many new entries a check finds at once, at most.
ENTRIES_AT_ONCE = 10
SEED = 2026


class Point(Struct):
    """What was stored and what it took. entries: rows, one for each subscriber. texts: different ones."""

    subscriptions: int = 0
    entries: int = 0
    texts: int = 0
    stored_bytes: int = 0
    processor_s: float = 0.0
    """To store the entries and to index them, with the share of the server."""


def measure(people: int, rates: Sequence[float], subscribers: Sequence[int]) -> Point:
    """Store a day of sources. rates: entries of each in a day. subscribers: of each, at most `people`."""
    rng = random.Random(SEED)  # noqa: S311
    with (
        tempfile.TemporaryDirectory() as folder,
        databases("postgresql", Path(folder), is_durable=True) as made,
        made.migrated() as url,
    ):
        database, point = Database(url), Point()
        before = _size(database)
        of_source = _subscribe(database, people, [rng.sample(range(people), number) for number in subscribers])
        server, texts = pid_of(url), _texts()
        started_ms = _spent_ms(server)
        for owned, rate in zip(of_source, rates, strict=True):
            left = int(rate + rng.random()) if owned else 0
            while left > 0:
                new = list(islice(texts, min(left, ENTRIES_AT_ONCE)))
                left -= len(new)
                _store(database, owned, new)
                point.texts += len(new)
                point.entries += len(new) * len(owned)
        point.processor_s = (_spent_ms(server) - started_ms) / 1000
        point.subscriptions = sum(map(len, of_source))
        vacuum(database)
        point.stored_bytes = _size(database) - before
        database.close()
    return point


def _store(database: Database, owned: Sequence[Feed], new: Sequence[ReadyEntry]) -> None:
    for start in range(0, len(owned), MAX_FEEDS):
        batch = owned[start : start + MAX_FEEDS]
        with database.writing() as db:
            counters.lock_each(db, [(feed.user_id, feed.id) for feed in batch])
            entry_writes.add_all(db, [(feed, feed.category_id, NOW, new) for feed in batch])
    done = 1
    while done:
        with database.writing() as db:
            done = search_index.index_pending(db, limit=50)


def _subscribe(database: Database, people: int, wanted: Sequence[Sequence[int]]) -> list[list[Feed]]:
    """Add users with their feeds. wanted: the numbers of the subscribers of each source. Returns feeds by source."""
    of_source: list[list[Feed]] = [[] for _ in wanted]
    moments = {"created_at": NOW, "checked_at": NOW, "next_check_at": NOW}
    for person in range(people):
        chosen = [place for place, numbers in enumerate(wanted) if person in numbers]
        with database.writing() as db:
            user_id = users.add(db, username=f"reader-{person}", password_hash="", is_admin=False, now=NOW)
            category = categories.add(db, user_id, title="All", title_key="all", hide_globally=False)
            for place in chosen:
                url = f"https://{place}.example/feed.xml"
                values = {"feed_url": url, "title": f"Feed {place}", **moments}
                feed = feeds.get(db, user_id, feeds.add(db, user_id, category_id=category, **values))
                assert feed is not None
                of_source[place].append(feed)
    return of_source


def _texts() -> Iterator[ReadyEntry]:
    """Yield entries of published feeds again and again, each with a text and a hash of its own."""
    stored = published_entries()
    for number in count():
        entry = stored[number % len(stored)]
        yield replace(entry, hash=number.to_bytes(32, "big"), content=f"{entry.content}<p>{number}</p>")


def _size(database: Database) -> int:
    with database.reading() as db:
        return int(db.scalar(text("SELECT pg_database_size(current_database())")))


def _spent_ms(server: int) -> float:
    return spent_ms(os.getpid()) + spent_ms(server)
