"""Entries without a date: on their feed's first fetch they come last, later they are as new as the fetch."""

from __future__ import annotations

from pathlib import Path

import pytest
from sqlalchemy import select

from support.people import Person
from support.polling_fixtures import PollingFixture
from support.publisher import Publisher
from tidings.base.times import DAY
from tidings.engine.database import Database
from tidings.storage.schema import entries

DATED = "<pubDate>Fri, 02 Jan 2026 00:00:00 GMT</pubDate>"
YEAR_1 = "<pubDate>Mon, 01 Jan 0001 00:00:00 GMT</pubDate>"


@pytest.fixture
def polling(database: Database, database_url: str, tmp_path: Path) -> PollingFixture:
    return PollingFixture(database, database_url, tmp_path)


def serve(site: Publisher, **items: str) -> str:
    """Serve a feed with an item for each name, with these elements."""
    found = "".join(f"<item><guid>{name}</guid><title>{name}</title>{extra}</item>" for name, extra in items.items())
    return site.serve("/feed.xml", f'<rss version="2.0"><channel><title>Feed</title>{found}</channel></rss>')


def ages(polling: PollingFixture, feed_id: int) -> dict[str, int]:
    """Return how long before it was stored each entry was published, in microseconds."""
    wanted = select(entries.c.title, entries.c.created_at - entries.c.published_at).where(entries.c.feed_id == feed_id)
    with polling.database.reading() as db:
        return dict(db.tuples(wanted))


def order(polling: PollingFixture, feed_id: int) -> list[str]:
    found = ages(polling, feed_id)
    return sorted(found, key=lambda title: found[title])


def test_undated_entries_of_a_first_fetch_come_after_dated_ones(polling: PollingFixture, site: Publisher) -> None:
    feed_id = polling.subscribe(polling.user("alice"), serve(site, A="", B=DATED, C=YEAR_1))

    polling.poll()

    found = ages(polling, feed_id)
    assert order(polling, feed_id)[0] == "B"
    assert found["A"] == found["C"] > found["B"] > 7 * DAY


def test_a_first_fetch_without_dates_is_older_than_a_week(polling: PollingFixture, site: Publisher) -> None:
    feed_id = polling.subscribe(polling.user("alice"), serve(site, A="", B=""))

    polling.poll()

    assert all(7 * DAY < age < 8 * DAY for age in ages(polling, feed_id).values())


def test_an_undated_entry_of_a_later_fetch_is_new(polling: PollingFixture, site: Publisher) -> None:
    feed_id = polling.subscribe(polling.user("alice"), serve(site, A="", B=DATED))
    polling.poll()
    polling.due_again()
    serve(site, New="", A="", B=DATED)

    polling.poll()

    assert order(polling, feed_id)[0] == "New"
    assert ages(polling, feed_id)["New"] < DAY


def test_of_a_shared_source_only_the_new_feed_dates_them_back(polling: PollingFixture, site: Publisher) -> None:
    url = serve(site, A="", B=DATED)
    old = polling.subscribe(polling.user("alice"), url)
    polling.poll()
    serve(site, New="", A="", B=DATED)
    new = polling.subscribe(polling.user("bob"), url)
    polling.due_again()

    polling.poll()

    assert ages(polling, old)["New"] < DAY
    assert ages(polling, new)["New"] > 7 * DAY


def test_a_new_subscription_has_its_undated_entries_last(alice: Person, site: Publisher) -> None:
    alice.post("/v1/feeds", {"feed_url": serve(site, A="", B=DATED, C="")})

    newest_first = alice.entries(order="published_at", direction="desc")

    assert [entry["title"] for entry in newest_first] == ["B", "A", "C"]
