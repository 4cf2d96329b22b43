"""What every endpoint says of a feed without an icon, to whom."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from clients.library import picture
from support.people import Person, basic, call
from support.publisher import Publisher

pytestmark = pytest.mark.one_engine

FEEDS = (
    "GET /v1/feeds",
    "GET /v1/feeds/{feed}",
    "PUT /v1/feeds/{feed}",
    "GET /v1/categories/{category}/feeds",
    "GET /v1/entries",
    "GET /v1/entries?limit=10000",
    "GET /v1/feeds/{feed}/entries",
    "GET /v1/categories/{category}/entries",
    "GET /v1/entries/{entry}",
    "PUT /v1/entries/{entry}",
    "GET /v1/feeds/{feed}/entries/{entry}",
    "GET /v1/categories/{category}/entries/{entry}",
)
ELSEWHERE = {"Origin": "https://app.example"}


def icons_in(value: Any) -> Iterator[Any]:
    if isinstance(value, dict):
        if "feed_url" in value:
            yield value["icon"]
        for one in value.values():
            yield from icons_in(one)
    elif isinstance(value, list):
        for one in value:
            yield from icons_in(one)


def answered(person: Person, endpoint: str, feed: dict[str, Any], headers: dict[str, str]) -> list[Any]:
    entry = person.entries()[0]["id"]
    method, path = endpoint.split()
    path = path.format(feed=feed["id"], category=feed["category"]["id"], entry=entry)
    body = b'{"title": "Renamed"}' if method == "PUT" else None
    found = list(icons_in(call(person.service.url, method, path, body, headers=headers).json()))
    assert found
    return found


@pytest.mark.slow
@pytest.mark.parametrize("endpoint", FEEDS)
def test_pages_of_other_origins_get_an_object_and_others_null(alice: Person, site: Publisher, endpoint: str) -> None:
    feed = alice.has_feed(site, ["One"])
    key = {"X-Auth-Token": alice.token}
    instead = {"feed_id": feed["id"], "icon_id": 0, "external_icon_id": ""}

    # Twice: the second time they are kept.
    for _ in range(2):
        assert answered(alice, endpoint, feed, key) == [None]
        assert answered(alice, endpoint, feed, {**key, **ELSEWHERE}) == [instead]
        assert answered(alice, endpoint, feed, {**key, "Origin": alice.service.url}) == [None]
        assert answered(alice, endpoint, feed, {**key, "Origin": "null"}) == [instead]
        assert answered(alice, endpoint, feed, basic(alice.user.username)) == [None]
        assert answered(alice, endpoint, feed, {**basic(alice.user.username), **ELSEWHERE}) == [instead]


@pytest.mark.parametrize("endpoint", FEEDS)
def test_a_key_of_an_app_that_fails_at_null_gets_an_object(alice: Person, site: Publisher, endpoint: str) -> None:
    feed = alice.has_feed(site, ["One"])
    key = alice.service.services.accounts.api_keys.create(alice.user, "Strict", needs_icon_object=True)
    assert key.token

    found = answered(alice, endpoint, feed, {"X-Auth-Token": key.token})

    assert found == [{"feed_id": feed["id"], "icon_id": 0, "external_icon_id": ""}]


@pytest.mark.slow
def test_an_icon_is_the_same_for_everybody(alice: Person, site: Publisher) -> None:
    site.serve("/favicon.ico", picture(), headers={"Content-Type": "image/png"})
    feed = alice.has_feed(site, ["One"])
    key = {"X-Auth-Token": alice.token}

    (shown,) = answered(alice, "GET /v1/feeds", feed, key)
    assert shown["icon_id"] > 0
    assert answered(alice, "GET /v1/entries", feed, {**key, **ELSEWHERE}) == [shown]


def test_a_key_that_is_made_through_the_api_gets_null(alice: Person, site: Publisher) -> None:
    feed = alice.has_feed(site, ["One"])
    token = alice.post("/v1/api-keys", {"description": "Telephone"})["token"]
    assert answered(alice, "GET /v1/feeds", feed, {"X-Auth-Token": token}) == [None]
