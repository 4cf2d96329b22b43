"""Capy Reader (Android): models that refuse null, and pages fetched side by side."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import pytest

from clients.apps import App, Ask, Credentials, ask, by_password, by_token, fetch, play, read
from clients.contract import CATEGORY, INTEGRATIONS
from clients.library import Library, document, numbered, saves_somewhere, subscribe
from clients.shapes import (
    entry_page,
    filled,
    flag,
    list_of,
    misfits,
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

CAPY = App(content_type="application/json; charset=UTF-8")

# Only what may be null there is nullable here.
STRICT_FEED = record(
    id=small,
    title=text,
    feed_url=filled,
    site_url=text,
    checked_at=moment,
    parsing_error_count=whole,
    crawler=flag,
    disabled=flag,
    ignore_http_cache=flag,
    fetch_via_proxy=flag,
    category=nullable(record(id=small, title=text)),
    icon=nullable(record(feed_id=small, icon_id=small)),
)
STRICT_ENTRY = record(
    id=small,
    feed_id=small,
    hash=filled,
    status=filled,
    published_at=moment,
    created_at=moment,
    changed_at=moment,
    content=text,
    starred=flag,
    reading_time=whole,
    enclosures=nullable(
        list_of(record(id=small, user_id=small, entry_id=small, url=text, mime_type=text, size=whole), 0)
    ),
)
STRICT_ENTRIES = entry_page(STRICT_ENTRY)
STRICT_USER = record(
    id=small,
    username=filled,
    is_admin=flag,
    theme=text,
    language=text,
    timezone=text,
    entry_sorting_direction=text,
    stylesheet=text,
    google_id=text,
    openid_connect_id=text,
    entries_per_page=whole,
    keyboard_shortcuts=flag,
    show_reading_time=flag,
    entry_swipe=flag,
    last_login_at=moment,
)

ALL = (("limit", "250"), ("offset", "0"), ("order", "published_at"), ("direction", "desc"))
SYNC = [
    Ask("GET", "/v1/me", STRICT_USER),
    Ask("GET", "/v1/integrations/status", INTEGRATIONS),
    Ask("GET", "/v1/feeds", list_of(STRICT_FEED)),
    Ask("GET", "/v1/categories", list_of(CATEGORY)),
    Ask("GET", "/v1/entries", STRICT_ENTRIES, query=(("starred", "true"), *ALL)),
    Ask("GET", "/v1/entries", STRICT_ENTRIES, query=(("status", "unread"), *ALL)),
    Ask("GET", "/v1/entries", STRICT_ENTRIES, query=(("changed_after", "1767225600"), *ALL)),
]
READING = [
    Ask("PUT", "/v1/entries", body={"entry_ids": ["{entry}", "{listened}"], "status": "read"}),
    Ask("PUT", "/v1/entries/{entry}/bookmark"),
    Ask("POST", "/v1/entries/{entry}/save", status=202),
]
ORDERING = [
    Ask("POST", "/v1/categories", CATEGORY, status=201, body={"title": "Sports"}),
    Ask("PUT", "/v1/categories/{category}", CATEGORY, status=201, body={"title": "Papers"}),
    Ask(
        "PUT",
        "/v1/feeds/{feed}",
        STRICT_FEED,
        status=201,
        body={"title": "Skies", "category_id": None},
    ),
    Ask("DELETE", "/v1/feeds/{podcast}"),
    Ask("DELETE", "/v1/categories/{podcasts}"),
]


def test_a_session_of_the_app_works(alice: Person, library: Library) -> None:
    saves_somewhere(alice)
    play(CAPY, alice, library, [*SYNC, *READING, *ORDERING])
    entry = alice.get(f"/v1/entries/{library.entry}")
    assert (entry["status"], entry["starred"]) == ("read", True)
    assert (entry["feed"]["title"], entry["feed"]["category"]["title"]) == ("Skies", "Papers")


@pytest.mark.parametrize("credentials", [by_token, by_password], ids=["token", "password"])
def test_the_first_request_already_has_the_time_of_the_last_login(alice: Person, credentials: Credentials) -> None:
    """The check of a new account fails on a null."""
    answer = ask(App(credentials=credentials), alice, "GET", "/v1/me")
    assert misfits(read(answer), STRICT_USER) == []


@pytest.mark.parametrize("more", [{}, {"category_id": None}], ids=["absent", "null"])
def test_subscribing_without_a_category(alice: Person, site: Publisher, more: dict[str, None]) -> None:
    url = site.serve("/new.xml", document(numbered(1), site.url("/new.xml"), "New"))
    answer = ask(CAPY, alice, "POST", "/v1/feeds", body={"feed_url": url, **more})
    assert answer.status < 300
    feed = alice.get(f"/v1/feeds/{read(answer)['feed_id']}")
    assert feed["category"] == alice.get("/v1/categories")[0]


def test_pages_fetched_concurrently_are_complete(alice: Person, site: Publisher) -> None:
    subscribe(alice, site, numbered(620), "Long")
    order = (("order", "published_at"), ("direction", "desc"), ("limit", "250"))

    def page(offset: int) -> list[int]:
        found = fetch(CAPY, alice, "/v1/entries", (*order, ("offset", str(offset))))
        assert found["total"] == 620
        return [entry["id"] for entry in found["entries"]]

    with ThreadPoolExecutor(3) as pool:
        pages = list(pool.map(page, (0, 250, 500)))

    assert [len(ids) for ids in pages] == [250, 250, 120]
    assert len({one for ids in pages for one in ids}) == 620
