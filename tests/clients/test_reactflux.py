"""ReactFlux (in a browser, so behind CORS): what it asks for, and how it compares versions."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import pytest

from clients.apps import App, Ask, ask, by, by_password, by_token, fetch, plain, play
from clients.contract import (
    ARTICLE,
    CATEGORY,
    COUNTED_CATEGORY,
    COUNTERS,
    DISCOVERED,
    ENTRIES,
    ENTRY,
    FEED,
    FEED_CREATED,
    IMPORTED,
    INTEGRATIONS,
    USER,
    VERSION,
)
from clients.library import Library, document, numbered, saves_somewhere
from clients.shapes import entry_page, list_of, record, text, whole
from support.people import Person
from support.publisher import Publisher

pytestmark = pytest.mark.slow

REACTFLUX = App(origin="https://reactflux.example")
BY_PASSWORD = App(origin="https://reactflux.example", credentials=by_password)

# What was published or changed since the beginning of 2026, and until the end of 2027.
SINCE, UNTIL = "1767225600", "1830297600"
PAGE = (("limit", "100"), ("offset", "0"), ("order", "published_at"), ("direction", "desc"))
MAYBE_NONE = entry_page(ENTRY, 0)

START = [
    Ask("GET", "/v1/me", USER),
    Ask("GET", "/v1/version", VERSION),
    Ask("GET", "/v1/feeds/counters", COUNTERS),
    Ask("GET", "/v1/feeds", list_of(FEED)),
    Ask("GET", "/v1/categories", list_of(CATEGORY)),
    Ask("GET", "/v1/categories", list_of(COUNTED_CATEGORY), query=(("counts", "true"),)),
    Ask("GET", "/v1/integrations/status", INTEGRATIONS),
]
LISTS = [
    Ask("GET", "/v1/entries", ENTRIES, query=(("globally_visible", "true"), ("status", "unread"), *PAGE)),
    Ask("GET", "/v1/entries", ENTRIES, query=(("starred", "true"), *PAGE)),
    Ask("GET", "/v1/entries", ENTRIES, query=(("search", "rain"), *PAGE)),
    Ask("GET", "/v1/entries", ENTRIES, query=(("status", "read"), ("order", "changed_at"), ("direction", "desc"))),
    Ask("GET", "/v1/entries", ENTRIES, query=(("published_after", SINCE), ("published_before", UNTIL), *PAGE)),
    Ask("GET", "/v1/entries", ENTRIES, query=(("changed_after", SINCE), ("changed_before", UNTIL), *PAGE)),
    Ask("GET", "/v1/entries", MAYBE_NONE, query=(("published_after", UNTIL), *PAGE)),
    Ask("GET", "/v1/feeds/{feed}/entries", ENTRIES, query=(("status", "unread"), *PAGE)),
    Ask("GET", "/v1/categories/{category}/entries", ENTRIES, query=(("starred", "true"), *PAGE)),
    Ask("GET", "/v1/entries/{entry}", ENTRY),
]
READING = [
    Ask("PUT", "/v1/entries", body={"entry_ids": ["{entry}", "{listened}"], "status": "read"}),
    Ask("PUT", "/v1/entries/{entry}/bookmark"),
    Ask("GET", "/v1/entries/{entry}/fetch-content", ARTICLE),
    Ask("GET", "/v1/entries/{entry}/fetch-content", ARTICLE, query=(("update_content", "true"),)),
    Ask("POST", "/v1/entries/{entry}/save", status=202),
    Ask("PUT", "/v1/enclosures/{enclosure}", body={"media_progression": 3}),
    Ask("PUT", "/v1/feeds/{feed}/mark-all-as-read"),
    Ask("PUT", "/v1/categories/{category}/mark-all-as-read"),
    Ask("PUT", "/v1/users/{user}/mark-all-as-read"),
]
ORDERING = [
    Ask("POST", "/v1/categories", CATEGORY, status=201, body={"title": "Sports", "hide_globally": False}),
    Ask(
        "PUT",
        "/v1/categories/{podcasts}",
        CATEGORY,
        status=201,
        body={"title": "Talks", "hide_globally": True},
    ),
    Ask(
        "PUT",
        "/v1/feeds/{feed}",
        FEED,
        status=201,
        body={
            "title": "Skies",
            "category_id": "{category}",
            "site_url": "http://skies.example/",
            "crawler": False,
            "disabled": True,
            "hidden": True,
            "hide_globally": True,
            "keeplist_rules": "",
            "blocklist_rules": "",
            "rewrite_rules": "",
        },
    ),
    Ask("PUT", "/v1/feeds/{feed}/refresh"),
    Ask("PUT", "/v1/feeds/refresh"),
    Ask("DELETE", "/v1/feeds/{podcast}"),
    Ask("DELETE", "/v1/categories/{podcasts}"),
]


@pytest.mark.parametrize("app", [REACTFLUX, BY_PASSWORD], ids=["token", "password"])
def test_a_session_of_the_app_works(alice: Person, library: Library, app: App) -> None:
    saves_somewhere(alice)
    play(app, alice, library, [*START, *LISTS, *READING, *ORDERING])

    entry = alice.get(f"/v1/entries/{library.entry}")
    assert (entry["status"], entry["starred"], entry["feed"]["disabled"]) == ("read", True, True)
    assert entry["content"].count("It rained all day") == 20


def test_a_feed_without_an_icon_has_an_object_of_one(alice: Person, library: Library) -> None:
    """It reads a member of the icon of each feed and each entry: at null it shows an error instead of its page."""
    strict = record(icon=record(icon_id=whole, external_icon_id=text))
    play(
        REACTFLUX,
        alice,
        library,
        [
            Ask("GET", "/v1/feeds", list_of(strict)),
            Ask("GET", "/v1/entries", entry_page(record(feed=strict)), query=PAGE),
            Ask("GET", "/v1/entries/{entry}", record(feed=strict)),
        ],
    )
    assert {feed["icon"]["icon_id"] for feed in fetch(REACTFLUX, alice, "/v1/feeds")} == {0}


def test_hidden_feeds_are_not_in_global_lists(alice: Person, library: Library) -> None:
    hide = Ask("PUT", "/v1/categories/{podcasts}", CATEGORY, status=201, body={"hide_globally": True})
    play(REACTFLUX, alice, library, [hide])
    query = (("globally_visible", "true"), ("status", "unread"))
    visible = fetch(REACTFLUX, alice, "/v1/entries", query)
    assert library.listened not in {entry["id"] for entry in visible["entries"]}
    assert visible["total"] == 2


def test_concurrent_requests_at_the_start_all_succeed(alice: Person, library: Library) -> None:
    """One that fails, and the start never ends."""
    paths = [one.path for one in START]
    with ThreadPoolExecutor(len(paths)) as pool:
        answers = list(pool.map(lambda path: ask(REACTFLUX, alice, "GET", path), paths))
    assert [answer.status for answer in answers] == [200] * len(paths)


def test_subscribing(alice: Person, library: Library, site: Publisher) -> None:
    url = site.serve("/new.xml", document(numbered(1), site.url("/new.xml"), "New"))
    discovery = Ask("POST", "/v1/discover", DISCOVERED, body={"url": url})
    subscription = Ask(
        "POST",
        "/v1/feeds",
        FEED_CREATED,
        status=201,
        body={"feed_url": url, "category_id": "{category}", "crawler": False},
    )
    play(REACTFLUX, alice, library, [discovery, subscription])


def test_exported_subscriptions_can_be_imported(alice: Person, bob: Person, library: Library) -> None:
    exported = ask(REACTFLUX, alice, "GET", "/v1/export")
    assert exported.status == 200
    brought = Ask("POST", "/v1/import", IMPORTED, status=201, body=plain(exported), content_type="text/plain")
    play(REACTFLUX, bob, library, [brought])
    assert {feed["title"] for feed in bob.get("/v1/feeds")} == {"The Weather", "The Talks"}


def test_the_page_can_read_error_messages(alice: Person, library: Library) -> None:
    stranger = App(origin=REACTFLUX.origin, credentials=by(X_Auth_Token="wrong"))
    assert ask(stranger, alice, "GET", "/v1/me").status == 401
    assert ask(REACTFLUX, alice, "GET", f"/v1/feeds/{library.unknown}").status == 404
    assert ask(REACTFLUX, alice, "POST", "/v1/categories", body={"title": ""}).status == 400
    assert ask(REACTFLUX, alice, "GET", "/v1/nothing").status == 404
    assert ask(REACTFLUX, alice, "DELETE", "/v1/me").status == 405


@pytest.mark.parametrize("needed", ["2.2.0", "2.2.2", "2.2.8"])
def test_the_version_is_new_enough_for_everything(alice: Person, needed: str) -> None:
    parts = fetch(REACTFLUX, alice, "/v1/version")["version"].split(".")
    # A part that is no number makes its comparison meaningless.
    assert all(part.isdigit() for part in parts)
    assert [int(part) for part in parts] >= [int(part) for part in needed.split(".")]


@pytest.mark.parametrize("app", [REACTFLUX, App(credentials=by_token)], ids=["browser", "elsewhere"])
def test_hide_globally_refuses_the_text_on(alice: Person, library: Library, app: App) -> None:
    """Why the version matters: below 2.2.8 it would say "on", and be refused."""
    body = {"title": "News", "hide_globally": "on"}
    assert ask(app, alice, "PUT", f"/v1/categories/{library.category}", body=body).status == 400
