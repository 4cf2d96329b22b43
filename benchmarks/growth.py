"""How the time of lists, counters, searches, claims and cleanup grows with entries, feeds and users, on both engines.

    entries   10,000 ─► 100,000 ─► 1,000,000        of five users, the first with six tenths of them
    feeds     100 ─► 1,000 ─► 10,000                of the first user
    users     1 ─► 100 ─► 10,000                    who share what the first does not have

Medians of the first user, and their growth; what does not grow is as in `Counts`. The storage ring is called as the
service calls it; the answers are checked. Returns 1 if something takes more than MAX_GROWTH times as long with the most
as with the fewest. Searches, whose totals count more matches the more entries there are, have a limit in milliseconds
instead, for two cores without other work; counters, whose answer has two numbers per feed, are judged per feed.

    python -m benchmarks.growth [--of entries] [--sizes 10000 5000000] [--engine sqlite]
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from statistics import median
from typing import Any, Final

from benchmarks.lists import databases
from support import archive
from support.archive import Archive
from support.entry_fixtures import NOW
from tidings.base.times import SECOND, Instant
from tidings.domain.entries.entries import Direction, EntryFilter, EntryStatus, Order, PageRequest
from tidings.engine.database import Database, Read
from tidings.maintenance.store import cleanup
from tidings.storage.entries import counters, entry_lists
from tidings.storage.polling import sources

ENGINES: Final = ("sqlite", "postgresql")
SIZES: Final[Mapping[str, Sequence[int]]] = {
    "entries": (10_000, 100_000, 1_000_000),
    "feeds": (100, 1_000, 10_000),
    "users": (1, 100, 10_000),
}
ROUNDS: Final = 30
MAX_GROWTH: Final = 1.3
# Below this, the resolution of the clock and one interruption count more than what is measured.
SMALLEST_MS: Final = 0.5
# Milliseconds, by engine.
SEARCH_LIMIT_MS: Final = {"sqlite": 60, "postgresql": 150}
PAGE: Final = PageRequest(order=Order.PUBLISHED_AT, direction=Direction.DESC, limit=50)

Case = Callable[[Read, Archive], int]


def _list(**entry_filter: Any) -> Case:
    """Return a case that reads a page of entries with bodies and total. Returns its length."""
    return lambda db, found: len(entry_lists.page(db, found.user_id, EntryFilter(**entry_filter), PAGE).entries)


def _list_of(place: str) -> Case:
    return lambda db, found: _list(**{place: getattr(found, place)})(db, found)


def _claim(found: Archive) -> int:
    """Claims five sources and lets go of them. Returns how many."""
    with found.database.writing() as db:
        held = sources.claim_due(db, "bench", now=Instant(NOW + 60), until=Instant(NOW + 99), limit=5, per_host=2)
        sources.release_all(db, "bench")
    return len(held)


def _expired(db: Read, found: Archive) -> int:
    before = Instant(NOW - 7 * 86_400 * SECOND)
    return len(
        cleanup.find_expired(db, found.user_id, EntryStatus.READ, before=before, from_position=Instant(0), limit=500)
    )


SEARCHES: Final[Mapping[str, Case]] = {
    "search, one in a thousand": _list(search="n77"),
    "search, half have it": _list(search="rain"),
}
READS: Final[Mapping[str, Case]] = {
    "all, 50": _list(),
    "unread, 50": _list(statuses=(EntryStatus.UNREAD,)),
    "starred, 50": _list(starred=True),
    "feed, 50": _list_of("feed_id"),
    "category, 50": _list_of("category_id"),
    **SEARCHES,
    "counters": lambda db, found: len(counters.list_all(db, found.user_id)),
    "cleanup, what is old": _expired,
}
CLAIM: Final = "claim five sources"


@dataclass(frozen=True)
class Counts:
    """feeds: of the first user, who has six tenths of the entries. users: the others have the rest, equally."""

    entries: int = 100_000
    feeds: int = archive.FEEDS
    users: int = 5

    def shares(self) -> list[int]:
        """Return the entries by user."""
        others = self.users - 1
        return [self.entries * 6 // 10, *[self.entries * 4 // 10 // others for _ in range(others)]]


def run(sizes: Mapping[str, Sequence[int]] = SIZES, engines: Sequence[str] = ENGINES) -> int:
    """sizes: by what grows: entries, feeds or users."""
    return max([_run_engine(engine, grows, sizes[grows]) for engine in engines for grows in sizes])


def _run_engine(engine: str, grows: str, sizes: Sequence[int]) -> int:
    sys.stdout.write(f"growth on {engine}, ms: {', '.join(f'{size:,}' for size in sizes)} {grows}\n")
    with ExitStack() as stack:
        columns = _measure([stack.enter_context(_filled(engine, Counts(**{grows: size}))) for size in sizes])
    if grows == "feeds":
        for column, size in zip(columns, sizes, strict=True):
            column["counters, 100 feeds"] = column.pop("counters") * 100 / size
    too_slow = [name for name in columns[0] if _is_too_slow(engine, name, [column[name] for column in columns])]
    for name in columns[0]:
        values = [column[name] for column in columns]
        figures = " ".join(f"{value:9.2f}" for value in values)
        verdict = "  too slow" if name in too_slow else ""
        sys.stdout.write(f"  {name:<28} {figures} {values[-1] / values[0]:7.2f} times{verdict}\n")
    sys.stdout.flush()
    return int(bool(too_slow))


def _is_too_slow(engine: str, name: str, values: Sequence[float]) -> bool:
    if name in SEARCHES:
        return values[-1] > SEARCH_LIMIT_MS[engine]
    return values[-1] > MAX_GROWTH * max(values[0], SMALLEST_MS)


@contextmanager
def _filled(engine: str, counts: Counts) -> Iterator[Archive]:
    """Yield a database with so many. Raises AssertionError if the total of a search is wrong."""
    with tempfile.TemporaryDirectory() as name, databases(engine, Path(name)) as made, made.migrated() as url:
        database = Database(url)
        shares = counts.shares()
        found = archive.build(database, shares, feeds=counts.feeds, has_removed=False)
        with database.reading() as db:
            total = entry_lists.page(db, found.user_id, EntryFilter(search="rain"), PAGE).total.number
        assert total == shares[0] // 2, f"half of the user's entries have the word, not {total}"
        yield found
        database.close()


def _measure(archives: Sequence[Archive]) -> list[dict[str, float]]:
    """Return the medians of each archive, in milliseconds by case.

    The archives take turns, so that other work on the machine slows down all of them.
    """
    medians: list[dict[str, float]] = [{} for _ in archives]
    cases = {name: partial(_read, case) for name, case in READS.items()} | {CLAIM: _claim}
    for name, case in cases.items():
        turns = [[_took_ms(case, found) for found in archives] for _ in range(ROUNDS)]
        for one, times in zip(medians, zip(*turns, strict=True), strict=True):
            one[name] = median(times)
    return medians


def _read(case: Case, found: Archive) -> int:
    with found.database.reading() as db:
        return case(db, found)


def _took_ms(case: Callable[[Archive], int], found: Archive) -> float:
    """Raise AssertionError for an empty answer."""
    started = time.perf_counter()
    count = case(found)
    took = (time.perf_counter() - started) * 1000
    assert count > 0, "an empty answer"
    return took


def main() -> int:
    parser = argparse.ArgumentParser(prog="benchmarks.growth")
    parser.add_argument("--of", choices=SIZES, help="what grows; all three in turn without it")
    parser.add_argument("--sizes", type=int, nargs="+", help="with --of: how many")
    parser.add_argument("--engine", choices=ENGINES)
    arguments = parser.parse_args()
    if arguments.sizes and not arguments.of:
        parser.error("--sizes needs --of")
    sizes = {arguments.of: arguments.sizes or SIZES[arguments.of]} if arguments.of else SIZES
    return run(sizes, (arguments.engine,) if arguments.engine else ENGINES)


if __name__ == "__main__":
    sys.exit(main())
