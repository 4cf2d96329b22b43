"""One fetch for all: feeds of different users that show the same document."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from pathlib import Path
from urllib.parse import quote

import pytest
from sqlalchemy import func, select

from support.people import PASSWORD, rss
from support.polling_fixtures import PollingFixture
from support.publisher import Answer, Publisher
from tidings.base.times import Instant
from tidings.domain.accounts.users import User
from tidings.domain.feeds.feeds import Feed
from tidings.engine.database import Database
from tidings.services.polling.run import MAX_FEEDS
from tidings.storage.feeds import feeds
from tidings.storage.polling import sources
from tidings.storage.schema import entries as entry_table
from tidings.storage.schema import list_versions

ICON = '<svg xmlns="http://www.w3.org/2000/svg"><path d="M0 0h8v8z"/></svg>'
OWN_ICON = ICON.replace("h8", "h4")


@pytest.fixture
def polling(database: Database, database_url: str, tmp_path: Path) -> PollingFixture:
    return PollingFixture(database, database_url, tmp_path)


@pytest.mark.slow
def test_feeds_of_different_users_with_the_same_url_are_fetched_once(polling: PollingFixture, site: Publisher) -> None:
    url = site.serve("/feed.xml", rss(["Rain", "Wind"], site.url("/feed.xml")))
    ids = [polling.subscribe(polling.user(name), url) for name in ("alice", "bob", "charlie")]

    polling.poll()

    assert len(site.requests_for("/feed.xml")) == 1
    assert [polling.titles(feed_id) for feed_id in ids] == [["Rain", "Wind"]] * 3


def test_rules_apply_per_subscriber(polling: PollingFixture, site: Publisher) -> None:
    url = site.serve("/feed.xml", rss(["Rain", "Wind"], site.url("/feed.xml")))
    dry = polling.subscribe(polling.user("alice"), url, blocklist_rules="Rain")
    calm = polling.subscribe(polling.user("bob"), url, block_filter_entry_rules="EntryTitle=Wind")
    all_of_it = polling.subscribe(polling.user("charlie"), url)

    polling.poll()

    assert len(site.requests_for("/feed.xml")) == 1
    assert [polling.titles(one) for one in (dry, calm, all_of_it)] == [["Wind"], ["Rain"], ["Rain", "Wind"]]


@pytest.mark.parametrize(
    "values",
    [{"cookie": "a=b"}, {"user_agent": "Reader"}, {"username": "u", "password": "p"}, {"ignore_http_cache": 1}],
)
def test_feeds_with_different_request_settings_are_fetched_separately(
    polling: PollingFixture, site: Publisher, values: dict[str, object]
) -> None:
    url = site.serve("/feed.xml", rss(["Rain"], site.url("/feed.xml")))
    polling.subscribe(polling.user("alice"), url)
    polling.subscribe(polling.user("bob"), url, **values)

    polling.poll()

    assert len(site.requests_for("/feed.xml")) == 2


def test_a_failure_for_one_subscriber_does_not_affect_the_others(polling: PollingFixture, site: Publisher) -> None:
    """To alice the redirect leads to what she has already; to bob it is merely a redirect."""
    site.redirect("/old.xml", to="/new.xml", status=302)
    new = site.serve("/new.xml", rss(["Rain"], site.url("/new.xml")))
    alice, bob = polling.user("alice"), polling.user("bob")
    polling.subscribe(alice, new)
    twice, once = polling.subscribe(alice, site.url("/old.xml")), polling.subscribe(bob, site.url("/old.xml"))

    checked = polling.poll()

    assert checked[twice].error is not None
    assert checked[once].error is None
    assert len(checked[once].new_ids) == 1
    assert (polling.titles(twice), polling.titles(once)) == ([], ["Rain"])


def test_an_unchanged_document_is_fetched_once_and_not_parsed(polling: PollingFixture, site: Publisher) -> None:
    url = site.serve("/feed.xml", rss(["Rain"], site.url("/feed.xml")), headers={"ETag": '"1"'})
    for name in ("alice", "bob"):
        polling.subscribe(polling.user(name), url)
    polling.poll()
    polling.due_again()

    polling.poll()

    first, second = site.requests_for("/feed.xml")
    assert "if-none-match" not in first.headers
    assert second.headers["if-none-match"] == '"1"'


def test_a_later_subscriber_gets_the_whole_document(polling: PollingFixture, site: Publisher) -> None:
    """A feed without the document must not be told that nothing has changed."""
    url = site.serve("/feed.xml", rss(["Rain"], site.url("/feed.xml")), headers={"ETag": '"1"'})
    early = polling.subscribe(polling.user("alice"), url)
    polling.poll()
    late = polling.subscribe(polling.user("bob"), url)

    polling.poll()

    assert "if-none-match" not in site.requests_for("/feed.xml")[-1].headers
    assert polling.titles(early) == polling.titles(late) == ["Rain"]


def test_a_disabled_feed_is_not_updated(polling: PollingFixture, site: Publisher) -> None:
    url = site.serve("/feed.xml", rss(["Rain"], site.url("/feed.xml")))
    off = polling.subscribe(polling.user("alice"), url, disabled=True)
    on = polling.subscribe(polling.user("bob"), url)

    polling.poll()

    assert (polling.titles(off), polling.titles(on)) == ([], ["Rain"])


def test_a_source_is_deleted_with_its_last_feed(polling: PollingFixture, site: Publisher) -> None:
    url = site.url("/feed.xml")
    alice, bob = polling.user("alice"), polling.user("bob")
    first, second = polling.subscribe(alice, url), polling.subscribe(bob, url)
    assert polling.sources() == 1

    polling.services.feeds.subscriptions.delete(alice.id, first)
    assert polling.sources() == 1
    polling.services.feeds.subscriptions.delete(bob.id, second)

    assert polling.sources() == 0


def test_the_poller_deletes_a_source_without_subscribers(polling: PollingFixture, site: Publisher) -> None:
    """A deleted user takes the feeds along, and says nothing to the poller."""
    polling.subscribe(polling.user("alice"), site.url("/feed.xml"))
    admin = polling.services.accounts.users.create("root", PASSWORD, is_admin=True)
    alice = next(user for user in polling.services.accounts.users.list_all() if user.username == "alice")
    polling.services.accounts.users.delete(admin, alice.id)

    assert polling.poll() == {}

    assert polling.sources() == 0
    assert site.requests == []


def test_a_feed_with_a_new_url_gets_another_source(polling: PollingFixture, site: Publisher) -> None:
    old, new = (site.serve(path, rss([path], site.url(path))) for path in ("/old.xml", "/new.xml"))
    alice = polling.user("alice")
    moved, stayed = polling.subscribe(alice, old), polling.subscribe(polling.user("bob"), old)

    polling.services.feeds.subscriptions.update(alice.id, moved, {"feed_url": new})
    polling.poll()

    assert (polling.titles(moved), polling.titles(stayed)) == (["/new.xml"], ["/old.xml"])
    assert polling.sources() == 2


def test_a_source_is_due_when_the_first_of_its_feeds_is(polling: PollingFixture, site: Publisher) -> None:
    url = site.serve("/feed.xml", rss(["Rain"], site.url("/feed.xml")))
    alice = polling.user("alice")
    later = 4_000_000_000_000_000
    polling.subscribe(alice, url, next_check_at=later)
    assert polling.poll() == {}

    polling.subscribe(polling.user("bob"), url, next_check_at=0)

    assert len(polling.poll()) == 2


def test_a_check_without_its_claim_writes_nothing(polling: PollingFixture, site: Publisher) -> None:
    url = site.serve("/feed.xml", rss(["Rain"], site.url("/feed.xml")))
    feed_id = polling.subscribe(polling.user("alice"), url)

    async def check() -> None:
        (claim,) = polling.services.polling.claims.claim("one", 10)
        with polling.database.writing() as db:
            sources.release(db, [claim.source_id], "one")
        try:
            await polling.services.polling.claims.check(claim)
        finally:
            await polling.services.disconnect()

    asyncio.run(check())

    assert polling.titles(feed_id) == []
    with polling.database.reading() as db:
        feed = feeds.get(db, 1, feed_id)
    assert feed is not None
    assert feed.checked_at == 0


@pytest.mark.slow
def test_many_subscribers_cost_one_fetch_and_one_parse(polling: PollingFixture, site: Publisher) -> None:
    url = site.serve("/feed.xml", rss([f"Item {number}" for number in range(5)], site.url("/feed.xml")))
    created = [polling.subscribe(polling.user(f"user{number}"), url) for number in range(40)]

    checked = polling.poll()

    assert len(site.requests_for("/feed.xml")) == 1
    assert {len(checked[feed_id].new_ids) for feed_id in created} == {5}
    with polling.database.reading() as db:
        assert db.scalar(select(func.count()).select_from(entry_table)) == 200


@pytest.mark.parametrize(("subscribers", "is_in_parts"), [(MAX_FEEDS, False), (MAX_FEEDS + 1, True)])
def test_background_work_waits_while_entries_are_stored_for_many(
    polling: PollingFixture, site: Publisher, subscribers: int, is_in_parts: bool
) -> None:
    url = site.serve("/feed.xml", rss(["Rain"], site.url("/feed.xml")))
    for number in range(subscribers):
        polling.subscribe(polling.user(f"user{number}"), url)
    claims, seen = polling.services.polling.claims, []
    polling.services.feeds.subscriptions._listeners.entries_stored.append(
        lambda _db, _stored: seen.append(claims.is_storing_parts)
    )

    polling.poll()

    assert set(seen) == {is_in_parts}
    assert not claims.is_storing_parts


def test_subscribers_of_a_source_get_its_icon_together(polling: PollingFixture, site: Publisher) -> None:
    url = site.serve("/feed.xml", rss(["Rain"], site.url("/feed.xml")))
    site.serve("/feed.xml/site", '<link rel="icon" href="/icon.svg">')
    site.serve("/icon.svg", ICON)
    people = [polling.user(f"user{number}") for number in range(3)]
    ids = [polling.subscribe(person, url, icon_checked_at=None) for person in people]

    polling.poll()

    icons, versions = icons_of(polling, people, ids), [list_version(polling, person) for person in people]
    assert len(set(icons)) == 1
    assert icons[0] is not None
    # Nothing of it is new a month later.
    with polling.database.writing() as db:
        for person, feed_id in zip(people, ids, strict=True):
            feeds.set_icons(db, [(person.id, feed_id)], icon_id=icons[0], checked_at=Instant(1))
    assert icons_of(polling, people, ids) == icons
    assert [list_version(polling, person) for person in people] == versions


def test_a_subscriber_whose_feed_names_another_site_gets_its_icon(polling: PollingFixture, site: Publisher) -> None:
    url = site.serve("/feed.xml", rss(["Rain"], site.url("/feed.xml")))
    site.serve("/feed.xml/site", '<link rel="icon" href="/icon.svg">')
    site.serve("/icon.svg", ICON)
    site.serve("/own", f'<link rel="icon" href="data:image/svg+xml,{quote(OWN_ICON)}">')
    alice, bob = polling.user("alice"), polling.user("bob")
    ids = [polling.subscribe(person, url) for person in (alice, bob)]
    polling.poll()
    with polling.database.writing() as db:
        feeds.change(db, alice.id, ids[0], icon_checked_at=None)
        feeds.change(db, bob.id, ids[1], icon_checked_at=None, site_url=site.url("/own"))

    polling.due_again()
    polling.poll()

    first, second = icons_of(polling, [alice, bob], ids)
    assert first
    assert second
    assert first != second


def owned(polling: PollingFixture, people: Sequence[User], ids: Sequence[int]) -> list[Feed]:
    with polling.database.reading() as db:
        return feeds.owned_by(db, [(person.id, feed_id) for person, feed_id in zip(people, ids, strict=True)])


def icons_of(polling: PollingFixture, people: Sequence[User], ids: Sequence[int]) -> list[int | None]:
    return [feed.icon_id for feed in owned(polling, people, ids)]


def list_version(polling: PollingFixture, person: User) -> str:
    with polling.database.reading() as db:
        return str(db.scalar(select(list_versions.c.version).where(list_versions.c.user_id == person.id)))


def test_a_failed_fetch_is_an_error_of_each_feed(polling: PollingFixture, site: Publisher) -> None:
    url = site.script("/feed.xml", Answer("no", status=404))
    ids = [polling.subscribe(polling.user(name), url) for name in ("alice", "bob")]

    checked = polling.poll()

    assert all(checked[feed_id].error is not None for feed_id in ids)
    with polling.database.reading() as db:
        found = [feeds.get(db, user_id, feed_id) for user_id, feed_id in enumerate(ids, start=1)]
    assert [feed.parsing_error_count for feed in found if feed is not None] == [1, 1]
