"""Days as somebody lives them, and what can be told of a row of them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import date, datetime, timedelta, tzinfo

from msgspec import Struct

from tidings.domain.times import Instant, from_datetime, to_datetime


class Span(Struct, frozen=True):
    """Days of the same length, one after another. length: in microseconds, other than 24 hours when clocks change."""

    start: Instant
    length: int
    count: int


class Streak(Struct, frozen=True):
    """Days in a row on which there was something. now: up to the last day, or to the one before it."""

    now: int
    longest: int


def days_until(now: Instant, zone: tzinfo, count: int) -> list[date]:
    """So many of them; the last one is today."""
    today = to_datetime(now).astimezone(zone).date()
    return [today - timedelta(days=back) for back in range(count - 1, -1, -1)]


def spans(days: Sequence[date], zone: tzinfo) -> list[Span]:
    """The same days as few spans. days: one after another."""
    starts = [_start(day, zone) for day in (*days, days[-1] + timedelta(days=1))]
    return list(_joined(starts))


def streak(counts: Sequence[int]) -> Streak:
    """A day is not lost before it is over: today counts when there was something, and does no harm when not."""
    longest = run = 0
    for count in counts:
        run = run + 1 if count else 0
        longest = max(longest, run)
    up_to_now = counts if not counts or counts[-1] else counts[:-1]
    now = next((back for back, count in enumerate(reversed(up_to_now)) if not count), len(up_to_now))
    return Streak(now, longest)


def _start(day: date, zone: tzinfo) -> Instant:
    return from_datetime(datetime(day.year, day.month, day.day, tzinfo=zone))


def _joined(starts: Sequence[Instant]) -> Iterator[Span]:
    begun, count = 0, 0
    for number in range(len(starts) - 1):
        length = starts[number + 1] - starts[number]
        count += 1
        following = starts[number + 2] - starts[number + 1] if number + 2 < len(starts) else 0
        if following != length:
            yield Span(starts[begun], length, count)
            begun, count = number + 1, 0
