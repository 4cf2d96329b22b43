"""Which entry of a document is which stored entry, over several checks."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import select, update

from support.polling_fixtures import PollingFixture
from support.publisher import Publisher
from tidings.base.times import DAY
from tidings.engine.database import Database
from tidings.storage.schema import entries


class WatchedFeed:
    """A feed whose document changes between checks."""

    def __init__(self, fixture: PollingFixture, site: Publisher) -> None:
        self.fixture = fixture
        self.site = site
        self.feed_id = 0

    def publish(self, *items: str) -> None:
        """Publish the items, the newest first, and check the feed."""
        inside = "".join(f"<item>{item}</item>" for item in items)
        self.site.serve("/feed.xml", f"<rss version='2.0'><channel><title>T</title>{inside}</channel></rss>".encode())
        if not self.feed_id:
            self.feed_id = self.fixture.subscribe(self.fixture.user("alice"), self.site.url("/feed.xml"))
        self.fixture.due_again()
        self.fixture.poll()

    def mark_all_as_read(self) -> None:
        with self.fixture.database.writing() as db:
            db.run(update(entries).values(status=1))

    def delete_all(self) -> None:
        self.mark_all_as_read()
        with self.fixture.database.reading() as db:
            owners = db.scalars(select(entries.c.user_id).distinct())
        for user_id in owners:
            self.fixture.services.entries.changes.flush_history(user_id)

    def stored(self, *columns: str) -> list[Any]:
        """Return the columns of the entries, in the order in which they came in."""
        with self.fixture.database.reading() as db:
            found = db.rows(select(*(entries.c[name] for name in columns)).order_by(entries.c.id))
        return [tuple(row[name] for name in columns) for row in found]


@pytest.fixture
def feed(database: Database, database_url: str, tmp_path: Path, site: Publisher) -> WatchedFeed:
    return WatchedFeed(PollingFixture(database, database_url, tmp_path), site)


@pytest.mark.slow
def test_a_new_entry_with_a_shared_guid_does_not_take_over_the_state_of_the_older_one(feed: WatchedFeed) -> None:
    old = "<guid>g</guid><link>https://site.example/1</link><title>Old</title>"
    new = "<guid>g</guid><link>https://site.example/2</link><title>New</title>"
    newest = "<guid>g</guid><link>https://site.example/2</link><title>Newest</title>"

    feed.publish(old)
    feed.mark_all_as_read()
    feed.publish(new, old)
    assert feed.stored("title", "status") == [("Old", 1), ("New", 0)]

    feed.publish(newest, new, old)
    feed.publish(newest, new, old)
    assert feed.stored("title", "status") == [("Old", 1), ("New", 0), ("Newest", 0)]

    feed.publish(newest, new)
    assert feed.stored("title", "status") == [("Old", 1), ("New", 0), ("Newest", 0)]


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("http://site.example/1", "https://site.example/1"),
        ("https://site.example/1", "http://site.example/1"),
        ("tag:1", " tag:1\n"),
        (" tag:1", "tag:1"),
        ("https://site.example/1?a=1&amp;utm_source=x", "http://site.example/1?a=1&amp;utm_source=y"),
    ],
)
def test_another_spelling_of_a_guid_is_the_same_entry(feed: WatchedFeed, before: str, after: str) -> None:
    feed.publish(f"<guid isPermaLink='false'>{before}</guid><title>One</title>")
    feed.mark_all_as_read()
    feed.publish(f"<guid isPermaLink='false'>{after}</guid><title>One, corrected</title>")

    assert feed.stored("title", "status") == [("One, corrected", 1)]


def test_a_deleted_entry_stays_deleted_under_another_spelling_when_the_feed_has_no_other(feed: WatchedFeed) -> None:
    feed.publish("<guid>http://site.example/1</guid><title>One</title>")
    feed.delete_all()
    feed.publish("<guid>https://site.example/1</guid><title>One</title>")

    assert feed.stored("title") == []


DATE = "<pubDate>Fri, 02 Jan 2026 08:30:00 GMT</pubDate>"


def dated(guid: str, link: str, title: str = "One", date: str = DATE) -> str:
    return f"<guid isPermaLink='false'>{guid}</guid><link>{link}</link><title>{title}</title>{date}"


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("https://site.example/1", "https://site.example/1"),
        ("https://site.example/1", "http://www.site.example/1/"),
        ("https://www.site.example/1?b=2", "https://SITE.example/1?b=2#more"),
        ("https://site.example/gr%C3%BC%C3%9Fe", "https://site.example/grüße"),
        ("https://site.example/1?id=7&amp;PHPSESSID=ab12", "https://site.example/1?id=7&amp;PHPSESSID=cd34"),
        ("https://site.example/1;jsessionid=AB?id=7", "https://site.example/1?id=7"),
        ("https://site.example/1#a", "https://site.example/1#b"),
        ("https://site.example/", "https://site.example"),
    ],
)
def test_a_new_guid_with_the_same_link_title_and_date_is_the_same_entry(
    feed: WatchedFeed, before: str, after: str
) -> None:
    feed.publish(dated("old-1", before))
    feed.mark_all_as_read()
    feed.publish(dated("https://new.example/?p=1", after))
    feed.publish(dated("https://new.example/?p=1", after))

    assert feed.stored("title", "status") == [("One", 1)]


@pytest.mark.parametrize(
    "other",
    [
        dated("new", "https://site.example/2"),
        dated("new", "https://site.example/1?page=2"),
        dated("new", "https://other.example/1"),
        dated("new", "https://site.example/1", title="Two"),
        dated("new", "https://site.example/1", date=DATE.replace("30", "31")),
        dated("new", "https://site.example/1", date=""),
    ],
    ids=["path", "query", "host", "title", "date", "no date"],
)
def test_a_new_guid_with_anything_else_new_is_a_new_entry(feed: WatchedFeed, other: str) -> None:
    feed.publish(dated("old", "https://site.example/1"))
    feed.publish(other)

    assert len(feed.stored("id")) == 2


def test_an_entry_that_is_still_in_the_document_is_another_one(feed: WatchedFeed) -> None:
    first, second = dated("1", "https://site.example/"), dated("2", "https://site.example/")

    feed.publish(first)
    feed.mark_all_as_read()
    feed.publish(second, first)

    assert feed.stored("status") == [(1,), (0,)]


def test_a_whole_feed_under_new_guids_stays_in_order(feed: WatchedFeed) -> None:
    """Two entries share link, title and date: the older one stays the older one."""
    old = [
        dated(f"old-{n}", "https://site.example/same", title="Same") + f"<description>{n}</description>" for n in (2, 1)
    ]
    feed.publish(*old, dated("old-0", "https://site.example/0"))
    ids = feed.stored("id")
    feed.mark_all_as_read()
    feed.publish(*(item.replace("old-", "new-") for item in old), dated("new-0", "https://www.site.example/0"))
    feed.publish(dated("new-3", "https://site.example/3"), *(item.replace("old-", "new-") for item in old))

    assert [row[:2] for row in feed.stored("id", "status")][:3] == [(*id_, 1) for id_ in ids]
    assert feed.stored("status") == [(1,), (1,), (1,), (0,)]


def test_two_guids_that_differ_in_their_scheme_are_two_entries(feed: WatchedFeed) -> None:
    items = [f"<guid>{scheme}://site.example/1</guid><title>{scheme}</title>" for scheme in ("http", "https")]

    feed.publish(*items)
    feed.publish(*items)

    assert sorted(feed.stored("title")) == [("http",), ("https",)]


def test_a_date_that_appears_later_is_taken_over(feed: WatchedFeed) -> None:
    undated, dated = "<guid>1</guid><title>One</title>", "<pubDate>Fri, 02 Jan 2026 00:00:00 GMT</pubDate>"

    feed.publish(undated)
    ((stored_at, created_at),) = feed.stored("published_at", "created_at")
    # Nobody knows how old an entry of the first fetch is (test_undated_entries).
    assert stored_at < created_at - 7 * DAY

    feed.publish(undated.replace("One", "Two"))
    assert feed.stored("published_at", "title") == [(stored_at, "Two")]

    feed.publish(undated + dated)
    assert feed.stored("published_at") == [(1767312000000000,)]

    feed.publish(undated + dated.replace("02", "03").replace("Fri", "Sat"))
    assert feed.stored("published_at") == [(1767312000000000,)]
