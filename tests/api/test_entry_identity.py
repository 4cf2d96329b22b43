"""Entries matched by URL (docs/ingestion.md): ids that change, and the setting switched on and off."""

from __future__ import annotations

import itertools
import json
import threading
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from support.people import Person
from support.publisher import Answer, Publisher, ReceivedRequest

PATH = "/feed.xml"
_numbers = itertools.count(1)


def publish(site: Publisher, *titles: str, ids: str = "", link: str = "{site}{title}") -> str:
    """Serve a document, and return it.

    titles: the newest first. ids: what all ids begin with; a new one in every document when it is left out.
    """
    ids = ids or f"fetch-{next(_numbers)}"
    items = "".join(
        f"<item><title>{title}</title><link>{link.format(site=site.url('/'), title=title.replace(' ', '-'))}</link>"
        f"<guid isPermaLink='false'>{ids}:{title}</guid><description>About {title}.</description></item>"
        for title in titles
    )
    document = f"<rss version='2.0'><channel><title>Feed</title><link>{site.url('/')}</link>{items}</channel></rss>"
    site.serve(PATH, document)
    return document


def serve_items(site: Publisher, *items: str) -> None:
    inside = "".join(f"<item>{item}</item>" for item in items)
    site.serve(PATH, f"<rss version='2.0'><channel><title>Feed</title>{inside}</channel></rss>")


def subscribe(person: Person, site: Publisher, **fields: Any) -> int:
    return int(person.post("/v1/feeds", {"feed_url": site.url(PATH), **fields})["feed_id"])


def refresh(person: Person, feed_id: int) -> list[str]:
    """The titles afterwards, the oldest first."""
    person.put(f"/v1/feeds/{feed_id}/refresh")
    return titles(person)


def titles(person: Person) -> list[str]:
    return [entry["title"] for entry in person.entries(order="id")]


def match_by_url(person: Person, feed_id: int, wanted: bool) -> None:
    feed = person.put(f"/v1/feeds/{feed_id}", {"match_entries_by_url": wanted}, status=201)
    assert feed["match_entries_by_url"] is wanted


def state(entry: dict[str, Any]) -> tuple[Any, ...]:
    return tuple(entry[name] for name in ("id", "title", "status", "starred", "changed_at", "published_at"))


def by_title(entries: Iterable[dict[str, Any]]) -> dict[str, dict[str, Any]]:
    return {entry["title"]: entry for entry in entries}


def test_changing_ids_make_no_duplicates_if_entries_are_matched_by_url(alice: Person, site: Publisher) -> None:
    publish(site, "One")
    feed_id = subscribe(alice, site, match_entries_by_url=True)
    before = alice.entries()

    publish(site, "Two", "One")
    assert refresh(alice, feed_id) == ["One", "Two"]
    publish(site, "Three", "Two", "One")
    assert refresh(alice, feed_id) == ["One", "Two", "Three"]

    assert state(by_title(alice.entries())["One"]) == state(before[0])


def test_a_new_id_is_a_new_entry_if_entries_are_matched_by_id(alice: Person, site: Publisher) -> None:
    publish(site, "One")
    feed_id = subscribe(alice, site)

    publish(site, "One")

    assert refresh(alice, feed_id) == ["One", "One"]


@pytest.mark.parametrize("ids", ["", "steady"])
def test_enabling_matching_by_url_changes_no_entry(alice: Person, site: Publisher, ids: str) -> None:
    publish(site, "Two", "One", ids=ids)
    feed_id = subscribe(alice, site)
    known = by_title(alice.entries())
    alice.put("/v1/entries", {"entry_ids": [known["One"]["id"]], "status": "read", "starred": True})
    before = [state(entry) for entry in alice.entries(order="id")]

    match_by_url(alice, feed_id, True)
    publish(site, "Two", "One", ids=ids)

    assert refresh(alice, feed_id) == ["One", "Two"]
    assert [state(entry) for entry in alice.entries(order="id")] == before
    publish(site, "Three", "Two", "One", ids=ids)
    assert refresh(alice, feed_id) == ["One", "Two", "Three"]


