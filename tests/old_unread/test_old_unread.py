"""Old unread entries become read: the nearest setting decides, and starred entries stay."""

from __future__ import annotations

from typing import Any

import pytest
from sqlalchemy import update

from support.people import Person
from support.publisher import Publisher
from support.visitors import Visitor
from tidings.base.times import DAY, Instant
from tidings.domain.feeds.categories import Category, CategoryTree
from tidings.old_unread.old_unread import days_by_feed, mark_old
from tidings.old_unread.store import ReadAfter
from tidings.services.clock import system_clock
from tidings.storage.schema import entries as entry_table

PAGE = "/settings/old-entries"


def make_old(person: Person, feed: dict[str, Any], days: int) -> None:
    """Move the last change of a feed's entries back."""
    with person.service.services.database.writing() as db:
        is_of_feed = (entry_table.c.user_id == person.id, entry_table.c.feed_id == feed["id"])
        db.run(update(entry_table).where(*is_of_feed).values(changed_at=Instant(system_clock() - days * DAY)))


def clean_up(person: Person, limit: int = 500) -> None:
    """Do what the cleanup does, until nothing is left."""
    while True:
        with person.service.services.database.writing() as db:
            if mark_old(db, system_clock(), limit) < limit:
                return


def unread(person: Person, feed: dict[str, Any]) -> list[str]:
    return sorted(entry["title"] for entry in person.entries(status="unread") if entry["feed_id"] == feed["id"])


def test_old_entries_become_read_and_starred_ones_stay(alice: Person, bob: Person, site: Publisher) -> None:
    feed, other = alice.has_feed(site, ["Rain", "Snow", "Hail"]), bob.has_feed(site)
    make_old(alice, feed, 31)
    make_old(bob, other, 31)
    snow = next(entry for entry in alice.entries() if entry["title"] == "Snow")
    alice.put(f"/v1/entries/{snow['id']}/bookmark")
    make_old(alice, feed, 31)
    cursor = alice.get("/v1/sync")["next_cursor"]

    alice.put("/v1/read-after", {"days": 30}, status=201)
    clean_up(alice, limit=1)

    assert unread(alice, feed) == ["Snow"]
    assert len(unread(bob, other)) == 2
    assert alice.get("/v1/feeds/counters")["unreads"] == {str(feed["id"]): 1}
    changed = alice.get("/v1/sync", cursor=cursor)["entries"]
    assert {(entry["title"], entry["status"]) for entry in changed} == {("Rain", "read"), ("Hail", "read")}


def test_younger_entries_stay_and_never_is_respected(alice: Person, site: Publisher) -> None:
    young, kept, old = alice.has_feed(site), alice.has_feed(site), alice.has_feed(site)
    for feed, days in ((young, 29), (kept, 400), (old, 31)):
        make_old(alice, feed, days)

    alice.put("/v1/read-after", {"days": 30, "feeds": {str(kept["id"]): 0}}, status=201)
    clean_up(alice)

    assert [len(unread(alice, feed)) for feed in (young, kept, old)] == [2, 2, 0]
    alice.put("/v1/read-after", {"days": 0, "feeds": {str(kept["id"]): None}}, status=201)
    clean_up(alice)
    assert len(unread(alice, kept)) == 2
    assert alice.get("/v1/read-after") == {"days": 0, "categories": {}, "feeds": {}}


def test_what_is_not_sent_stays_and_errors_change_nothing(alice: Person, bob: Person, site: Publisher) -> None:
    feed, strange = alice.has_feed(site), bob.has_feed(site)
    category, feed_id = str(feed["category"]["id"]), str(feed["id"])
    alice.put("/v1/read-after", {"days": 30, "categories": {category: 7}}, status=201)

    shown = alice.put("/v1/read-after", {"feeds": {feed_id: 3}}, status=201)

    assert shown == {"days": 30, "categories": {category: 7}, "feeds": {feed_id: 3}}
    for wrong, field in (
        ({"feeds": {str(strange["id"]): 3, feed_id: 4}}, "feeds"),
        ({"categories": {"0": 3}}, "categories"),
        ({"days": 5, "feeds": {"seven": 3}}, "feeds"),
        ({"days": 100_000}, "days"),
        ({"days": -1}, "days"),
    ):
        assert alice.put("/v1/read-after", wrong, status=400)["error_message"].startswith(f"{field}: ")
    assert alice.get("/v1/read-after") == shown


def test_the_page_sets_days_and_shows_errors(alice: Person, reader: Visitor, site: Publisher) -> None:
    feed = alice.has_feed(site)
    reader.get(PAGE)

    reader.post(PAGE, days="30", place=f"f{feed['id']}", place_days="0")

    assert alice.get("/v1/read-after") == {"days": 30, "categories": {}, "feeds": {str(feed["id"]): 0}}
    page = reader.page(PAGE)
    assert 'value="30"' in page
    assert "Never" in page
    refused = reader.post(PAGE, days="soon", place="", place_days="")
    assert (refused.status, 'value="soon"' in refused.body.decode()) == (400, True)
    reader.post(PAGE, days="", place=f"f{feed['id']}", place_days="")
    assert alice.get("/v1/read-after") == {"days": 0, "categories": {}, "feeds": {}}


# Deciding


@pytest.mark.parametrize(
    ("settings", "days"),
    [
        ([ReadAfter(30)], {1: 30, 2: 30, 3: 30}),
        ([ReadAfter(30), ReadAfter(7, category_id=1)], {1: 7, 2: 7, 3: 30}),
        ([ReadAfter(7, category_id=1), ReadAfter(0, category_id=2)], {1: 7}),
        ([ReadAfter(7, category_id=1), ReadAfter(3, feed_id=2)], {1: 7, 2: 3}),
        ([ReadAfter(30), ReadAfter(0, feed_id=3)], {1: 30, 2: 30}),
    ],
)
def test_the_nearest_setting_wins(settings: list[ReadAfter], days: dict[int, int]) -> None:
    tree = CategoryTree(
        [
            Category(1, 7, "News", hide_globally=False, name="News"),
            Category(2, 7, "News / Europe", hide_globally=False, parent_id=1, name="Europe"),
            Category(3, 7, "Art", hide_globally=False, name="Art"),
        ]
    )

    assert days_by_feed(settings, {1: 1, 2: 2, 3: 3}, tree) == days
