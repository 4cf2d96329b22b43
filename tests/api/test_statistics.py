"""How much feeds published and how much a user has read, by day."""

from __future__ import annotations

from support.people import Person, rss
from support.publisher import Publisher


def test_reading_and_publishing_are_counted_by_day(alice: Person, bob: Person, site: Publisher) -> None:
    feed = alice.has_feed(site, ("One", "Two", "Three"))
    alice.put("/v1/entries", {"entry_ids": [one["id"] for one in alice.entries()[:2]], "status": "read"})
    bob.has_feed(site)

    counted = alice.get("/v1/statistics")

    days = counted["days"]
    assert (counted["streak"], counted["longest_streak"]) == (1, 1)
    assert [day["date"] for day in days] == sorted(day["date"] for day in days)
    assert len(days) == 365
    # The last day may have ended since the entries were read.
    assert sum(day["read"] for day in days[-2:]) == sum(day["read"] for day in days) == 2
    assert [day["published"] is None for day in days] == [True] * 275 + [False] * 90
    of_feed = {"id": feed["id"], "title": feed["title"], "read": 2, "unread": 1}
    assert counted["most_read_feeds"] == [of_feed]
    assert bob.get("/v1/statistics")["most_read_feeds"] == []


def test_entries_count_on_the_day_on_which_they_were_published(alice: Person, site: Publisher) -> None:
    yesterday = alice.get("/v1/statistics")["days"][-2]["date"]
    document = rss(["One"], site.url("/new.xml")).replace(
        "28 Sep 2026", f"{yesterday[8:]} {MONTHS[yesterday[5:7]]} " + yesterday[:4]
    )
    site.serve("/new.xml", document)
    alice.post("/v1/feeds", {"feed_url": site.url("/new.xml")})

    published = {day["date"]: day["published"] for day in alice.get("/v1/statistics")["days"] if day["published"]}

    assert published == {yesterday: 1}


_NAMES = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")
MONTHS = {f"{number:02}": name for number, name in enumerate(_NAMES, 1)}
