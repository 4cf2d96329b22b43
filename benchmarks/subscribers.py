"""Measures what an entry takes in the database for each of 1, 3, 35 … subscribers of the same sources, on both engines.

The entries are of published feeds (`feeds-real`), a random sample. They are stored as polling stores them, indexed, and
counted by part: the rows of entries with what lists need, bodies, and search terms. Entries are indexed between checks,
and the index is merged at the end, as the workers do.

    python -m benchmarks.subscribers [SUBSCRIBERS …]
"""

from __future__ import annotations

import random
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from itertools import islice
from pathlib import Path
from typing import Final

from msgspec.structs import replace
from sqlalchemy import text

from benchmarks.lists import databases, vacuum
from scoring import throughput
from tidings.base.times import MINUTE, Instant
from tidings.domain.entries.entries import ReadyEntry
from tidings.domain.feeds.feeds import Feed
from tidings.domain.polling.entry_policy import prepare
from tidings.engine.database import Database, Read
from tidings.maintenance.cleanup import INDEX_PAGES
from tidings.services.entries.search_index import SearchIndexer
from tidings.storage.accounts import users
from tidings.storage.entries import counters, search_index
from tidings.storage.feeds import categories, feeds
from tidings.storage.polling import entry_writes

SUBSCRIBERS: Final = (1, 3, 35)
ENTRIES, FEEDS = 200, 20
# From this number of subscribers on, each has a fifth of the entries. With few, the words of a user's index take more.
MANY: Final = 100
NOW: Final = Instant(1_795_000_000_000_000)
# As many feeds as a worker stores in one transaction.
BATCH: Final = 25
PARTS: Final[Mapping[str, Sequence[str]]] = {
    "entries": ("entries", "entry_tags", "enclosures", "tombstones", "changes", "list_versions", "feed_counters"),
    "bodies": ("entry_contents", "shared_contents"),
    "search": ("entry_words", "search_"),
}


def run(numbers: Sequence[int] = SUBSCRIBERS) -> None:
    sample = published_entries()
    size = sum(len(entry.content) for entry in sample) / len(sample)
    sys.stdout.write(f"subscribers: {len(sample)} entries of {size:,.0f} characters; bytes per entry and subscriber\n")
    for engine in ("sqlite", "postgresql"):
        sys.stdout.write(f"  {engine:<12} {'  '.join(f'{part:>8}' for part in (*PARTS, 'all'))}   stored in\n")
        for number in numbers:
            with (
                tempfile.TemporaryDirectory() as folder,
                databases(engine, Path(folder)) as made,
                made.migrated() as url,
            ):
                _measure(Database(url), sample if number < MANY else sample[::5], number)


def _measure(database: Database, sample: Sequence[ReadyEntry], number: int) -> None:
    empty = _sizes(database)
    owned = [_subscribe(database, one) for one in range(number)]
    took_s = 0.0
    for place in range(FEEDS):
        entries = [entry for index, entry in enumerate(sample) if index % FEEDS == place]
        for start in range(0, number, BATCH):
            batch = [of_user[place] for of_user in owned[start : start + BATCH]]
            started = time.perf_counter()
            with database.writing() as db:
                counters.lock_each(db, [(feed.user_id, feed.id) for feed in batch])
                entry_writes.add_all(db, [(feed, feed.category_id, NOW, entries) for feed in batch])
            took_s += time.perf_counter() - started
            while SearchIndexer(database).work():
                pass
    _merge(database)
    vacuum(database)
    full = _sizes(database)
    each = {part: (full[part] - empty[part]) / len(sample) / number for part in PARTS}
    figures = "  ".join(f"{size:8,.0f}" for size in (*each.values(), sum(each.values())))
    sys.stdout.write(f"  {number:>12,} {figures}   {took_s:.1f} s\n")
    sys.stdout.flush()
    database.close()


def _merge(database: Database) -> None:
    """Merge the search index, as the cleanup does."""
    with database.reading() as db:
        has_more = search_index.is_scattered(db)
    is_first = True
    while has_more:
        with database.writing() as db:
            has_more = search_index.merge(db, pages=INDEX_PAGES, is_first=is_first)
        is_first = False


def _subscribe(database: Database, number: int) -> list[Feed]:
    """Return the feeds of a new user, one for each source."""
    with database.writing() as db:
        user_id = users.add(db, username=f"reader-{number}", password_hash="", is_admin=False, now=NOW)
        category = categories.add(db, user_id, title="All", title_key="all", hide_globally=False)
        ids = [
            feeds.add(
                db,
                user_id,
                category_id=category,
                feed_url=f"http://127.0.0.1:1/{place}",
                title=f"Feed {place}",
                created_at=NOW,
                checked_at=NOW,
                next_check_at=NOW,
            )
            for place in range(FEEDS)
        ]
        found = [feeds.get(db, user_id, id_) for id_ in ids]
    return [feed for feed in found if feed is not None]


def published_entries() -> list[ReadyEntry]:
    """Return random entries of the published feeds, with different hashes and dates."""
    rng = random.Random(38)  # noqa: S311 - the same ones each time
    bodies = throughput.bodies()
    rng.shuffle(bodies)
    parsed = (entry for body in bodies for entry in throughput.entries_of(body)[:30])
    sample: list[ReadyEntry] = []
    for number, entry in enumerate(islice(parsed, ENTRIES)):
        ready = prepare(entry, throughput.HOW, feed=throughput.FEED, now=NOW).entry
        assert ready is not None
        published_at = Instant(NOW - rng.randrange(100_000) * MINUTE)
        sample.append(replace(ready, hash=number.to_bytes(32, "big"), published_at=published_at))
    return sample


def _sizes(database: Database) -> dict[str, int]:
    with database.reading() as db:
        sizes = _sqlite_sizes(db) if database.is_sqlite else _postgresql_sizes(db)
    found = dict.fromkeys(PARTS, 0)
    for table, size in sizes.items():
        for part, names in PARTS.items():
            if any(table == name or (name.endswith(("_", "words")) and table.startswith(name)) for name in names):
                found[part] += size
    return found


def _sqlite_sizes(db: Read) -> dict[str, int]:
    statement = (
        "SELECT tbl_name, sum(pgsize) FROM dbstat JOIN sqlite_master ON sqlite_master.name = dbstat.name"
        " GROUP BY tbl_name"
    )
    return {row[0]: int(row[1]) for row in db.tuples(text(statement))}


def _postgresql_sizes(db: Read) -> dict[str, int]:
    statement = "SELECT relname, pg_total_relation_size(oid) FROM pg_class WHERE relkind = 'r'"
    return {row[0]: int(row[1]) for row in db.tuples(text(statement))}


if __name__ == "__main__":
    run(tuple(map(int, sys.argv[1:])) or SUBSCRIBERS)
