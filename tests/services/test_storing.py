"""Writing what documents bring: what was looked up before counts only as far as it is still so."""

from __future__ import annotations

from pathlib import Path

import pytest
from sqlalchemy import select

from support.house import House
from support.publisher import Publisher
from support.shelf import NOW, Shelf, ready
from tidings.domain.feeds import Feed
from tidings.domain.ingestion import ReadyEntry
from tidings.domain.scheduling import Schedule
from tidings.domain.sources import Claim
from tidings.net.fetch import FetchResponse
from tidings.services.answers import Answer
from tidings.services.intake import Brought, Selection
from tidings.services.rounds import Round
from tidings.services.storing import store
from tidings.services.timing import Timing
from tidings.storage import feeds, users
from tidings.storage.database import Database
from tidings.storage.schema import entries, feed_counters


@pytest.fixture
def shelf(database: Database) -> Shelf:
    return Shelf.of_somebody(database)


def feed_of(database: Database, user_id: int, feed_id: int) -> Feed:
    with database.reading() as db:
        found = feeds.get(db, user_id, feed_id)
    assert found is not None
    return found


def test_what_another_check_stored_since_it_was_looked_for_is_not_stored_again(shelf: Shelf) -> None:
    database = shelf.database
    with database.reading() as db:
        owner = users.get(db, shelf.user_id)
    assert owner is not None
    feed = feed_of(database, shelf.user_id, shelf.feed_id)
    rain, wind, snow = (ready(title) for title in ("Rain", "Wind", "Snow"))

    def bring(*new: ReadyEntry) -> tuple[int, ...]:
        with database.writing() as db:
            (stored,) = store(db, [Brought(owner, feed, Selection(list(new), []), {}, NOW)])
        return stored.new_ids

    # Both looked before either wrote.
    first, second = bring(rain, wind), bring(wind, snow)

    assert (len(first), len(second)) == (2, 1)
    with database.reading() as db:
        assert db.scalars(select(entries.c.title).order_by(entries.c.id)) == ["Rain", "Wind", "Snow"]
        assert db.scalars(select(feed_counters.c.unread)) == [3]


def test_two_answers_for_one_feed_are_taken_in_one_after_the_other(
    database: Database, database_url: str, tmp_path: Path, site: Publisher
) -> None:
    house = House(database, database_url, tmp_path)
    user = house.user("alice")
    feed = feed_of(database, user.id, house.subscribe(user, site.url("/feed.xml")))

    def answer(title: str) -> Answer:
        body = f"<rss version='2.0'><channel><item><title>{title}</title><guid>{title}</guid></item></channel></rss>"
        response = FetchResponse(status=200, url=feed.feed_url, body=body.encode())
        return Answer(Round(Claim(0, [feed]), None, NOW, Timing.draw(Schedule())), [feed], response, {})

    both = [answer("Rain"), answer("Wind")]
    house.services.polling._checking._answers._take_all(both)

    assert house.titles(feed.id) == ["Rain", "Wind"]
    assert [len(one.round.stored[feed.id].new_ids) for one in both] == [1, 1]
