"""Flux News (Android, iOS, macOS): what it asks for, and how it reads the version."""

from __future__ import annotations

import re

import pytest

from clients.apps import App, Ask, fetch, play
from clients.contract import (
    CATEGORY,
    ENCLOSURE,
    ENTRIES,
    FEED,
    FEED_CREATED,
    USER,
    VERSION,
)
from clients.library import Library, document, numbered, saves_somewhere, subscribe
from clients.shapes import list_of
from support.people import Person, call
from support.publisher import Publisher

pytestmark = pytest.mark.slow

FLUX_NEWS = App()
PAGE = (("limit", "100"), ("offset", "0"), ("order", "published_at"), ("direction", "desc"))

LOGIN = [
    Ask("GET", "/v1/me", USER),
    Ask("GET", "/v1/version", VERSION),
]
SYNC = [
    Ask("GET", "/v1/feeds", list_of(FEED)),
    Ask("GET", "/v1/categories", list_of(CATEGORY)),
    Ask("GET", "/v1/entries", ENTRIES, query=(("status", "unread"), *PAGE)),
    Ask("GET", "/v1/entries", ENTRIES, query=(("starred", "true"), *PAGE)),
    Ask("GET", "/v1/feeds/{feed}/entries", ENTRIES, query=(("status", "unread"), *PAGE)),
    Ask("GET", "/v1/entries", ENTRIES, query=(("search", "rain"), *PAGE)),
]
READING = [
    Ask("PUT", "/v1/entries", body={"entry_ids": ["{entry}"], "status": "read"}),
    Ask("PUT", "/v1/entries", body={"entry_ids": ["{entry}"], "status": "unread"}),
    Ask("PUT", "/v1/entries/{entry}/bookmark"),
    Ask("POST", "/v1/entries/{entry}/save", status=202),
    Ask("GET", "/v1/enclosures/{enclosure}", ENCLOSURE),
    Ask("PUT", "/v1/enclosures/{enclosure}", body={"media_progression": 42}),
]
ORDERING = [
    Ask("PUT", "/v1/feeds/refresh"),
    Ask("POST", "/v1/categories", CATEGORY, status=201, body={"title": "Sports"}),
    Ask("PUT", "/v1/categories/{category}", CATEGORY, status=201, body={"title": "Newspapers"}),
    Ask(
        "PUT",
        "/v1/feeds/{feed}",
        FEED,
        status=201,
        body={"title": "Skies", "category_id": "{podcasts}", "crawler": True},
    ),
]


def test_a_session_of_the_app_works(alice: Person, library: Library) -> None:
    saves_somewhere(alice)
    play(FLUX_NEWS, alice, library, [*LOGIN, *SYNC, *READING, *ORDERING])

    entry = alice.get(f"/v1/entries/{library.entry}")
    assert (entry["status"], entry["starred"], entry["feed"]["title"]) == ("unread", True, "Skies")
    assert alice.get(f"/v1/enclosures/{library.enclosure}")["media_progression"] == 42


def test_subscribing(alice: Person, library: Library, site: Publisher) -> None:
    url = site.serve("/new.xml", document(numbered(1), site.url("/new.xml"), "New"))
    subscribed = Ask("POST", "/v1/feeds", FEED_CREATED, status=201, body={"feed_url": url, "category_id": "{category}"})
    play(FLUX_NEWS, alice, library, [subscribed])


def test_the_pages_of_a_long_list_are_complete(alice: Person, site: Publisher) -> None:
    subscribe(alice, site, numbered(230), "Long")
    found: list[int] = []
    while page := fetch(FLUX_NEWS, alice, "/v1/entries", (("limit", "100"), ("offset", str(len(found)))))["entries"]:
        found += [entry["id"] for entry in page]
    assert len(found) == len(set(found)) == 230


def test_the_version_is_new_enough_for_everything(alice: Person) -> None:
    version = fetch(FLUX_NEWS, alice, "/v1/version")["version"]
    digits = int(re.sub(r"\D", "", version))
    is_old = version.startswith(("0", "1", "2.0"))
    can_save = digits >= 2047 if is_old else True
    can_sync_listening = [int(group) for group in re.findall(r"\d+", version)] >= [2, 2, 0]
    assert (can_save, can_sync_listening) == (True, True)


def test_the_old_version_path_is_404(alice: Person) -> None:
    """It is asked for only where /v1/version fails; the contract says that it was removed."""
    assert call(alice.service.url, "GET", "/version", None, {"X-Auth-Token": alice.token}).status == 404
