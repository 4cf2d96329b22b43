"""What came and what was read, as drawings made on the server."""

from __future__ import annotations

import re
import time
from datetime import UTC, datetime

from support.people import Person, rss
from support.publisher import Publisher
from support.visitors import Visitor
from tidings.storage.entries import statistics


def numbers(page: str) -> list[str]:
    return re.findall(r"<dd>([\d,.]+)</dd>", page)


def test_an_empty_account_sees_what_will_be_counted(reader: Visitor) -> None:
    page = reader.page("/statistics")

    assert "Nothing to count yet." in page
    assert numbers(page) == []


def test_reading_is_counted_on_its_day(alice: Person, reader: Visitor, site: Publisher) -> None:
    feed = alice.has_feed(site, ("One", "Two", "Three"))
    ids = [entry["id"] for entry in alice.entries()]
    alice.put("/v1/entries", {"entry_ids": ids[:2], "status": "read"})
    page = reader.page("/statistics")

    assert numbers(page)[:4] == ["2", "0", "1", "1"]
    assert f"/feeds/{feed['id']}?show=all" in page
    assert len(re.findall('class="level-4"', page)) == 1


def test_the_feeds_that_are_read_most_come_first_and_equal_ones_by_title(
    alice: Person, bob: Person, reader: Visitor, site: Publisher
) -> None:
    read = {"b": 2, "A": 2, "c": 3, "d": 0}
    feeds = {title: alice.has_feed(site, ("One", "Two", "Three")) for title in read}
    for title, count in read.items():
        alice.put(f"/v1/feeds/{feeds[title]['id']}", {"title": title}, status=201)
        ids = [entry["id"] for entry in alice.get(f"/v1/feeds/{feeds[title]['id']}/entries")["entries"]]
        if count:
            alice.put("/v1/entries", {"entry_ids": ids[:count], "status": "read"})
    bob.has_feed(site)
    bob.put("/v1/entries", {"entry_ids": [entry["id"] for entry in bob.entries()], "status": "read"})

    listed = re.findall(r'href="/feeds/(\d+)\?show=all"', reader.page("/statistics"))
    assert listed == [str(feeds[title]["id"]) for title in ("c", "A", "b")]


def test_other_users_are_not_counted(alice: Person, bob: Person, reader: Visitor, site: Publisher) -> None:
    bob.has_feed(site)
    bob.put("/v1/entries", {"entry_ids": [entry["id"] for entry in bob.entries()], "status": "read"})

    assert "Nothing to count yet." in reader.page("/statistics")


def test_a_chart_shows_what_was_published_within_its_days(alice: Person, reader: Visitor, site: Publisher) -> None:
    today = datetime.fromtimestamp(time.time(), UTC).strftime("%d %b %Y 00:00:00 GMT")
    items = rss(("Now", "Then"), site.url("/f.xml")).replace("28 Sep 2026 10:00:00 GMT", today)
    site.serve("/f.xml", items.replace("27 Sep 2026", "27 Sep 2006"))
    alice.post("/v1/feeds", {"feed_url": site.url("/f.xml")})
    page = reader.page("/statistics")

    assert numbers(page)[4] == "1"
    assert len(re.findall(r'<rect class="bar" x=', page)) == 1


def test_what_is_marked_in_bulk_is_not_read(alice: Person, reader: Visitor, site: Publisher) -> None:
    feed = alice.has_feed(site, [f"Entry {number}" for number in range(1, 28)])
    alice.put(f"/v1/feeds/{feed['id']}/mark-all-as-read")
    page = reader.page("/statistics")
    assert numbers(page)[:4] == ["0", "27", "0", "0"]

    # One by one, and as an app sends what was read while it was offline.
    alice.put("/v1/entries", {"entry_ids": [one["id"] for one in alice.entries(limit=100)], "status": "unread"})
    ids, few = [one["id"] for one in alice.entries(limit=100)], statistics.MAX_AT_ONCE
    for together in (ids[:1], ids[1:2], ids[2 : 2 + few]):
        alice.put("/v1/entries", {"entry_ids": together, "status": "read"})
    assert numbers(reader.page("/statistics"))[:4] == [str(2 + few), "0", "1", "1"]
    today = alice.get("/v1/statistics")["days"][-1]
    assert (today["read"], today["marked"]) == (2 + few, 0)


def test_the_about_page_needs_no_session(visitor: Visitor, reader: Visitor) -> None:
    for page in (visitor.page("/about"), reader.page("/about")):
        assert 'id="address"' in page
        assert "Miniflux" in page
    assert "/settings/api-keys" in reader.page("/about")
