"""Two programs of this name: an extension of Chromium with three panes, and an app that shows the pages on Android.

The source of the extension is not public: its requests are assumed, as of any reader with three panes. Those of the app
are from its source.
"""

from __future__ import annotations

import pytest

from clients.apps import App, Ask, fetch, play
from clients.contract import ARTICLE, CATEGORY, COUNTERS, ENTRIES, ENTRY, FEED, INTEGRATIONS, USER, VERSION
from clients.library import Library, saves_somewhere
from clients.shapes import list_of
from support.people import Person, call
from support.running import RunningService
from support.visitors import Visitor

pytestmark = pytest.mark.slow

EXTENSION = App(origin="chrome-extension://abcdefghijklmnopabcdefghijklmnop")
ANDROID = App(headers={"Accept": "*/*"})
LIST = (("limit", "100"), ("order", "published_at"), ("direction", "desc"))

THREE_PANES = [
    Ask("GET", "/v1/me", USER),
    Ask("GET", "/v1/version", VERSION),
    Ask("GET", "/v1/categories", list_of(CATEGORY), query=(("counts", "true"),)),
    Ask("GET", "/v1/feeds", list_of(FEED)),
    Ask("GET", "/v1/feeds/counters", COUNTERS),
    Ask("GET", "/v1/integrations/status", INTEGRATIONS),
    Ask("GET", "/v1/entries", ENTRIES, query=(("status", "unread"), *LIST)),
    Ask("GET", "/v1/entries", ENTRIES, query=(("starred", "true"), *LIST)),
    Ask("GET", "/v1/entries", ENTRIES, query=(("search", "rain"), *LIST)),
    Ask("GET", "/v1/feeds/{feed}/entries", ENTRIES, query=LIST),
    Ask("GET", "/v1/categories/{category}/entries", ENTRIES, query=LIST),
    Ask("GET", "/v1/entries/{entry}", ENTRY),
    Ask("GET", "/v1/entries/{entry}/fetch-content", ARTICLE),
    Ask("PUT", "/v1/entries", body={"entry_ids": ["{entry}"], "status": "read"}),
    Ask("PUT", "/v1/entries/{entry}/bookmark"),
    Ask("POST", "/v1/entries/{entry}/save", status=202),
    Ask("PUT", "/v1/categories/{podcasts}/mark-all-as-read"),
    Ask("PUT", "/v1/feeds/{feed}/refresh"),
]


def test_a_session_of_the_extension_works(alice: Person, library: Library) -> None:
    saves_somewhere(alice)
    play(EXTENSION, alice, library, THREE_PANES)
    entry = alice.get(f"/v1/entries/{library.entry}")
    assert (entry["status"], entry["starred"]) == ("read", True)


def test_the_app_finds_a_server_by_its_key_and_follows_its_theme(alice: Person) -> None:
    """Without 200 it shows nothing; it looks for the words in the name of the theme."""
    for theme in ("dark_serif", "light_sans_serif", "system_serif"):
        alice.put(f"/v1/users/{alice.id}", {"theme": theme}, status=201)
        assert fetch(ANDROID, alice, "/v1/me")["theme"] == theme


def test_the_app_shows_the_pages(alice: Person, service: RunningService) -> None:
    """Its own settings have a button on the page whose address ends with /settings; "back" on /unread leaves it."""
    reader = Visitor(service, alice)
    assert call(service.url, "GET", "/").status in (200, 303)
    reader.sign_in()
    for path in ("/unread", "/settings"):
        assert reader.get(path).status in (200, 303), path
