"""newsboat as its authors have it today, NewsFlash, the KOReader plugin and miniflux-tui, by what is known of them."""

from __future__ import annotations

import pytest

from clients.apps import App, Ask, by_password, by_token, fetch, play
from clients.contract import (
    CATEGORY,
    COUNTED_CATEGORY,
    COUNTERS,
    DISCOVERED,
    ENTRIES,
    ENTRY,
    ERROR,
    FEED,
    FEED_CREATED,
    IMPORTED,
    INTEGRATIONS,
    USER,
    VERSION,
)
from clients.library import Library, document, numbered, saves_somewhere, subscribe
from clients.shapes import (
    entry_page,
    filled,
    flag,
    list_of,
    moment,
    nullable,
    record,
    small,
    text,
    whole,
)
from support.people import Person
from support.publisher import Publisher

pytestmark = pytest.mark.slow

# newsboat: whatever it sends is labelled as a form, because its HTTP library labels it so.

FORM = "application/x-www-form-urlencoded"
NEWSBOAT = App(content_type=FORM, headers={"User-Agent": "newsboat", "Accept": "*/*"})
NEWSBOAT_BY_PASSWORD = App(credentials=by_password, content_type=FORM, headers=NEWSBOAT.headers)

NEWSBOAT_FEED = record(id=small, title=text, feed_url=filled, category=record(id=small, title=text))
NEWSBOAT_ENTRY = record(
    id=small,
    published_at=moment,
    status=filled,
    starred=flag,
    title=nullable(text),
    url=nullable(text),
    author=nullable(text),
    content=nullable(text),
    enclosures=nullable(list_of(record(url=text, mime_type=text), 0)),
)
NEWSBOAT_SESSION = [
    Ask("GET", "/v1/me", record(id=small)),
    Ask("GET", "/v1/categories", list_of(record(id=small, title=text))),
    Ask("GET", "/v1/feeds", list_of(NEWSBOAT_FEED)),
    Ask(
        "GET",
        "/v1/feeds/{feed}/entries",
        entry_page(NEWSBOAT_ENTRY),
        query=(("order", "published_at"), ("direction", "desc"), ("limit", "100")),
    ),
    Ask("GET", "/v1/entries", entry_page(NEWSBOAT_ENTRY), query=(("starred", "true"),)),
    Ask("PUT", "/v1/entries", body={"entry_ids": ["{entry}"], "status": "read"}),
    Ask("GET", "/v1/entries/{entry}", NEWSBOAT_ENTRY),
    Ask("PUT", "/v1/entries/{entry}/bookmark"),
    # It sends two quote characters where there is nothing to send.
    Ask("POST", "/v1/entries/{entry}/save", status=202, body=b'""'),
]


@pytest.mark.parametrize("app", [NEWSBOAT, NEWSBOAT_BY_PASSWORD], ids=["token", "password"])
def test_a_session_of_newsboat_works(alice: Person, library: Library, app: App) -> None:
    saves_somewhere(alice)
    play(app, alice, library, NEWSBOAT_SESSION)
    entry = alice.get(f"/v1/entries/{library.entry}")
    assert (entry["status"], entry["starred"]) == ("read", True)


# NewsFlash: an exact status for each call, the message of an error otherwise; hardly anything may be null.

NEWSFLASH_FEED = record(
    id=small,
    user_id=small,
    title=text,
    site_url=text,
    feed_url=text,
    rewrite_rules=text,
    scraper_rules=text,
    crawler=flag,
    checked_at=text,
    etag_header=text,
    last_modified_header=text,
    parsing_error_count=whole,
    parsing_error_message=text,
    category=CATEGORY,
    icon=nullable(record(feed_id=small, icon_id=small)),
)
NEWSFLASH_ENTRIES = entry_page(record(id=small, feed=NEWSFLASH_FEED, title=text, content=text, hash=text))
NEWSFLASH_SESSION = [
    Ask("GET", "/v1/me", record(id=small, username=filled)),
    Ask("GET", "/v1/feeds", list_of(NEWSFLASH_FEED)),
    Ask("GET", "/v1/feeds/{feed}", NEWSFLASH_FEED),
    Ask("GET", "/v1/categories", list_of(CATEGORY)),
    Ask("GET", "/v1/entries", NEWSFLASH_ENTRIES, query=(("status", "unread"), ("limit", "100"), ("order", "id"))),
    Ask("GET", "/v1/feeds/{feed}/entries", NEWSFLASH_ENTRIES),
    Ask("GET", "/v1/entries/{entry}", ENTRY),
    Ask("PUT", "/v1/entries", body={"entry_ids": ["{entry}"], "status": "read"}),
    Ask("PUT", "/v1/entries/{entry}/bookmark"),
    Ask("PUT", "/v1/feeds/{feed}", NEWSFLASH_FEED, status=201, body={"title": "Skies"}),
    Ask("PUT", "/v1/feeds/{feed}/refresh"),
    Ask("POST", "/v1/categories", CATEGORY, status=201, body={"title": "Sports"}),
    Ask("PUT", "/v1/categories/{category}", CATEGORY, status=201, body={"title": "Papers"}),
    Ask("POST", "/v1/categories", ERROR, status=400, body={"title": "Papers"}),
    Ask("GET", "/v1/feeds/{unknown}", ERROR, status=404),
    Ask("DELETE", "/v1/feeds/{podcast}"),
    Ask("DELETE", "/v1/categories/{podcasts}"),
]