def test_disabling_matching_by_url_changes_no_entry(alice: Person, site: Publisher) -> None:
    publish(site, "Two", "One")
    feed_id = subscribe(alice, site, match_entries_by_url=True)
    known = by_title(alice.entries())
    alice.put("/v1/entries", {"entry_ids": [known["One"]["id"]], "status": "read"})
    before = [state(entry) for entry in alice.entries(order="id")]

    match_by_url(alice, feed_id, False)
    publish(site, "Three", "Two", "One", ids="now steady")

    assert refresh(alice, feed_id) == ["One", "Two", "Three"]
    assert [state(entry) for entry in alice.entries(order="id")[:2]] == before
    publish(site, "Three", "Two", "One", ids="now steady", link="{site}elsewhere/{title}")
    assert refresh(alice, feed_id) == ["One", "Two", "Three"], "known by their ids from then on"


SHARED_ID = "<guid isPermaLink='false'>same</guid>"


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("<guid>http://a.example/1</guid>", "<guid>https://a.example/1</guid>"),
        ("<link>http://a.example/1</link>", "<link>https://a.example/1</link>"),
        ("<link>https://a.example/1?utm_source=a</link>", "<link>https://a.example/1?utm_source=b</link>"),
        ("<link>https://a.example/1</link>", "<link>http://a.example/1?utm_campaign=b</link>"),
    ],
)
def test_an_entry_stays_read_when_its_address_is_spelt_differently(
    alice: Person, site: Publisher, before: str, after: str
) -> None:
    serve_items(site, f"{before}<title>One</title>")
    feed_id = subscribe(alice, site)
    alice.put("/v1/entries", {"entry_ids": [alice.entries()[0]["id"]], "status": "read"})

    serve_items(site, f"{after}<title>One</title>")
    refresh(alice, feed_id)

    assert [(entry["title"], entry["status"]) for entry in alice.entries()] == [("One", "read")]


@pytest.mark.parametrize(
    ("one", "two"),
    [
        (f"{SHARED_ID}<link>https://a.example/1</link>", f"{SHARED_ID}<link>https://a.example/2</link>"),
        ("<link>https://a.example/</link>", "<link>https://a.example/</link>"),
    ],
)
def test_an_id_or_link_that_is_shared_for_a_while_makes_no_duplicates(
    alice: Person, site: Publisher, one: str, two: str
) -> None:
    one, two = f"{one}<title>One</title>", f"{two}<title>Two</title>"
    serve_items(site, one)
    feed_id = subscribe(alice, site)
    serve_items(site, two, one)
    assert refresh(alice, feed_id) == ["One", "Two"]
    alice.put("/v1/entries", {"entry_ids": [entry["id"] for entry in alice.entries()], "status": "read"})

    serve_items(site, two)
    refresh(alice, feed_id)

    assert [(entry["title"], entry["status"]) for entry in alice.entries(order="id")] == [
        ("One", "read"),
        ("Two", "read"),
    ]
    alice.put("/v1/flush-history", status=202)
    serve_items(site, two, one)
    refresh(alice, feed_id)
    assert refresh(alice, feed_id) == [], "a deleted entry does not come back either"


@pytest.mark.slow
def test_toggling_the_setting_between_two_checks_loses_and_duplicates_nothing(alice: Person, site: Publisher) -> None:
    publish(site, "Two", "One", ids="steady")
    feed_id = subscribe(alice, site)

    for wanted in (True, False, True, False):
        match_by_url(alice, feed_id, wanted)
        assert refresh(alice, feed_id) == ["One", "Two"]
        publish(site, "Two", "One", ids="steady", link="{site}{title}?utm_source=" + str(wanted))
        assert refresh(alice, feed_id) == ["One", "Two"]
    match_by_url(alice, feed_id, True)
    match_by_url(alice, feed_id, False)
    match_by_url(alice, feed_id, True)
    publish(site, "Two", "One")
    assert refresh(alice, feed_id) == ["One", "Two"]


@pytest.mark.parametrize("ids", ["", "steady"])
def test_a_deleted_entry_does_not_come_back(alice: Person, site: Publisher, ids: str) -> None:
    publish(site, "One", ids=ids)
    feed_id = subscribe(alice, site, match_entries_by_url=True)
    alice.put("/v1/entries", {"entry_ids": [alice.entries()[0]["id"]], "status": "read"})
    alice.put("/v1/flush-history", status=202)

    publish(site, "One", ids=ids)
    assert refresh(alice, feed_id) == []
    match_by_url(alice, feed_id, False)
    publish(site, "Two", "One", ids="steady")
    assert refresh(alice, feed_id) == ["Two"]
    match_by_url(alice, feed_id, True)
    assert refresh(alice, feed_id) == ["Two"]
    publish(site, "Two", "One")
    assert refresh(alice, feed_id) == ["Two"], "its address took the place of the id among the deleted ones"


