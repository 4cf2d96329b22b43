"""miniflutt (Android): all unread entries in one list, or in pages of a thousand; empty parameters for "any"."""

from __future__ import annotations

import pytest

from clients.apps import App, Ask, fetch, play
from clients.contract import CATEGORY, FEED, FEED_CREATED, USER
from clients.library import Library, numbered, subscribe
from clients.shapes import entry_page, flag, list_of, nullable, record, small, text, whole
from support.people import Person
from support.publisher import Publisher

pytestmark = pytest.mark.slow

# It sends JSON with its content type, and takes every status up to 204 for success.
MINIFLUTT = App(headers={"Accept-Encoding": "gzip"})
# What its models hold; it sorts by titles and groups by the ids of feed and category without a check.
ENTRY = record(
    id=small,
    user_id=small,
    feed_id=small,
    title=text,
    url=text,
    author=nullable(text),
    comments_url=nullable(text),
    content=text,
    hash=text,
    published_at=text,
    reading_time=whole,
    share_code=text,
    starred=flag,
    status=text,
    feed=record(id=small, title=text, category=record(id=small, title=text, user_id=small)),
)
ORDER = (("order", "published_at"), ("direction", "desc"))

SESSION = [
    Ask("GET", "/v1/me", USER),
    Ask("GET", "/v1/entries", entry_page(ENTRY), query=(("status", "unread"), ("limit", "500"), *ORDER)),
    Ask("GET", "/v1/entries", entry_page(ENTRY), query=(("status", ""), ("limit", "500"), *ORDER)),
    Ask("GET", "/v1/entries", entry_page(ENTRY), query=(("status", ""), ("limit", "0"), *ORDER, ("starred", "1"))),
    Ask(
        "GET",
        "/v1/entries",
        entry_page(ENTRY),
        query=(("status", ""), ("limit", "500"), *ORDER, ("search", "rain")),
    ),
    Ask("GET", "/v1/feeds", list_of(FEED)),
    Ask("GET", "/v1/categories", list_of(CATEGORY)),
    Ask("PUT", "/v1/entries", body={"entry_ids": ["{entry}"], "status": "read"}),
    Ask("PUT", "/v1/entries/{entry}/bookmark", body={}),
    Ask("PUT", "/v1/feeds/refresh", body={}),
    Ask("PUT", "/v1/feeds/{feed}", FEED, status=201, body={"title": "Skies", "category_id": "{category}"}),
    Ask("POST", "/v1/categories", CATEGORY, status=201, body={"title": "Sea"}),
    Ask("PUT", "/v1/categories/{category}", CATEGORY, status=201, body={"title": "Land"}),
    Ask("DELETE", "/v1/feeds/{podcast}"),
    Ask("DELETE", "/v1/categories/{podcasts}"),
]


def test_a_session_of_the_app_works(alice: Person, library: Library, site: Publisher) -> None:
    play(MINIFLUTT, alice, library, SESSION)
    entry = alice.get(f"/v1/entries/{library.entry}")
    assert (entry["status"], entry["starred"]) == ("read", True)

    site.serve("/tides.xml", "<rss version='2.0'><channel><title>Tides</title></channel></rss>")
    new = {"feed_url": site.url("/tides.xml"), "category_id": "{category}"}
    play(MINIFLUTT, alice, library, [Ask("POST", "/v1/feeds", FEED_CREATED, status=201, body=new)])


def test_all_categories_are_in_its_one_list(alice: Person, library: Library, site: Publisher) -> None:
    """It builds its list of categories from the entries: a list that ends at 1,000 hides categories."""
    subscribe(alice, site, numbered(1_050), "Long")
    for limit in ("0", "10000"):
        found = fetch(MINIFLUTT, alice, "/v1/entries", (("status", "unread"), ("limit", limit), *ORDER))
        assert found["total"] == len(found["entries"])
        titles = {entry["feed"]["category"]["title"] for entry in found["entries"]}
        assert {"News", "Podcasts"} <= titles


def test_pages_of_a_thousand_are_the_same_list(alice: Person, site: Publisher) -> None:
    subscribe(alice, site, numbered(1_050), "Long")
    page = (("status", "unread"), ("limit", "1000"), *ORDER)
    pages = [fetch(MINIFLUTT, alice, "/v1/entries", (*page, ("offset", str(offset)))) for offset in (0, 1000)]
    assert [len(one["entries"]) for one in pages] == [1000, 50]
    assert len({entry["id"] for one in pages for entry in one["entries"]}) == pages[0]["total"] == 1_050
