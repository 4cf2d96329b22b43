"""NetNewsWire's account for Miniflux (iOS, macOS): all in one pass by changed_after, and 404 means gone for ever."""

from __future__ import annotations

import time
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from clients.apps import App, Ask, ask, by, by_password, fetch, play, read
from clients.contract import CATEGORY, ERROR, FEED_CREATED
from clients.library import Library, numbered, subscribe
from clients.shapes import list_of, misfits, record, small, text
from support.people import Person
from support.publisher import Publisher

pytestmark = pytest.mark.slow

NETNEWSWIRE = App(content_type="application/json; charset=utf-8")
FEED = record(id=small, feed_url=text, category=CATEGORY)
VERSION = record(version=text)
USER = record(id=small, username=text)
# It asks for 500 entries, and counts on getting as many until it has the total.
PAGE = (("order", "id"), ("direction", "asc"), ("limit", "500"))
IDS = (("limit", "10000"), ("offset", "0"))


class Device:
    """What the app keeps: entries with their states, and ids of entries that it has not got yet."""

    def __init__(self, person: Person) -> None:
        self.person = person
        self.states: dict[int, tuple[str, bool]] = {}
        self.last_fetch: int | None = None

    def refresh(self) -> None:
        began = int(time.time())
        assert misfits(fetch(NETNEWSWIRE, self.person, "/v1/version"), VERSION) == []
        assert misfits(fetch(NETNEWSWIRE, self.person, "/v1/categories"), list_of(CATEGORY)) == []
        assert misfits(fetch(NETNEWSWIRE, self.person, "/v1/feeds"), list_of(FEED, 0)) == []
        if self.last_fetch is None:
            recent = int((datetime.now(UTC) - timedelta(days=90)).timestamp())
            self._keep(self._pages(("published_after", str(recent))))
            self._fetch_missing()
        else:
            self._keep(self._pages(("changed_after", str(self.last_fetch))))
        self.last_fetch = began

    def _pages(self, *conditions: tuple[str, str]) -> Iterator[dict[str, Any]]:
        offset = 0
        while True:
            page = fetch(NETNEWSWIRE, self.person, "/v1/entries", (*PAGE, ("offset", str(offset)), *conditions))
            yield from page["entries"]
            offset += len(page["entries"])
            if not page["entries"] or offset >= page["total"]:
                return

    def _fetch_missing(self) -> None:
        unread = fetch(NETNEWSWIRE, self.person, "/v1/entries/ids", (("status", "unread"), *IDS))["entry_ids"]
        starred = fetch(NETNEWSWIRE, self.person, "/v1/entries/ids", (("starred", "true"), *IDS))["entry_ids"]
        for number in sorted({*unread, *starred} - self.states.keys()):
            answer = ask(NETNEWSWIRE, self.person, "GET", f"/v1/entries/{number}")
            assert answer.status == 200, "it would forget this entry for ever"
            self._keep([read(answer)])

    def _keep(self, entries: Any) -> None:
        self.states.update({entry["id"]: (entry["status"], entry["starred"]) for entry in entries})


def on_server(person: Person) -> dict[int, tuple[str, bool]]:
    return {entry["id"]: (entry["status"], entry["starred"]) for entry in person.entries(limit=0)}


def wait_for_next_second() -> None:
    """It asks in whole seconds: what happens from here on lies after what it has seen."""
    began = int(time.time())
    while int(time.time()) == began:
        time.sleep(0.05)


def test_it_signs_in_with_a_key_and_with_a_password(alice: Person, library: Library) -> None:
    asks = [Ask("GET", "/v1/me", USER), Ask("GET", "/v1/version", VERSION)]
    play(NETNEWSWIRE, alice, library, asks)
    play(App(by_password), alice, library, asks)
    play(App(by(X_Auth_Token="wrong")), alice, library, [Ask("GET", "/v1/me", ERROR, status=401)])
    version = fetch(NETNEWSWIRE, alice, "/v1/version")["version"]
    assert [int(part) for part in version.split(".")] >= [2, 3, 2], "ids and marks in bulk from this version on"


