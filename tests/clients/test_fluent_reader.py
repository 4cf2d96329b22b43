"""Fluent Reader (on the desktop): it pages by ids, and looks into the feed of each entry."""

from __future__ import annotations

import pytest

from clients.apps import App, Ask, Credentials, ask, by, by_password, fetch, play, read
from clients.contract import CATEGORY, ENTRIES, ERROR, FEED, USER
from clients.library import Library, numbered, subscribe
from clients.shapes import list_of, misfits
from support.people import Person
from support.publisher import Publisher

pytestmark = pytest.mark.slow

BY_TOKEN = App()
BY_PASSWORD = App(credentials=by_password)

BY_ID = (("order", "id"), ("direction", "desc"), ("limit", "125"))
ALL = (("limit", "1000"), ("offset", "0"))

SYNC = [
    Ask("GET", "/v1/me", USER),
    Ask("GET", "/v1/categories", list_of(CATEGORY)),
    Ask("GET", "/v1/feeds", list_of(FEED)),
    Ask("GET", "/v1/entries", ENTRIES, query=(("after_entry_id", "0"), *BY_ID)),
    Ask("GET", "/v1/entries", ENTRIES, query=(("status", "unread"), *ALL)),
    Ask("GET", "/v1/entries", ENTRIES, query=(("starred", "true"), *ALL)),
]
READING = [
    Ask("PUT", "/v1/entries", body={"entry_ids": ["{entry}"], "status": "read"}),
    Ask("PUT", "/v1/entries", body={"entry_ids": ["{entry}"], "status": "unread"}),
    Ask("PUT", "/v1/feeds/{feed}/mark-all-as-read"),
    # The same request stars one and takes the star of the other.
    Ask("PUT", "/v1/entries/{entry}/bookmark"),
    Ask("PUT", "/v1/entries/{starred}/bookmark"),
]


@pytest.mark.parametrize("app", [BY_TOKEN, BY_PASSWORD], ids=["token", "password"])
def test_a_session_of_the_app_works(alice: Person, library: Library, app: App) -> None:
    play(app, alice, library, [*SYNC, *READING])
    assert alice.get(f"/v1/entries/{library.entry}")["starred"] is True
    assert alice.get(f"/v1/entries/{library.starred}")["starred"] is False
    assert alice.get(f"/v1/entries/{library.entry}")["status"] == "read"


@pytest.mark.parametrize(
    "credentials", [by(X_Auth_Token="wrong"), by(Authorization="Basic d3Jvbmc6d3Jvbmc=")], ids=["token", "password"]
)
def test_a_failed_login_is_recognised_by_its_message(alice: Person, credentials: Credentials) -> None:
    answer = ask(App(credentials=credentials), alice, "GET", "/v1/me")
    assert misfits(read(answer), ERROR) == []


def test_pages_by_id_end_with_an_empty_one(alice: Person, site: Publisher) -> None:
    subscribe(alice, site, numbered(280), "Long")
    found: list[int] = []
    sizes: list[int] = []
    while not sizes or sizes[-1]:
        before = (("before_entry_id", str(found[-1])),) if found else ()
        page = fetch(BY_TOKEN, alice, "/v1/entries", (("after_entry_id", "0"), *before, *BY_ID))["entries"]
        assert all(entry["feed"]["id"] == entry["feed_id"] for entry in page)
        found += [entry["id"] for entry in page]
        sizes.append(len(page))
    assert sizes == [125, 125, 30, 0]
    assert found == sorted(set(found), reverse=True)


def test_a_later_sync_requests_only_newer_ids(alice: Person, library: Library, site: Publisher) -> None:
    newest = max(entry["id"] for entry in alice.entries())
    subscribe(alice, site, numbered(3), "Fresh")
    page = fetch(BY_TOKEN, alice, "/v1/entries", (("after_entry_id", str(newest)), *BY_ID))
    assert [entry["feed"]["title"] for entry in page["entries"]] == ["Fresh"] * 3


def test_unread_and_starred_entries_are_paged_by_a_thousand(alice: Person, site: Publisher) -> None:
    subscribe(alice, site, numbered(1100), "Long")
    for name, value in (("status", "unread"), ("starred", "false")):
        pages = [
            fetch(BY_TOKEN, alice, "/v1/entries", ((name, value), ("limit", "1000"), ("offset", str(offset))))
            for offset in (0, 1000, 2000)
        ]
        assert [len(page["entries"]) for page in pages] == [1000, 100, 0]
