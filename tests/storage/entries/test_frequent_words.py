"""Searches for frequent words return the same as searches for rare ones, although they run differently."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from support.databases import Databases
from support.entry_fixtures import NOW, FeedFixture, ready
from tidings.domain.entries.entries import Direction, EntryCursor, EntryFilter, EntryStatus, Order, PageRequest
from tidings.domain.times import SECOND, Instant
from tidings.services.entries.search_index import SearchIndexer
from tidings.storage.engine.database import Database
from tidings.storage.entries import entries, entry_lists

COUNT = 600


@pytest.fixture(scope="module")
def feed_fixture(databases: Databases) -> Iterator[FeedFixture]:
    """Entries of two feeds, one per second; every third is read, every fifth starred."""
    with databases.migrated() as url:
        database = Database(url)
        first = FeedFixture.create(database)
        second = first.another_feed()
        ids = {
            number: (first, second)[number % 2].add(
                ready(f"Entry {number}", _words(number), published_at=Instant(NOW + number * SECOND))
            )[0]
            for number in range(COUNT)
        }
        with database.writing() as db:
            entries.set_state(db, first.user_id, [ids[n] for n in ids if n % 3 == 0], status=EntryStatus.READ, now=NOW)
            entries.set_state(db, first.user_id, [ids[n] for n in ids if n % 5 == 0], starred=True, now=NOW)
        while SearchIndexer(database).work():
            pass
        yield first
        database.close()


def _words(number: int) -> str:
    """Returns words: rain in all entries, sun in half, hail in one of ten, snow in the first twenty, fog in one."""
    words = ["rain", "wind"]
    words += ["sun"] if number % 2 else ["rain"]
    words += ["hail"] if number % 10 == 4 else []
    words += ["snow"] if number < 20 else []
    words += ["fog"] if number == 300 else []
    return " ".join(words)


ALL, ODD, OLD = set(range(COUNT)), set(range(1, COUNT, 2)), set(range(20))
FOUND = {
    "rain": ALL,
    "ra*": ALL,
    "rain wind": ALL,
    '"rain wind"': ALL,
    '"wind rain"': ALL - ODD,
    "sun": ODD,
    "hail": set(range(4, COUNT, 10)),
    "snow": OLD,
    "fog": {300},
    "rain fog": {300},
    "rain -sun": ALL - ODD,
    "-sun": ALL - ODD,
    "-snow": ALL - OLD,
    "-rain": set(),
    "drought": set(),
}
FILTERED: dict[str, tuple[dict[str, Any], set[int]]] = {
    "all": ({}, ALL),
    "unread": ({"statuses": (EntryStatus.UNREAD,)}, ALL - set(range(0, COUNT, 3))),
    "starred": ({"starred": True}, set(range(0, COUNT, 5))),
    "of a feed": ({"feed_id": True}, ALL - ODD),
}


@pytest.mark.parametrize("name", FILTERED)
@pytest.mark.parametrize("query", FOUND)
def test_a_search_finds_the_same_however_frequent_it_is(feed_fixture: FeedFixture, query: str, name: str) -> None:
    given, those = FILTERED[name]
    given = {key: feed_fixture.feed_id if key == "feed_id" else value for key, value in given.items()}
    found = sorted(FOUND[query] & those)

    with feed_fixture.database.reading() as db:
        for limit, offset in ((25, 0), (101, 30), (20, 420)):
            page = PageRequest(direction=Direction.DESC, limit=limit, offset=offset)
            listed = entry_lists.page(db, feed_fixture.user_id, EntryFilter(search=query, **given), page)
            assert _numbers(listed.entries) == found[::-1][offset : offset + limit]
            assert listed.total == len(found)


@pytest.mark.parametrize("query", FOUND)
def test_a_search_continues_from_a_cursor(feed_fixture: FeedFixture, query: str) -> None:
    found = sorted(FOUND[query])
    cursor = EntryCursor(Instant(NOW + 250 * SECOND), 2**40)

    with feed_fixture.database.reading() as db:
        for limit in (1, 40):
            later = PageRequest(cursor=cursor, limit=limit)
            earlier = PageRequest(cursor=cursor, limit=limit, direction=Direction.DESC)
            entry_filter = EntryFilter(search=query)
            assert (
                _numbers(entry_lists.rows(db, feed_fixture.user_id, entry_filter, later))
                == [n for n in found if n > 250][:limit]
            )
            expected = [n for n in found[::-1] if n <= 250][:limit]
            assert _numbers(entry_lists.rows(db, feed_fixture.user_id, entry_filter, earlier)) == expected
            assert entry_lists.page(db, feed_fixture.user_id, entry_filter, later).total == len(found)


@pytest.mark.parametrize("order", Order)
def test_a_frequent_word_comes_in_the_order_of_the_list(feed_fixture: FeedFixture, order: Order) -> None:
    for direction in Direction:
        pages = [
            PageRequest(order=order, direction=direction, limit=70, offset=offset) for offset in range(0, COUNT, 70)
        ]
        with feed_fixture.database.reading() as db:
            listed = [_numbers(entry_lists.rows(db, feed_fixture.user_id, EntryFilter(), page)) for page in pages]
            found = [
                _numbers(entry_lists.rows(db, feed_fixture.user_id, EntryFilter(search="rain"), page)) for page in pages
            ]
        assert found == listed


def _numbers(found: Any) -> list[int]:
    return [int(entry.title.split()[1]) for entry in found]
