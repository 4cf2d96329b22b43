"""What an archive has of old unread entries: it may mark entries as read, so that it is asked for."""

from __future__ import annotations

from typing import Any

from newsletters.test_archives import exported, imported
from support.people import Person
from support.publisher import Publisher
from tidings.archives.parts import ArchivePart

PATH = "/v1/read-after"


def has_days(person: Person, site: Publisher) -> None:
    feed = person.has_feed(site, ["Rain"])
    values = {"days": 30, "categories": {str(feed["category"]["id"]): 7}, "feeds": {str(feed["id"]): 0}}
    person.put(PATH, values, status=201)


def by_title(person: Person) -> dict[str, Any]:
    """Return the settings of a person, with titles for ids."""
    found = person.get(PATH)
    categories = {str(one["id"]): one["title"] for one in person.get("/v1/categories")}
    feeds = {str(one["id"]): one["title"] for one in person.get("/v1/feeds")}
    return {
        "days": found["days"],
        "categories": {categories[str(key)]: days for key, days in found["categories"].items()},
        "feeds": {feeds[str(key)]: days for key, days in found["feeds"].items()},
    }


def test_days_come_in_if_rules_are_asked_for(alice: Person, bob: Person, site: Publisher) -> None:
    has_days(alice, site)
    archive = exported(alice)

    without = imported(bob, archive, {ArchivePart.SETTINGS}).problems
    assert without == [f"old unread entries after {days} days: left out" for days in (30, 7, 0)]
    assert bob.get(PATH) == {"days": 0, "categories": {}, "feeds": {}}

    assert imported(bob, archive).problems == []
    assert imported(bob, archive).problems == []
    assert by_title(bob) == by_title(alice)


def test_what_the_account_has_set_stays(alice: Person, bob: Person, site: Publisher) -> None:
    has_days(alice, site)
    bob.put(PATH, {"days": 365}, status=201)

    assert imported(bob, exported(alice)).problems == []

    assert by_title(bob) == by_title(alice) | {"days": 365}
