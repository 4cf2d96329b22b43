"""Writing what documents bring: what was looked up before counts only as far as it is still so."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from msgspec.structs import replace
from sqlalchemy import select

from support.entry_fixtures import NOW, FeedFixture, ready
from support.polling_fixtures import PollingFixture
from support.publisher import Publisher
from tidings.domain.entries.entries import EntryStatus, ReadyEntry
from tidings.domain.feeds.feeds import Feed
from tidings.domain.polling.changes import FeedUpdate
from tidings.domain.polling.shared_sources import SourceLease
from tidings.engine.database import Database, Write
from tidings.engine.distribution import Place
from tidings.net.fetch import FetchResponse
from tidings.services.listeners import ArrivingEntries, Listeners, StoredEntries
from tidings.services.polling.check import FeedChecker
from tidings.services.polling.run import MAX_FEEDS, CheckRun, batches, parts
from tidings.services.polling.store import store_updates
from tidings.storage.accounts import users
from tidings.storage.feeds import feeds
from tidings.storage.polling import entry_writes
from tidings.storage.schema import entries, feed_counters


@pytest.fixture
def feed_fixture(database: Database) -> FeedFixture:
    return FeedFixture.create(database)


def feed_of(database: Database, user_id: int, feed_id: int) -> Feed:
    with database.reading() as db:
        found = feeds.get(db, user_id, feed_id)
    assert found is not None
    return found


def test_entries_stored_by_a_concurrent_check_are_not_stored_again(feed_fixture: FeedFixture) -> None:
    database = feed_fixture.database
    with database.reading() as db:
        owner = users.get(db, feed_fixture.user_id)
    assert owner is not None
    feed = feed_of(database, feed_fixture.user_id, feed_fixture.feed_id)
    rain, wind, snow = (ready(title) for title in ("Rain", "Wind", "Snow"))

    def store_new(*new: ReadyEntry) -> Sequence[int]:
        with database.writing() as db:
            (stored,) = store_updates(
                db,
                [FeedUpdate(user=owner, feed=feed, now=NOW, new={entry.hash: entry for entry in new})],
                listeners=Listeners(),
            )
        return stored.new_ids

    # Both looked before either wrote.
    first, second = store_new(rain, wind), store_new(wind, snow)

    assert (len(first), len(second)) == (2, 1)
    with database.reading() as db:
        assert db.scalars(select(entries.c.title).order_by(entries.c.id)) == ["Rain", "Wind", "Snow"]
        assert db.scalars(select(feed_counters.c.unread)) == [3]


def test_listeners_decide_about_entries_before_they_are_stored(feed_fixture: FeedFixture) -> None:
    database = feed_fixture.database
    with database.reading() as db:
        owner = users.get(db, feed_fixture.user_id)
    assert owner is not None
    feed = feed_of(database, feed_fixture.user_id, feed_fixture.feed_id)
    rain, wind, snow = (ready(title) for title in ("Rain", "Wind", "Snow"))
    stored_ids: list[int] = []
    announced: list[StoredEntries] = []

    def decide(_db: Write, arriving: Sequence[ArrivingEntries]) -> Callable[[Write], None]:
        (one,) = arriving
        one.drop(rain.hash)
        one.new[wind.hash] = replace(wind, status=EntryStatus.READ, starred=True)
        return lambda _db: stored_ids.extend(one.ids[hash_] for hash_ in (wind.hash, snow.hash))

    listeners = Listeners()
    listeners.entries_arriving.append(decide)
    listeners.entries_stored.append(lambda _db, stored: announced.extend(stored))
    update = FeedUpdate(user=owner, feed=feed, now=NOW, new={entry.hash: entry for entry in (rain, wind, snow)})
    with database.writing() as db:
        (result,) = store_updates(db, [update], listeners=listeners)

    assert result.new_ids == stored_ids == announced[0].entry_ids
    # A read entry is no news.
    assert announced[0].unread_ids == stored_ids[1:]
    with database.reading() as db:
        states = select(entries.c.title, entries.c.status, entries.c.starred).order_by(entries.c.id)
        assert db.tuples(states) == [("Wind", 1, True), ("Snow", 0, False)]
        assert db.tuples(select(feed_counters.c.unread, feed_counters.c.starred_read)) == [(1, 1)]
        # As a deleted entry, it does not come back.
        assert rain.hash in entry_writes.look_up(db, {feed.id: [rain.hash]})[feed.id].deleted


def test_feeds_of_users_on_the_same_server_and_shard_are_stored_together() -> None:
    members: list[tuple[Any, Any]] = [
        (SimpleNamespace(changed=[]), SimpleNamespace(id=id_, user_id=id_ % 4)) for id_ in range(4 * MAX_FEEDS)
    ]
    run: Any = SimpleNamespace(changed=[feed for _, feed in members])
    places = {user: Place(node=user % 2, shard=user // 2) for user in range(4)}

    of_batches = [[feed for _, feed in batch] for batch in batches(members, places)]
    of_parts = [list(part.feeds) for part in parts(run, places)]

    for stored in (of_batches, of_parts):
        assert [len(feeds) for feeds in stored] == [MAX_FEEDS] * 4
        assert [{feed.user_id for feed in feeds} for feeds in stored] == [{0}, {2}, {1}, {3}]


def test_two_documents_of_one_feed_are_ingested_one_after_the_other(
    database: Database, database_url: str, tmp_path: Path, site: Publisher
) -> None:
    polling = PollingFixture(database, database_url, tmp_path)
    user = polling.user("alice")
    feed = feed_of(database, user.id, polling.subscribe(user, site.url("/feed.xml")))

    checker = polling.services.polling.claims._checker
    assert isinstance(checker, FeedChecker)

    def document(title: str) -> CheckRun:
        body = f"<rss version='2.0'><channel><item><title>{title}</title><guid>{title}</guid></item></channel></rss>"
        run = checker.start(SourceLease(0, [feed]))
        run.response, run.changed = FetchResponse(status=200, url=feed.feed_url, body=body.encode()), [feed]
        return run

    both = [document("Rain"), document("Wind")]
    checker.store_documents([part for run in both for part in parts(run, {})])

    assert polling.titles(feed.id) == ["Rain", "Wind"]
    assert [len(one.results[feed.id].new_ids) for one in both] == [1, 1]


def test_a_document_with_many_subscribers_does_not_keep_others_waiting(
    database: Database, database_url: str, tmp_path: Path, site: Publisher
) -> None:
    polling = PollingFixture(database, database_url, tmp_path)
    many = [polling.user(f"user{number}") for number in range(MAX_FEEDS + 5)]
    shared = [feed_of(database, user.id, polling.subscribe(user, site.url("/many.xml"))) for user in many]
    own = feed_of(database, many[0].id, polling.subscribe(many[0], site.url("/own.xml")))
    checker = polling.services.polling.claims._checker
    assert isinstance(checker, FeedChecker)

    def fetched(feeds_of_source: list[Feed]) -> CheckRun:
        run = checker.start(SourceLease(0, feeds_of_source))
        body = b"<rss version='2.0'><channel><item><title>Rain</title><guid>rain</guid></item></channel></rss>"
        run.response = FetchResponse(status=200, url=feeds_of_source[0].feed_url, body=body)
        return run

    async def read_both(*runs: CheckRun) -> None:
        await asyncio.gather(*(checker._read(run) for run in runs))
        await polling.services.disconnect()

    asyncio.run(read_both(fetched(shared), fetched([own])))

    with database.reading() as db:
        stored_for = db.scalars(select(entries.c.feed_id).order_by(entries.c.id))
    assert sorted(stored_for) == sorted(feed.id for feed in [*shared, own])
    assert stored_for.index(own.id) <= MAX_FEEDS
