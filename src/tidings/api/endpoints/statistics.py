"""The endpoint for statistics."""

from __future__ import annotations

from typing import Annotated

from msgspec import Meta, Struct

from tidings.domain.accounts.users import User
from tidings.http.endpoints import Routes
from tidings.services import Services
from tidings.services.entries import statistics

routes = Routes("Statistics")

Date = Annotated[str, Meta(extra_json_schema={"format": "date"})]


class DayOut(Struct, frozen=True):
    """read: entries of which the last change on this day was that they were read. marked: those of which more than 20
    became read at one moment, as when a list is marked; they are not in `read`. At most 500 of both are counted.

    published: at most 2000 are counted; null for days that are more than 90 days ago.
    """

    date: Date
    read: int
    marked: int
    published: int | None


class ReadFeedOut(Struct, frozen=True):
    """A feed with its read entries that are still stored."""

    id: int
    title: str
    read: int
    unread: int


class StatisticsOut(Struct, frozen=True):
    """days: of a year in the time zone of the user, the oldest first and today last.

    streak: days in a row with a read entry, up to today or yesterday. longest_streak: within these days.
    most_read_feeds: at most ten.
    """

    streak: int
    longest_streak: int
    days: list[DayOut]
    most_read_feeds: list[ReadFeedOut]


@routes.get("/v1/statistics")
def get_statistics(caller: User, services: Services) -> StatisticsOut:
    """Get how much your feeds published and how much you have read, by day."""
    with services.reading() as db:
        found = statistics.of_user(db, caller, services.clock())
    unknown = [None] * (len(found.days) - len(found.published))
    days = zip(found.days, found.read, found.marked, [*unknown, *found.published], strict=True)
    return StatisticsOut(
        found.streak.now,
        found.streak.longest,
        [DayOut(day.isoformat(), read, marked, published) for day, read, marked, published in days],
        [ReadFeedOut(feed.id, feed.title, feed.read, feed.unread) for feed in found.feeds],
    )
