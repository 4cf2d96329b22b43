"""The health of feeds as the database derives it from their columns and entries, and lists of feeds sorted by it."""

from __future__ import annotations

from typing import Any

import pytest
from sqlalchemy import update

from support.entry_fixtures import NOW, FeedFixture, ready
from tidings.base.times import DAY, SECOND, Instant
from tidings.domain.feeds.health import FeedHealth, FeedOrder
from tidings.engine.database import Database
from tidings.storage.feeds import health
from tidings.storage.schema import feeds as feed_rows

LONG_AGO = Instant(NOW - 200 * DAY)
# Of a feed that was fetched an hour ago, and has published every hour until yesterday.
WELL: dict[str, Any] = {
    "created_at": Instant(NOW - 400 * DAY),
    "checked_at": Instant(NOW - 3_600 * SECOND),
    "body_digest": b"digest",
    "news_gap_s": 3_600,
    "took_ms": 300,
}


@pytest.fixture
def feed(database: Database) -> FeedFixture:
    return FeedFixture.create(database)


def set_values(feed: FeedFixture, **values: Any) -> None:
    with feed.database.writing() as db:
        db.run(update(feed_rows).where(feed_rows.c.id == feed.feed_id).values(**values))


def sorted_ids(feed: FeedFixture, order: FeedOrder = FeedOrder.CARE) -> list[int]:
    with feed.database.reading() as db:
        return [summary.id for summary in health.list_summaries(db, feed.user_id, order, NOW)]


@pytest.mark.parametrize(
    ("values", "last_entry_at", "expected"),
    [
        ({}, NOW - DAY, FeedHealth.FINE),
        ({"took_ms": 0}, NOW - DAY, FeedHealth.FINE),
        ({"took_ms": 4_999}, NOW - DAY, FeedHealth.FINE),
        ({"took_ms": 5_000}, NOW - DAY, FeedHealth.SLOW),
        ({"took_ms": 5_000, "news_gap_s": 40 * 86_400}, NOW - DAY, FeedHealth.SLOW),
        ({"took_ms": 5_000}, LONG_AGO, FeedHealth.SILENT),
        ({"took_ms": 5_000, "parsing_error_count": 1}, LONG_AGO, FeedHealth.FAILING),
        ({"news_gap_s": 40 * 86_400}, NOW - DAY, FeedHealth.RARE),
        ({"parsing_error_count": 20, "failed_checks": 13}, NOW - DAY, FeedHealth.FAILING),
        ({"parsing_error_count": 20, "failed_checks": 14}, NOW - DAY, FeedHealth.DEAD),
        ({"failed_checks": 20}, NOW - DAY, FeedHealth.FINE),
        ({"disabled": True}, NOW - DAY, FeedHealth.OFF),
        ({"disabled": True, "parsing_error_count": 1}, NOW - DAY, FeedHealth.DEAD),
        ({"moved_to": "https://example.net/"}, LONG_AGO, FeedHealth.MOVED),
        ({"body_digest": None, "news_gap_s": 0, "checked_at": WELL["created_at"]}, None, FeedHealth.WAITING),
        (
            {"body_digest": None, "news_gap_s": 0, "checked_at": WELL["created_at"], "failed_checks": 1},
            None,
            FeedHealth.SILENT,
        ),
        ({}, None, FeedHealth.SILENT),
        ({"created_at": NOW}, None, FeedHealth.FINE),
        # An entry dated in the future is no sign of life.
        ({}, NOW + DAY, FeedHealth.SILENT),
    ],
    ids=str,
)
def test_a_feed_has_the_first_state_that_applies(
    feed: FeedFixture, values: dict[str, Any], last_entry_at: int | None, expected: FeedHealth
) -> None:
    if last_entry_at is not None:
        feed.add(ready("Rain", published_at=Instant(last_entry_at)))
    set_values(feed, **WELL | values)

    with feed.database.reading() as db:
        (summary,) = health.list_summaries(db, feed.user_id, FeedOrder.CARE, NOW)
        shown = health.get(db, feed.user_id, feed.feed_id, NOW)

    assert summary.health is expected
    assert shown is not None
    assert shown.health is expected


def test_feeds_are_sorted(feed: FeedFixture) -> None:
    second, third = feed.another_feed(), feed.another_feed()
    feed.add(ready("Old", published_at=Instant(NOW - 3 * DAY)), ready("Unread", published_at=Instant(NOW - 4 * DAY)))
    second.add(ready("New", published_at=Instant(NOW - DAY)))
    set_values(feed, **WELL, title_key="b", next_check_at=7)
    set_values(second, **WELL | {"took_ms": 6_000}, title_key="c", next_check_at=8)
    set_values(third, **WELL | {"took_ms": 200}, title_key="a", next_check_at=6, disabled=True)
    first_id, second_id, third_id = feed.feed_id, second.feed_id, third.feed_id

    assert sorted_ids(feed, FeedOrder.CARE) == [second_id, third_id, first_id]
    assert sorted_ids(feed, FeedOrder.TITLE) == [third_id, first_id, second_id]
    assert sorted_ids(feed, FeedOrder.NEWEST) == [second_id, first_id, third_id]
    assert sorted_ids(feed, FeedOrder.OLDEST) == [third_id, first_id, second_id]
    assert sorted_ids(feed, FeedOrder.SLOWEST) == [second_id, first_id, third_id]
    assert sorted_ids(feed, FeedOrder.NEXT) == [first_id, second_id, third_id]
    assert sorted_ids(feed, FeedOrder.UNREAD) == [first_id, second_id, third_id]


def test_feeds_of_others_are_not_shown(feed: FeedFixture, database: Database) -> None:
    other = FeedFixture.create(database)
    second = feed.another_feed()
    wanted = [second.feed_id, other.feed_id, feed.feed_id]

    with database.reading() as db:
        shown = health.get_many(db, feed.user_id, wanted, NOW)
        assert health.get(db, feed.user_id, other.feed_id, NOW) is None

    assert [one.id for one in shown] == [second.feed_id, feed.feed_id]
    assert sorted_ids(other) == [other.feed_id]
