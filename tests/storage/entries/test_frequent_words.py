"""Searches for frequent words return the same as searches for rare ones, although they run differently."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from sqlalchemy import delete, update

from support.databases import Databases
from support.entry_fixtures import NOW, FeedFixture, ready
from tidings.base.times import SECOND, Instant
from tidings.domain.entries.entries import Direction, EntryCursor, EntryFilter, EntryStatus, Order, PageRequest, Total
from tidings.engine import full_text
from tidings.engine.database import Database
from tidings.engine.statements import split_ids
from tidings.services.entries.search_index import SearchIndexer
from tidings.storage.entries import entries, entry_lists, search_index
from tidings.storage.schema import entries as entry_rows
from tidings.storage.schema import entry_contents

pytestmark = pytest.mark.slow

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
    """Return words: rain in all entries, sun in half, hail in one of ten, snow in the first twenty, fog in one."""
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
            assert listed.total == Total(len(found))


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
            assert entry_lists.page(db, feed_fixture.user_id, entry_filter, later).total.number == len(found)


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


@pytest.fixture
def changing(database: Database) -> FeedFixture:
    """Sixty entries that have the word rain, all indexed."""
    created = FeedFixture.create(database)
    created.add(*(ready(f"Entry {number}", "rain") for number in range(60)))
    while SearchIndexer(database).work():
        pass
    return created


def _total(feed_fixture: FeedFixture, search: str = "rain") -> int:
    with feed_fixture.database.reading() as db:
        return entry_lists.page(db, feed_fixture.user_id, EntryFilter(search=search), PageRequest(limit=5)).total.number


def _ids(feed_fixture: FeedFixture) -> list[int]:
    with feed_fixture.database.reading() as db:
        return split_ids(entry_lists.joined_ids(db, feed_fixture.user_id, EntryFilter()))


def test_the_total_of_a_frequent_word_leaves_out_what_was_removed_or_deleted(changing: FeedFixture) -> None:
    ids = _ids(changing)

    with changing.database.writing() as db:
        entries.set_state(db, changing.user_id, ids[:7], status=EntryStatus.REMOVED, now=NOW)
    assert _total(changing) == 53

    with changing.database.writing() as db:
        db.run(delete(entry_rows).where(entry_rows.c.id.in_([ids[6], *ids[50:]])))
    assert _total(changing) == 43

    while SearchIndexer(changing.database).work():
        pass
    assert _total(changing) == 43


def test_the_total_of_a_frequent_word_follows_changes_of_texts(changing: FeedFixture) -> None:
    first, *_ = _ids(changing)
    with changing.database.writing() as db:
        db.run(update(entry_contents).where(entry_contents.c.entry_id == first).values(content="drought"))
        search_index.note_changed(db, changing.user_id, [first])
        search_index.index_pending(db, limit=100)

    assert _total(changing) == 59
    assert _total(changing, "drought") == 1


def test_the_total_of_a_frequent_word_is_that_of_one_user(changing: FeedFixture) -> None:
    other = FeedFixture.create(changing.database)
    other.add(*(ready(f"Entry {number}", "rain") for number in range(40)))
    while SearchIndexer(changing.database).work():
        pass
    with changing.database.writing() as db:
        entries.set_state(db, other.user_id, _ids(other)[:3], status=EntryStatus.REMOVED, now=NOW)
        db.run(delete(entry_rows).where(entry_rows.c.id == _ids(changing)[0]))

    assert (_total(changing), _total(other)) == (59, 37)


def test_the_total_of_a_frequent_word_is_exact_with_many_removed(
    changing: FeedFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(full_text, "max_removed", lambda _db: 2)
    ids = _ids(changing)
    with changing.database.writing() as db:
        entries.set_state(db, changing.user_id, ids[:3], status=EntryStatus.REMOVED, now=NOW)
        db.run(delete(entry_rows).where(entry_rows.c.id.in_(ids[50:])))

    assert _total(changing) == 47


@pytest.mark.slow
def test_the_total_of_a_frequent_word_is_that_of_one_moment(changing: FeedFixture) -> None:
    # Each transaction removes as many entries as it brings back: no other total was ever committed.
    database, ids = changing.database, _ids(changing)
    with database.writing() as db:
        entries.set_state(db, changing.user_id, ids[:10], status=EntryStatus.REMOVED, now=NOW)
    has_exchanged, is_over = threading.Event(), threading.Event()

    def exchange() -> None:
        rounds = 0
        while not is_over.is_set():
            rounds += 1
            gone, back = (ids[:10], ids[10:20])[:: 1 if rounds % 2 == 0 else -1]
            with database.writing() as db:
                entries.set_state(db, changing.user_id, gone, status=EntryStatus.REMOVED, now=NOW)
                entries.set_state(db, changing.user_id, back, status=EntryStatus.UNREAD, now=NOW)
            if rounds > 1:
                has_exchanged.set()

    with ThreadPoolExecutor() as pool:
        exchanging = pool.submit(exchange)
        try:
            totals = {_total(changing) for _ in range(50)}
            while not (has_exchanged.is_set() or exchanging.done()):
                totals.add(_total(changing))
        finally:
            is_over.set()
        exchanging.result()

    assert totals == {50}


def _numbers(found: Any) -> list[int]:
    return [int(entry.title.split()[1]) for entry in found]
