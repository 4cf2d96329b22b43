"""What a user's feeds published and the user read, by day in their time zone. Counted on each request."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import date
from typing import TypeVar

from msgspec import Struct

from tidings.base.times import Instant, zone_info
from tidings.domain.accounts.users import User
from tidings.domain.entries import calendar
from tidings.domain.entries.calendar import DaySpan, Streak
from tidings.engine.database import Read
from tidings.storage.entries import statistics
from tidings.storage.feeds import sidebar
from tidings.storage.feeds.sidebar import SidebarFeed

# A year.
READ_DAYS = 365
PUBLISHED_DAYS = 90
MAX_LISTED_FEEDS = 10

T = TypeVar("T")


class ReadingStatistics(Struct, frozen=True):
    """Entries by day, the oldest day first and today last."""

    days: list[date]
    read: list[int]
    """Read entries on each of the days. With those marked in bulk, at most `statistics.MAX_READ` are counted."""
    marked: list[int]
    """Entries that were marked as read in bulk."""
    published: list[int]
    """Published entries on each of the last PUBLISHED_DAYS; at most `statistics.MAX_PUBLISHED` are counted."""
    streak: Streak
    feeds: list[SidebarFeed]
    """Those with the most read entries."""

    @property
    def published_days(self) -> list[date]:
        return self.days[-len(self.published) :]


def of_user(db: Read, user: User, now: Instant) -> ReadingStatistics:
    here = zone_info(user.timezone)
    days = calendar.days_until(now, here, READ_DAYS)
    counted = _counts(db, user.id, statistics.read, calendar.spans(days, here))
    read = [number for number, _marked in counted]
    return ReadingStatistics(
        days,
        read,
        [marked for _read, marked in counted],
        _counts(db, user.id, statistics.published, calendar.spans(days[-PUBLISHED_DAYS:], here)),
        calendar.streak(read),
        sidebar.most_read(db, user.id, MAX_LISTED_FEEDS),
    )


def _counts(
    db: Read, user_id: int, count: Callable[[Read, int, Instant, int, int], list[T]], spans: Sequence[DaySpan]
) -> list[T]:
    return [number for span in spans for number in count(db, user_id, span.start, span.length, span.count)]