def test_a_check_that_began_before_the_setting_changed_stores_nothing(alice: Person, site: Publisher) -> None:
    publish(site, "One", ids="steady")
    feed_id = subscribe(alice, site)
    document = publish(site, "Two", "One", ids="steady")
    is_asked, may_answer = threading.Event(), threading.Event()

    def answer(_seen: ReceivedRequest) -> Answer:
        is_asked.set()
        assert may_answer.wait(180)
        return Answer(document)

    site.script(PATH, answer)
    with ThreadPoolExecutor(1) as other:
        checking = other.submit(alice.call, "PUT", f"/v1/feeds/{feed_id}/refresh")
        assert is_asked.wait(180)
        match_by_url(alice, feed_id, True)
        may_answer.set()
        assert checking.result().status == 204
    assert titles(alice) == ["One"]

    publish(site, "Two", "One")
    assert refresh(alice, feed_id) == ["One", "Two"]


def test_existing_duplicates_stay_and_no_more_are_added(alice: Person, site: Publisher) -> None:
    publish(site, "One")
    feed_id = subscribe(alice, site)
    publish(site, "One")
    assert refresh(alice, feed_id) == ["One", "One"]

    match_by_url(alice, feed_id, True)
    publish(site, "One")

    assert refresh(alice, feed_id) == ["One", "One"]


def test_url_rewrite_rules_do_not_affect_matching_by_url(alice: Person, site: Publisher) -> None:
    publish(site, "One")
    feed_id = subscribe(alice, site, urlrewrite_rules='rewrite("One$"|"elsewhere/One")')
    assert alice.entries()[0]["url"].endswith("/elsewhere/One")

    match_by_url(alice, feed_id, True)
    publish(site, "One")

    assert refresh(alice, feed_id) == ["One"]
    alice.put(f"/v1/feeds/{feed_id}", {"urlrewrite_rules": ""}, status=201)
    publish(site, "Two", "One")
    assert refresh(alice, feed_id) == ["One", "Two"]


def test_entries_with_the_same_url_are_distinguished_by_title(alice: Person, site: Publisher) -> None:
    publish(site, "Two", "One", link="{site}same")
    feed_id = subscribe(alice, site)

    match_by_url(alice, feed_id, True)
    publish(site, "Three", "Two", "One", link="{site}same")

    assert refresh(alice, feed_id) == ["One", "Two", "Three"]
    publish(site, "Three", link="{site}same")
    assert refresh(alice, feed_id) == ["One", "Two", "Three"]
    publish(site, "Four", "Three", link="{site}same")
    assert refresh(alice, feed_id) == ["One", "Two", "Three", "Four"]


def test_entries_without_a_url_are_matched_by_id(alice: Person, site: Publisher) -> None:
    feed = {
        "version": "https://jsonfeed.org/version/1.1",
        "title": "Feed",
        "items": [{"id": "1", "content_text": "One"}],
    }
    site.serve(PATH, json.dumps(feed))
    feed_id = subscribe(alice, site, match_entries_by_url=True)

    site.serve(PATH, json.dumps(feed | {"items": [*feed["items"], {"id": "2", "content_text": "Two"}]}))

    assert len(refresh(alice, feed_id)) == 2


def test_an_imported_entry_is_matched_by_its_url(alice: Person, site: Publisher) -> None:
    publish(site, "One")
    feed_id = subscribe(alice, site, match_entries_by_url=True)
    alice.post(f"/v1/feeds/{feed_id}/entries/import", {"url": site.url("/Two"), "title": "Two", "external_id": "x"})

    publish(site, "Two", "One")

    assert refresh(alice, feed_id) == ["One", "Two"]


def test_opml_exports_and_imports_the_setting(alice: Person, bob: Person, site: Publisher) -> None:
    publish(site, "One")
    subscribe(alice, site, match_entries_by_url=True)

    exported = alice.call("GET", "/v1/export").body
    assert bob.call("POST", "/v1/import", raw=exported).status == 201

    assert b'matchEntriesByURL="true"' in exported
    assert [feed["match_entries_by_url"] for feed in bob.get("/v1/feeds")] == [True]
