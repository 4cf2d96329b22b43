"""One fetch for all: feeds of different users that show the same document."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest
from sqlalchemy import func, select

from support.people import PASSWORD, rss
from support.polling_fixtures import PollingFixture
from support.publisher import Answer, Publisher
from tidings.storage.engine.database import Database
from tidings.storage.feeds import feeds
from tidings.storage.polling import claims
from tidings.storage.schema import entries as entry_table


@pytest.fixture
def house(database: Database, database_url: str, tmp_path: Path) -> PollingFixture:
    return PollingFixture(database, database_url, tmp_path)


def test_feeds_of_strangers_with_one_address_are_fetched_once(house: PollingFixture, site: Publisher) -> None:
    url = site.serve("/feed.xml", rss(["Rain", "Wind"], site.url("/feed.xml")))
    ids = [house.subscribe(house.user(name), url) for name in ("alice", "bob", "charlie")]

    house.poll()

    assert len(site.requests_for("/feed.xml")) == 1
    assert [house.titles(feed_id) for feed_id in ids] == [["Rain", "Wind"]] * 3


def test_each_subscriber_has_rules_of_their_own(house: PollingFixture, site: Publisher) -> None:
    url = site.serve("/feed.xml", rss(["Rain", "Wind"], site.url("/feed.xml")))
    dry = house.subscribe(house.user("alice"), url, blocklist_rules="Rain")
    calm = house.subscribe(house.user("bob"), url, block_filter_entry_rules="EntryTitle=Wind")
    all_of_it = house.subscribe(house.user("charlie"), url)

    house.poll()

    assert len(site.requests_for("/feed.xml")) == 1
    assert [house.titles(one) for one in (dry, calm, all_of_it)] == [["Wind"], ["Rain"], ["Rain", "Wind"]]


@pytest.mark.parametrize(
    "values",
    [{"cookie": "a=b"}, {"user_agent": "Reader"}, {"username": "u", "password": "p"}, {"ignore_http_cache": 1}],
)
def test_who_asks_otherwise_gets_a_fetch_of_its_own(
    house: PollingFixture, site: Publisher, values: dict[str, object]
) -> None:
    url = site.serve("/feed.xml", rss(["Rain"], site.url("/feed.xml")))
    house.subscribe(house.user("alice"), url)
    house.subscribe(house.user("bob"), url, **values)

    house.poll()

    assert len(site.requests_for("/feed.xml")) == 2


def test_one_subscriber_who_cannot_be_served_leaves_the_others_alone(house: PollingFixture, site: Publisher) -> None:
    """To alice the redirect leads to what she has already; to bob it is merely a redirect."""
    site.redirect("/old.xml", to="/new.xml", status=302)
    new = site.serve("/new.xml", rss(["Rain"], site.url("/new.xml")))
    alice, bob = house.user("alice"), house.user("bob")
    house.subscribe(alice, new)
    twice, once = house.subscribe(alice, site.url("/old.xml")), house.subscribe(bob, site.url("/old.xml"))

    checked = house.poll()

    assert checked[twice].error is not None
    assert checked[once].error is None
    assert len(checked[once].new_ids) == 1
    assert (house.titles(twice), house.titles(once)) == ([], ["Rain"])


def test_nothing_new_is_asked_for_by_all_and_parsed_by_none(house: PollingFixture, site: Publisher) -> None:
    url = site.serve("/feed.xml", rss(["Rain"], site.url("/feed.xml")), headers={"ETag": '"1"'})
    for name in ("alice", "bob"):
        house.subscribe(house.user(name), url)
    house.poll()
    house.due_again()

    house.poll()

    first, second = site.requests_for("/feed.xml")
    assert "if-none-match" not in first.headers
    assert second.headers["if-none-match"] == '"1"'


def test_who_comes_later_is_brought_up_to_the_others(house: PollingFixture, site: Publisher) -> None:
    """Somebody without the document must not be told that nothing has changed."""
    url = site.serve("/feed.xml", rss(["Rain"], site.url("/feed.xml")), headers={"ETag": '"1"'})
    early = house.subscribe(house.user("alice"), url)
    house.poll()
    late = house.subscribe(house.user("bob"), url)

    house.poll()

    assert "if-none-match" not in site.requests_for("/feed.xml")[-1].headers
    assert house.titles(early) == house.titles(late) == ["Rain"]


def test_a_disabled_feed_takes_no_part(house: PollingFixture, site: Publisher) -> None:
    url = site.serve("/feed.xml", rss(["Rain"], site.url("/feed.xml")))
    off = house.subscribe(house.user("alice"), url, disabled=True)
    on = house.subscribe(house.user("bob"), url)

    house.poll()

    assert (house.titles(off), house.titles(on)) == ([], ["Rain"])


def test_a_source_goes_with_its_last_feed(house: PollingFixture, site: Publisher) -> None:
    url = site.url("/feed.xml")
    alice, bob = house.user("alice"), house.user("bob")
    first, second = house.subscribe(alice, url), house.subscribe(bob, url)
    assert house.sources() == 1

    house.services.feeds.delete(alice.id, first)
    assert house.sources() == 1
    house.services.feeds.delete(bob.id, second)

    assert house.sources() == 0


def test_a_source_whose_subscribers_are_gone_is_noticed_by_the_poller(house: PollingFixture, site: Publisher) -> None:
    """A deleted user takes the feeds along, and says nothing to the poller."""
    house.subscribe(house.user("alice"), site.url("/feed.xml"))
    admin = house.services.users.create("root", PASSWORD, is_admin=True)
    alice = next(user for user in house.services.users.list_all() if user.username == "alice")
    house.services.users.delete(admin, alice.id)

    assert house.poll() == {}

    assert house.sources() == 0
    assert site.requests == []


def test_another_address_is_another_source(house: PollingFixture, site: Publisher) -> None:
    old, new = (site.serve(path, rss([path], site.url(path))) for path in ("/old.xml", "/new.xml"))
    alice = house.user("alice")
    moved, stayed = house.subscribe(alice, old), house.subscribe(house.user("bob"), old)

    house.services.feeds.update(alice.id, moved, {"feed_url": new})
    house.poll()

    assert (house.titles(moved), house.titles(stayed)) == (["/new.xml"], ["/old.xml"])
    assert house.sources() == 2


def test_a_source_is_due_when_the_first_of_its_feeds_is(house: PollingFixture, site: Publisher) -> None:
    url = site.serve("/feed.xml", rss(["Rain"], site.url("/feed.xml")))
    alice = house.user("alice")
    later = 4_000_000_000_000_000
    house.subscribe(alice, url, next_check_at=later)
    assert house.poll() == {}

    house.subscribe(house.user("bob"), url, next_check_at=0)

    assert len(house.poll()) == 2


def test_a_claim_that_was_lost_writes_nothing(house: PollingFixture, site: Publisher) -> None:
    url = site.serve("/feed.xml", rss(["Rain"], site.url("/feed.xml")))
    feed_id = house.subscribe(house.user("alice"), url)

    async def check() -> None:
        (claim,) = house.services.polling.claim("one", 10)
        with house.database.writing() as db:
            claims.release(db, [claim.source_id], "one")
        try:
            await house.services.polling.check(claim)
        finally:
            await house.services.disconnect()

    asyncio.run(check())

    assert house.titles(feed_id) == []
    with house.database.reading() as db:
        feed = feeds.get(db, 1, feed_id)
    assert feed is not None
    assert feed.checked_at == 0


def test_many_subscribers_cost_one_fetch_and_one_parse(house: PollingFixture, site: Publisher) -> None:
    url = site.serve("/feed.xml", rss([f"Item {number}" for number in range(5)], site.url("/feed.xml")))
    made = [house.subscribe(house.user(f"user{number}"), url) for number in range(40)]

    checked = house.poll()

    assert len(site.requests_for("/feed.xml")) == 1
    assert {len(checked[feed_id].new_ids) for feed_id in made} == {5}
    with house.database.reading() as db:
        assert db.scalar(select(func.count()).select_from(entry_table)) == 200


def test_an_answer_that_fails_is_written_on_each_feed(house: PollingFixture, site: Publisher) -> None:
    url = site.script("/feed.xml", Answer("no", status=404))
    ids = [house.subscribe(house.user(name), url) for name in ("alice", "bob")]

    checked = house.poll()

    assert all(checked[feed_id].error is not None for feed_id in ids)
    with house.database.reading() as db:
        found = [feeds.get(db, user_id, feed_id) for user_id, feed_id in enumerate(ids, start=1)]
    assert [feed.parsing_error_count for feed in found if feed is not None] == [1, 1]
