"""Flux News (Android, iOS, macOS): its requests, what its models refuse, and how it reads the version and errors.

Facts from its sources of August 2026.
"""

from __future__ import annotations

import re
import time
from collections.abc import Iterator
from typing import Any

import pytest

from clients.apps import App, Ask, ask, fetch, play, read
from clients.library import Library, document, numbered, saves_somewhere
from clients.shapes import filled, flag, list_of, misfits, moment, nullable, record, text, whole
from support.entry_fixtures import ready
from support.people import HttpResponse, Person, call
from support.publisher import Publisher
from support.visitors import Visitor
from tidings.base.times import Instant
from tidings.storage.entries import counters
from tidings.storage.polling import entry_writes

pytestmark = pytest.mark.slow

JSON = "application/json; charset=UTF-8"
FLUX_NEWS = App(content_type=JSON, headers={"Accept": JSON, "Accept-Encoding": "gzip"})
# Stars and saves are sent with the key alone.
BARE = App(content_type="", headers={"Accept-Encoding": "gzip"})
PAGE_SIZE = 1_000

VERSION = record(version=text, commit=text, build_date=text, go_version=text, compiler=text, arch=text, os=text)
CATEGORY = record(id=whole, title=text)
FEED = record(id=whole, title=text, site_url=text, icon=nullable(record(icon_id=whole)), crawler=nullable(flag))
ATTACHMENT = record(id=whole, entry_id=whole, url=text, mime_type=text, media_progression=nullable(whole))
ENTRY = record(
    id=whole,
    feed_id=whole,
    title=text,
    url=text,
    comments_url=text,
    share_code=text,
    content=text,
    hash=text,
    published_at=moment,
    created_at=moment,
    status=filled,
    reading_time=whole,
    starred=flag,
    feed=record(title=text, icon=nullable(record(icon_id=whole))),
    enclosures=nullable(list_of(ATTACHMENT, 0)),
)
ENTRIES = record(total=whole, entries=list_of(ENTRY, 0))


def listing(choice: str, *, direction: str = "desc", limit: int = PAGE_SIZE, offset: int = 0) -> str:
    """Return the path of a page of entries. choice: what comes after the order, with its ampersand."""
    return f"/v1/entries?order=published_at{choice}&direction={direction}&limit={limit}&offset={offset}"


def paged(person: Person, choice: str) -> Iterator[dict[str, Any]]:
    """Yield entries of all pages as the app fetches them: it stops with an error at each of these failures."""
    offset, total = 0, None
    while total is None or offset < total:
        found = fetch(FLUX_NEWS, person, listing(choice, offset=offset))
        assert misfits(found, ENTRIES) == []
        assert total in (None, found["total"]), "the count changed during the paging"
        total = found["total"]
        assert len(found["entries"]) == min(PAGE_SIZE, total - offset), "a short page before the last"
        yield from found["entries"]
        offset += len(found["entries"])


SIGN_IN = [
    Ask("GET", "/v1/me", record()),
    Ask("GET", "/v1/version", VERSION),
]
SYNC = [
    Ask("GET", "/v1/feeds", list_of(record())),
    Ask("GET", "/v1/categories", list_of(CATEGORY)),
    Ask("GET", "/v1/categories/{category}/feeds", list_of(FEED)),
    Ask("GET", "/v1/categories/{podcasts}/feeds", list_of(FEED)),
    Ask("GET", listing("&status=unread"), ENTRIES),
    Ask("GET", listing("&status=unread", direction="asc"), ENTRIES),
    Ask("GET", listing("&after=1767225600"), ENTRIES),
    Ask("GET", listing("&starred=true"), ENTRIES),
    Ask("GET", listing("").replace("?", "?search=rain%20tomorrow&"), ENTRIES),
    Ask("GET", "/v1/entries/{listened}", ENTRY),
    Ask("GET", "/v1/entries/{unknown}", record(), status=404),
]
READING = [
    Ask("PUT", "/v1/entries", body={"entry_ids": ["{entry}", "{listened}"], "status": "read"}),
    Ask("PUT", "/v1/entries", body={"entry_ids": ["{entry}"], "status": "unread"}),
    Ask("PUT", "/v1/enclosures/{enclosure}", body={"media_progression": 42}),
    Ask("PUT", "/v1/feeds/refresh"),
]


def test_a_session_of_the_app_works(alice: Person, library: Library) -> None:
    saves_somewhere(alice)
    play(FLUX_NEWS, alice, library, [*SIGN_IN, *SYNC, *READING])
    play(BARE, alice, library, [Ask("PUT", "/v1/entries/{entry}/bookmark")])
    # The body of the response is not read.
    assert ask(BARE, alice, "POST", f"/v1/entries/{library.entry}/save").status == 202

    entry = alice.get(f"/v1/entries/{library.entry}")
    assert (entry["status"], entry["starred"]) == ("unread", True)
    listened = fetch(FLUX_NEWS, alice, f"/v1/entries/{library.listened}")
    assert (listened["status"], listened["enclosures"][0]["media_progression"]) == ("read", 42)


