"""Calendar days in a user's time zone, for statistics by day."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import date, datetime, timedelta, tzinfo

from msgspec import Struct

from tidings.base.times import Instant, from_datetime, to_datetime


class DaySpan(Struct, frozen=True):
    """Consecutive days of the same length."""

    start: Instant
    length: int
    """Microseconds of one day; this is not 24 hours when clocks change."""
    count: int


class Streak(Struct, frozen=True):
    """Days in a row with a count above 0."""

    now: int
    """The streak that ends on the last day or the one before it."""
    longest: int


def days_until(now: Instant, zone: tzinfo, count: int) -> list[date]:
    """Return `count` days in order; the last one is today."""
    today = to_datetime(now).astimezone(zone).date()
    return [today - timedelta(days=back) for back in range(count - 1, -1, -1)]


def spans(days: Sequence[date], zone: tzinfo) -> list[DaySpan]:
    """Return the days grouped into as few spans as possible. days: consecutive."""
    starts = [_start(day, zone) for day in (*days, days[-1] + timedelta(days=1))]
    return list(_grouped(starts))


def streak(counts: Sequence[int]) -> Streak:
    """Return the streaks in counts by day, the last of them today. A count of 0 today does not end the streak."""
    longest = run = 0
    for count in counts:
        run = run + 1 if count else 0
        longest = max(longest, run)
    up_to_now = counts if not counts or counts[-1] else counts[:-1]
    now = next((back for back, count in enumerate(reversed(up_to_now)) if not count), len(up_to_now))
    return Streak(now, longest)


def _start(day: date, zone: tzinfo) -> Instant:
    return from_datetime(datetime(day.year, day.month, day.day, tzinfo=zone))


def _grouped(starts: Sequence[Instant]) -> Iterator[DaySpan]:
    first, count = 0, 0
    for number in range(len(starts) - 1):
        length = starts[number + 1] - starts[number]
        count += 1
        following = starts[number + 2] - starts[number + 1] if number + 2 < len(starts) else 0
        if following != length:
            yield DaySpan(starts[first], length, count)
            first, count = number + 1, 0
