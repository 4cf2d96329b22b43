"""freshrss-api from PyPI, a library for the Fever API: every public method, against the service."""

from __future__ import annotations

import inspect

import pytest
from freshrss_api import AuthenticationError, FreshRSSAPI

from clients.library import Library, create_library, numbered, subscribe
from support.people import Person
from support.publisher import Publisher

pytestmark = pytest.mark.slow

TESTED = {
    "get_feeds",
    "get_groups",
    "get_items_from_dates",
    "get_items_from_ids",
    "get_saved",
    "get_unreads",
    "set_mark",
}


@pytest.fixture
def library(alice: Person, site: Publisher) -> Library:
    return create_library(alice, site)


@pytest.fixture
def client(alice: Person) -> FreshRSSAPI:
    password = alice.post("/v1/api-passwords", {"name": "freshrss-api"})["password"]
    return FreshRSSAPI(host=alice.service.url, username=alice.user.username, password=password)


def test_every_method_is_tested() -> None:
    methods = {name for name, _ in inspect.getmembers(FreshRSSAPI, inspect.isfunction) if not name.startswith("_")}

    assert methods == TESTED


def test_a_wrong_password_is_noticed_at_once(alice: Person) -> None:
    with pytest.raises(AuthenticationError):
        FreshRSSAPI(host=alice.service.url, username=alice.user.username, password="wrong")


def test_feeds_and_groups_are_those_of_the_native_api(alice: Person, library: Library, client: FreshRSSAPI) -> None:
    feeds, groups = client.get_feeds(), client.get_groups()

    assert {one["id"]: one["title"] for one in feeds["feeds"]} == {
        one["id"]: one["title"] for one in alice.get("/v1/feeds")
    }
    assert {one["id"]: one["title"] for one in groups["groups"]} == {
        one["id"]: one["title"] for one in alice.get("/v1/categories")
    }
    assert {int(number) for one in groups["feeds_groups"] for number in one["feed_ids"].split(",")} == {
        library.feed,
        library.podcast,
    }


def test_unread_and_saved_items_have_their_bodies(alice: Person, library: Library, client: FreshRSSAPI) -> None:
    unread = {item.id: item for item in client.get_unreads()}

    entry = alice.get(f"/v1/entries/{library.entry}")
    assert set(unread) == {one["id"] for one in alice.entries(status="unread")}
    found = unread[library.entry]
    assert (found.title, found.html, found.url) == (entry["title"], entry["content"], entry["url"])
    assert (found.feed_id, found.is_read, found.is_saved) == (library.feed, False, False)
    assert found.readable
    assert [item.id for item in client.get_saved()] == [library.starred]


def test_marks_arrive_and_nothing_toggles(alice: Person, library: Library, client: FreshRSSAPI) -> None:
    def state() -> tuple[str, bool]:
        entry = alice.get(f"/v1/entries/{library.entry}")
        return entry["status"], entry["starred"]

    for _ in range(2):
        client.set_mark("read", library.entry)
        assert state() == ("read", False)
    for _ in range(2):
        client.set_mark("saved", library.entry)
        assert state() == ("read", True)
    for _ in range(2):
        client.set_mark("unsaved", library.entry)
        assert state() == ("read", False)


def test_all_pages_are_fetched(alice: Person, client: FreshRSSAPI, site: Publisher) -> None:
    subscribe(alice, site, numbered(120), "Many")
    known = sorted(one["id"] for one in alice.entries(limit=200))

    assert [item.id for item in client.get_items_from_dates(since=0)] == known
    assert [item.id for item in client.get_unreads()] == known