def test_a_long_list_is_complete_and_keeps_its_count(alice: Person, site: Publisher) -> None:
    count = 2 * PAGE_SIZE + 100
    feed = alice.has_feed(site, items=())
    entries = [
        ready(f"Number {number}", published_at=Instant(number // 3 * 1_000_000)) for number in range(1, count + 1)
    ]
    with alice.service.services.database.writing() as db:
        counters.lock(db, alice.id, [feed["id"]])
        entry_writes.add(db, alice.id, feed["id"], feed["category"]["id"], entries, now=Instant(1))

    found = [entry["id"] for entry in paged(alice, "&status=unread")]

    assert len(found) == len(set(found)) == count
    # Read on the phone: 500 at a time.
    for start in range(0, count, 500):
        body = {"entry_ids": found[start : start + 500], "status": "read"}
        assert ask(FLUX_NEWS, alice, "PUT", "/v1/entries", body=body).status == 204
    assert list(paged(alice, "&status=unread")) == []


def test_the_version_is_new_enough_for_everything(alice: Person) -> None:
    version = fetch(FLUX_NEWS, alice, "/v1/version")["version"]
    # All digits as one number: an error without any.
    digits = int(re.sub(r"\D", "", version))
    can_save = digits >= 2047 if re.match(r"[01]|2\.0", version) else True
    can_sync_listening = [int(group) for group in re.findall(r"\d+", version)] >= [2, 2, 0]
    assert (can_save, can_sync_listening) == (True, True)


def test_the_old_version_path_is_404(alice: Person) -> None:
    """It is asked for only where /v1/version fails; the contract says that it was removed."""
    assert call(alice.service.url, "GET", "/version", None, {"X-Auth-Token": alice.token}).status == 404


def test_a_wrong_key_is_not_200(alice: Person) -> None:
    assert call(alice.service.url, "GET", "/v1/me", None, {"X-Auth-Token": "wrong", "Accept": JSON}).status == 401


def subscribing(person: Person, feed_url: str, category: str, **more: Any) -> HttpResponse:
    """Make the category unless there is one with this title, and send what makes the feed."""
    known = {one["title"]: one["id"] for one in fetch(FLUX_NEWS, person, "/v1/categories")}
    if category not in known:
        created = ask(FLUX_NEWS, person, "POST", "/v1/categories", body={"title": category})
        assert created.status == 201, created
        assert misfits(read(created), CATEGORY) == []
        known[category] = read(created)["id"]
    body = {"feed_url": feed_url, "category_id": known[category], **more}
    return ask(FLUX_NEWS, person, "POST", "/v1/feeds", body=body)


@pytest.mark.parametrize("category", ["News", "Seas"], ids=["known", "new"])
def test_a_suggested_feed_is_subscribed_and_named(
    alice: Person, site: Publisher, library: Library, category: str
) -> None:
    url = site.serve("/new.xml", document(numbered(1), site.url("/new.xml"), "New"))

    answer = subscribing(alice, url, category, crawler=True, scraper_rules="article")
    assert (answer.status, type(read(answer)["feed_id"])) == (201, int)
    feed_id = read(answer)["feed_id"]
    assert ask(FLUX_NEWS, alice, "PUT", f"/v1/feeds/{feed_id}", body={"title": "Tides"}).status in (201, 204)

    feed = alice.get(f"/v1/feeds/{feed_id}")
    assert (feed["title"], feed["category"]["title"], feed["crawler"]) == ("Tides", category, True)
    assert feed["scraper_rules"] == "article"


def test_a_known_feed_is_found_again_by_its_address(alice: Person, site: Publisher, library: Library) -> None:
    """It looks for "already exists" in the error, then for a feed with the address that it sent."""
    url = site.serve("/new.xml", document(numbered(1), site.url("/new.xml"), "New"))
    feed_id = read(subscribing(alice, url, "News"))["feed_id"]

    again = subscribing(alice, url, "News")

    assert again.status == 400
    assert "already exists" in read(again)["error_message"].lower()
    assert {one["id"] for one in fetch(FLUX_NEWS, alice, "/v1/feeds") if one["feed_url"] == url} == {feed_id}


def test_a_save_without_a_service_is_an_error_to_the_app(alice: Person, library: Library) -> None:
    """It takes the text of Miniflux for success, and then says that the article was saved. Ours is not that text."""
    answer = ask(BARE, alice, "POST", f"/v1/entries/{library.entry}/save")
    assert answer.status == 400
    assert read(answer)["error_message"] != "no third-party integration enabled"


def test_an_article_opens_in_the_browser(alice: Person, library: Library, reader: Visitor) -> None:
    """The app has marked it as read by then, and puts its id after the path that entries have in Miniflux."""
    alice.put("/v1/entries", {"entry_ids": [library.entry], "status": "read"})
    answer = reader.get(f"/unread/entry/{library.entry}")
    assert answer.status in (302, 303)
    assert "Rain tomorrow" in reader.page(answer.headers["location"])


def test_with_read_articles_it_asks_for_those_published_after_a_moment(alice: Person, library: Library) -> None:
    assert fetch(FLUX_NEWS, alice, listing(f"&after={int(time.time())}")) == {"total": 0, "entries": []}
    assert fetch(FLUX_NEWS, alice, listing("&after=0"))["total"] == 4
