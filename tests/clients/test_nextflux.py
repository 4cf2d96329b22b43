"""nextflux (in a browser): all at once, then what has changed; OPML as a form."""

from __future__ import annotations

import time

import pytest

from clients.apps import App, Ask, fetch, play
from clients.contract import CATEGORY, COUNTERS, ENTRIES, ENTRY, FEED, IMPORTED, INTEGRATIONS, USER
from clients.library import Library, numbered, subscribe
from clients.shapes import entry_page, list_of
from support.people import Person
from support.publisher import Publisher

pytestmark = pytest.mark.slow

NEXTFLUX = App(origin="https://nextflux.example")

BOUNDARY = "----WebKitFormBoundaryk4Vh2m7Qp0Zx"
OPML = """<?xml version="1.0" encoding="UTF-8"?><opml version="2.0"><head/><body><outline text="Papers">
<outline type="rss" text="The Daily" xmlUrl="http://papers.example/daily.xml"/></outline></body></opml>"""
FORM = (
    f'--{BOUNDARY}\r\nContent-Disposition: form-data; name="file"; filename="feeds.opml"\r\n'
    f"Content-Type: text/x-opml+xml\r\n\r\n{OPML}\r\n--{BOUNDARY}--\r\n"
)

SYNC = [
    Ask("GET", "/v1/me", USER),
    Ask("GET", "/v1/feeds", list_of(FEED)),
    Ask("GET", "/v1/categories", list_of(CATEGORY)),
    Ask("GET", "/v1/feeds/counters", COUNTERS),
    Ask("GET", "/v1/integrations/status", INTEGRATIONS),
    Ask("GET", "/v1/entries", ENTRIES, query=(("status", "unread"), ("limit", "0"))),
    Ask("GET", "/v1/entries", ENTRIES, query=(("status", "read"), ("starred", "true"), ("limit", "0"))),
    Ask("GET", "/v1/entries", ENTRIES, query=(("after", "1767225600"), ("limit", "0"))),
]
READING = [
    Ask("PUT", "/v1/entries", body={"entry_ids": ["{entry}"], "status": "read"}),
    Ask("PUT", "/v1/entries/{entry}/bookmark"),
    Ask("PUT", "/v1/feeds/{feed}/mark-all-as-read"),
]


def test_a_session_of_the_app_works(alice: Person, library: Library) -> None:
    play(NEXTFLUX, alice, library, [*SYNC, *READING])
    entry = alice.get(f"/v1/entries/{library.entry}")
    assert (entry["status"], entry["starred"]) == ("read", True)


def test_a_limit_of_zero_means_everything(alice: Person, site: Publisher) -> None:
    subscribe(alice, site, numbered(230), "Long")
    found = fetch(NEXTFLUX, alice, "/v1/entries", (("status", "unread"), ("limit", "0")))
    assert found["total"] == len(found["entries"]) == 230


def test_a_later_sync_requests_only_changed_entries(alice: Person, library: Library) -> None:
    # Moments are asked for in whole seconds: what happens from here on lies in a later one.
    began = int(time.time())
    time.sleep(max(0.0, began + 1.05 - time.time()))
    since = (("changed_after", str(began)), ("limit", "0"))
    earlier = {entry["id"] for entry in fetch(NEXTFLUX, alice, "/v1/entries", since)["entries"]}
    alice.put("/v1/entries", {"entry_ids": [library.entry], "status": "read"})

    changed = {entry["id"] for entry in fetch(NEXTFLUX, alice, "/v1/entries", since)["entries"]}

    assert changed - earlier == {library.entry} - earlier
    assert library.entry in changed


def test_opml_is_uploaded_as_a_form(alice: Person, library: Library) -> None:
    upload = Ask(
        "POST",
        "/v1/import",
        IMPORTED,
        status=201,
        body=FORM.encode(),
        content_type=f"multipart/form-data; boundary={BOUNDARY}",
    )
    play(NEXTFLUX, alice, library, [upload])
    assert "The Daily" in {feed["title"] for feed in alice.get("/v1/feeds")}


def test_a_sync_without_changes_is_an_empty_list(alice: Person, library: Library) -> None:
    nothing = Ask("GET", "/v1/entries", entry_page(ENTRY, 0), query=(("after", "1830297600"), ("limit", "0")))
    play(NEXTFLUX, alice, library, [nothing])
