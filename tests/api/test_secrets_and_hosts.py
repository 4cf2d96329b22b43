"""The cookie, the credentials and the user agent of a feed stay with the host that they were given for."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from api.test_icons import long_ago, png
from api.test_refresh import path_of, refresh
from support.people import Person, rss
from support.publisher import Publisher, ReceivedRequest
from tidings.storage.feeds import feeds
from tidings.wiring.services import AllServices

pytestmark = pytest.mark.slow

GIVEN = {"cookie": "taste=sweet", "user_agent": "Rainreader/1", "username": "alice", "password": "hush"}
NONE = dict.fromkeys(GIVEN, "")


@pytest.fixture
def elsewhere() -> Iterator[Publisher]:
    with Publisher("127.0.0.2") as other:
        yield other


def carries(seen: ReceivedRequest) -> bool:
    """Whether a request holds anything that was given for the feed."""
    return bool({"cookie", "authorization"} & seen.headers.keys()) or "Rainreader" in seen.headers["user-agent"]


def bound(feed: dict[str, Any]) -> dict[str, Any]:
    return {name: feed[name] for name in GIVEN}


def moves(feed: dict[str, Any], site: Publisher, elsewhere: Publisher, status: int = 301) -> str:
    """Serve the feed on the other host, with an icon, and redirect to it. Returns the new address."""
    elsewhere.serve("/favicon.ico", png())
    address = elsewhere.serve("/new.xml", rss(["One"], elsewhere.url("/new.xml")))
    site.redirect(path_of(feed, site), to=address, status=status)
    return address


@pytest.mark.slow
@pytest.mark.parametrize("status", [301, 308])
@pytest.mark.parametrize("name", ["cookie", "user_agent", "username"])
def test_a_moved_feed_takes_nothing_to_its_new_host(
    alice: Person, site: Publisher, elsewhere: Publisher, services: AllServices, name: str, status: int
) -> None:
    given = {name: GIVEN[name]} | ({"password": "hush"} if name == "username" else {})
    feed = alice.has_feed(site, **given)
    address = moves(feed, site, elsewhere, status)
    for _ in range(4):
        refresh(alice, feed)

    long_ago(services, feed, days=100)
    after = refresh(alice, feed)

    assert elsewhere.requests_for("/new.xml")
    assert not any(map(carries, elsewhere.requests))
    assert after["feed_url"] == feed["feed_url"], "or the next check would send them"
    assert bound(after) == NONE | given
    with services.reading() as db:
        assert (stored := feeds.get(db, alice.id, feed["id"]))
    assert (stored.moved_to, stored.moved_times) == (address, 3)


def test_a_moved_feed_moves_once_nothing_is_bound_to_its_host(
    alice: Person, site: Publisher, elsewhere: Publisher
) -> None:
    feed = alice.has_feed(site, **GIVEN)
    address = moves(feed, site, elsewhere)
    for _ in range(3):
        refresh(alice, feed)

    alice.put(f"/v1/feeds/{feed['id']}", NONE, status=201)

    assert refresh(alice, feed)["feed_url"] == address


def test_a_moved_feed_on_the_same_host_keeps_what_it_has(alice: Person, site: Publisher) -> None:
    feed = alice.has_feed(site, **GIVEN)
    site.serve("/new.xml", rss(["One"], feed["feed_url"]))
    site.redirect(path_of(feed, site), to="/new.xml", status=301)
    for _ in range(3):
        refresh(alice, feed)

    after = refresh(alice, feed)

    assert after["feed_url"] == site.url("/new.xml")
    assert bound(after) == GIVEN
    assert carries(site.last)


def test_a_new_feed_takes_nothing_to_the_host_that_it_has_moved_to(
    alice: Person, site: Publisher, elsewhere: Publisher
) -> None:
    elsewhere.serve("/favicon.ico", png())
    elsewhere.serve("/new.xml", rss(["One"], elsewhere.url("/new.xml")))
    site.redirect("/old.xml", to=elsewhere.url("/new.xml"), status=301)

    created = alice.post("/v1/feeds", {"feed_url": site.url("/old.xml"), **GIVEN})
    feed = alice.get(f"/v1/feeds/{created['feed_id']}")
    refresh(alice, feed)

    assert elsewhere.requests_for("/new.xml")
    assert not any(map(carries, elsewhere.requests))
    assert (feed["feed_url"], bound(feed)) == (site.url("/old.xml"), GIVEN)


def test_a_new_address_on_another_host_clears_what_is_not_sent_again(
    alice: Person, site: Publisher, elsewhere: Publisher
) -> None:
    feed = alice.has_feed(site, **GIVEN)
    address = elsewhere.serve("/new.xml", rss(["One"], elsewhere.url("/new.xml")))

    changed = alice.put(f"/v1/feeds/{feed['id']}", {"feed_url": address, "cookie": "for=you"}, status=201)
    refresh(alice, changed)

    assert bound(changed) == NONE | {"cookie": "for=you"}
    seen = elsewhere.last.headers
    assert seen["cookie"] == "for=you"
    assert "authorization" not in seen
    assert "Rainreader" not in seen["user-agent"]


def test_a_new_address_with_credentials_in_it_has_these_only(
    alice: Person, site: Publisher, elsewhere: Publisher
) -> None:
    feed = alice.has_feed(site, **GIVEN)

    changed = alice.put(
        f"/v1/feeds/{feed['id']}", {"feed_url": elsewhere.url("/x").replace("://", "://bob:own@")}, status=201
    )

    assert bound(changed) == NONE | {"username": "bob", "password": "own"}


def test_a_feed_sent_back_as_a_whole_keeps_what_it_has(alice: Person, site: Publisher, elsewhere: Publisher) -> None:
    feed = alice.has_feed(site, **GIVEN)

    changed = alice.put(f"/v1/feeds/{feed['id']}", {"feed_url": elsewhere.url("/x"), **bound(feed)}, status=201)

    assert bound(changed) == GIVEN


@pytest.mark.parametrize(
    ("old", "new", "keeps"),
    [
        ("https://reader.example/a", "https://reader.example/b", True),
        ("http://reader.example/a", "https://reader.example/a", True),
        ("https://reader.example/a", "http://reader.example/a", False),
        ("https://reader.example/a", "https://reader.example:8443/a", False),
        ("https://reader.example/a", "https://www.reader.example/a", False),
    ],
)
def test_what_counts_as_another_host(alice: Person, site: Publisher, old: str, new: str, keeps: bool) -> None:
    feed = alice.has_feed(site)
    alice.put(f"/v1/feeds/{feed['id']}", {"feed_url": old, **GIVEN}, status=201)

    changed = alice.put(f"/v1/feeds/{feed['id']}", {"feed_url": new}, status=201)

    assert bound(changed) == (GIVEN if keeps else NONE)


def test_an_article_that_redirects_to_another_host_gets_nothing(
    alice: Person, site: Publisher, elsewhere: Publisher
) -> None:
    feed = alice.has_feed(site, ["Rain"], **GIVEN)
    elsewhere.serve("/story", "<html><body><article><p>" + "The rain of the day. " * 50 + "</article></body></html>")
    url = site.redirect("/story", to=elsewhere.url("/story"), status=308)
    entry = alice.post(f"/v1/feeds/{feed['id']}/entries/import", {"url": url})

    alice.get(f"/v1/entries/{entry['id']}/fetch-content")

    assert carries(site.requests_for("/story")[0])
    assert not any(map(carries, elsewhere.requests_for("/story")))