def test_a_device_is_in_step_with_the_server(alice: Person, library: Library, site: Publisher) -> None:
    """The entries of the library are older than the three months that it asks for first, or will be."""
    subscribe(alice, site, numbered(620), "Long")
    device = Device(alice)
    device.refresh()
    unread_or_starred = {number for number, state in on_server(alice).items() if state != ("read", False)}
    assert unread_or_starred <= device.states.keys()
    assert device.states.items() <= on_server(alice).items()

    wait_for_next_second()
    alice.put("/v1/entries", {"entry_ids": [library.entry], "starred": True})
    alice.put(f"/v1/feeds/{library.podcast}/mark-all-as-read")
    subscribe(alice, site, numbered(3), "New")
    device.refresh()

    assert device.states.items() <= on_server(alice).items()
    assert device.states[library.entry] == ("unread", True)
    assert device.states[library.listened][0] == "read"
    assert len(device.states) == len(on_server(alice))


def test_states_are_sent_for_many_entries_at_once(alice: Person, library: Library) -> None:
    def mark(**state: Any) -> Ask:
        return Ask("PUT", "/v1/entries", body={"entry_ids": ["{entry}", "{listened}", "{unknown}"], **state})

    play(NETNEWSWIRE, alice, library, [mark(status="read"), mark(starred=True), mark(starred=True)])
    assert {on_server(alice)[number] for number in (library.entry, library.listened)} == {("read", True)}
    play(NETNEWSWIRE, alice, library, [mark(status="unread"), mark(starred=False)])
    assert {on_server(alice)[number] for number in (library.entry, library.listened)} == {("unread", False)}


def test_404_is_for_entries_that_are_gone(alice: Person, bob: Person, library: Library) -> None:
    alice.put("/v1/feeds/refresh")
    assert ask(NETNEWSWIRE, alice, "GET", f"/v1/entries/{library.entry}").status == 200
    assert ask(NETNEWSWIRE, bob, "GET", f"/v1/entries/{library.entry}").status == 404
    assert ask(App(by(X_Auth_Token="revoked")), alice, "GET", f"/v1/entries/{library.entry}").status == 401
    alice.delete(f"/v1/feeds/{library.feed}")
    assert ask(NETNEWSWIRE, alice, "GET", f"/v1/entries/{library.entry}").status == 404


def test_folders_and_feeds_are_managed(alice: Person, library: Library, site: Publisher) -> None:
    site.serve("/tides.xml", "<rss version='2.0'><channel><title>Tides</title></channel></rss>")
    new = {"feed_url": site.url("/tides.xml"), "category_id": "{category}"}
    asks = [
        Ask("POST", "/v1/feeds", FEED_CREATED, status=201, body=new),
        Ask("POST", "/v1/categories", CATEGORY, status=201, body={"title": "Sea"}),
        Ask("PUT", "/v1/categories/{category}", CATEGORY, status=201, body={"title": "Skies"}),
        Ask("PUT", "/v1/feeds/{feed}", FEED, status=201, body={"title": "Clouds"}),
        Ask("PUT", "/v1/feeds/{feed}", FEED, status=201, body={"category_id": "{podcasts}"}),
        Ask("DELETE", "/v1/feeds/{feed}"),
        Ask("DELETE", "/v1/categories/{podcasts}"),
    ]
    play(NETNEWSWIRE, alice, library, asks)
    titles = {category["title"] for category in alice.get("/v1/categories")}
    assert {"Skies", "Sea"} <= titles

    again = ask(NETNEWSWIRE, alice, "POST", "/v1/feeds", body={**new, "category_id": library.category})
    assert "already exists" in read(again)["error_message"], "by which it knows that there is a subscription"