@pytest.mark.parametrize("app", [App(), App(credentials=by_password)], ids=["token", "password"])
def test_a_session_of_newsflash_works(alice: Person, library: Library, site: Publisher, app: App) -> None:
    url = site.serve("/new.xml", document(numbered(1), site.url("/new.xml"), "New"))
    subscribing = [
        Ask("POST", "/v1/discover", DISCOVERED, body={"url": url}),
        Ask("POST", "/v1/feeds", FEED_CREATED, status=201, body={"feed_url": url, "category_id": "{category}"}),
    ]
    play(app, alice, library, [*subscribing, *NEWSFLASH_SESSION])


def test_newsflash_can_export_and_import_subscriptions(alice: Person, bob: Person, library: Library) -> None:
    exported = alice.call("GET", "/v1/export").body
    play(App(), bob, library, [Ask("POST", "/v1/import", IMPORTED, status=201, body=exported)])
    assert len(bob.get("/v1/feeds")) == 2


def test_newsflash_can_be_used_by_an_administrator(charlie: Person, library: Library) -> None:
    name = charlie.user.username
    users = [
        Ask("GET", "/v1/users", list_of(USER)),
        Ask("GET", "/v1/users/{user}", USER),
        Ask(
            "POST",
            "/v1/users",
            USER,
            status=201,
            body={"username": f"{name}-2", "password": "a long one", "is_admin": False},
        ),
        Ask("PUT", "/v1/users/{user}", USER, status=201, body={"language": "de_DE"}),
        Ask("DELETE", "/v1/users/{user}"),
    ]
    play(App(), charlie, library, users)


# The KOReader plugin: on e-paper, with few requests.

KOREADER = App(headers={"Accept": "application/json", "User-Agent": "KOReader"})
BOTH = (("status", "unread"), ("status", "read"))
KOREADER_SESSION = [
    Ask("GET", "/v1/feeds", list_of(FEED)),
    Ask("GET", "/v1/feeds/counters", COUNTERS),
    Ask("GET", "/v1/categories", list_of(COUNTED_CATEGORY), query=(("counts", "true"),)),
    Ask(
        "GET",
        "/v1/entries",
        ENTRIES,
        query=(*BOTH, ("order", "published_at"), ("direction", "desc"), ("limit", "100")),
    ),
    Ask("GET", "/v1/feeds/{feed}/entries", ENTRIES, query=(("status", "unread"), ("limit", "100"))),
    Ask("GET", "/v1/categories/{category}/entries", ENTRIES, query=(*BOTH, ("limit", "100"))),
    Ask("GET", "/v1/entries/{entry}", ENTRY),
    Ask("PUT", "/v1/entries", body={"entry_ids": ["{entry}"], "status": "read"}),
    Ask("PUT", "/v1/feeds/{feed}/mark-all-as-read"),
    Ask("PUT", "/v1/categories/{category}/mark-all-as-read"),
]


def test_a_session_of_koreader_works(alice: Person, library: Library) -> None:
    play(KOREADER, alice, library, KOREADER_SESSION)
    assert alice.get("/v1/entries", status="unread")["total"] == 1


def test_koreader_finds_the_next_and_previous_entry_by_feed_and_category(alice: Person, library: Library) -> None:
    for place in (("feed_id", str(library.feed)), ("category_id", str(library.category))):
        found = fetch(KOREADER, alice, "/v1/entries", (*BOTH, place))
        assert (found["total"], {entry["feed_id"] for entry in found["entries"]}) == (3, {library.feed})


# miniflux-tui: by what changed last, and its own settings from inside.

TUI = App(credentials=by_token, content_type="")
TUI_SESSION = [
    Ask("GET", "/v1/me", USER),
    Ask("GET", "/v1/version", VERSION),
    Ask("GET", "/v1/integrations/status", INTEGRATIONS),
    # Booleans arrive in the spelling of its language.
    Ask("GET", "/v1/entries", ENTRIES, query=(("starred", "True"), ("limit", "100"), ("offset", "0"))),
    Ask("GET", "/v1/entries", ENTRIES, query=(("status", "unread"), ("order", "published_at"))),
    Ask("GET", "/v1/entries", ENTRIES, query=(("status", "read"), ("order", "changed_at"), ("direction", "desc"))),
    Ask("PUT", "/v1/users/{user}", USER, status=201, body={"theme": "dark_serif", "entries_per_page": 20}),
    Ask("PUT", "/v1/feeds/refresh"),
]


def test_a_session_of_miniflux_tui_works(alice: Person, library: Library) -> None:
    play(TUI, alice, library, TUI_SESSION)
    assert alice.get("/v1/me")["theme"] == "dark_serif"


def test_entries_can_be_ordered_by_their_last_change(alice: Person, site: Publisher) -> None:
    subscribe(alice, site, numbered(5), "Five")
    entries = alice.entries(order="id")
    for chosen in (entries[3], entries[1]):
        alice.put("/v1/entries", {"entry_ids": [chosen["id"]], "status": "read"})
    found = fetch(TUI, alice, "/v1/entries", (("order", "changed_at"), ("direction", "desc")))["entries"]
    assert [entry["id"] for entry in found[:2]] == [entries[1]["id"], entries[3]["id"]]
