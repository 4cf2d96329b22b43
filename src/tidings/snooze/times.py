"""Until when an entry can be snoozed: a day, which begins at six in the morning where its user is, or a time."""

from __future__ import annotations

import re
from datetime import date, datetime, timedelta
from typing import Final

from tidings.base.errors import InvalidField
from tidings.base.messages import msg
from tidings.base.times import DAY, Instant, from_datetime, to_local, zone_info
from tidings.storage.entries.snoozed import MAX_DAYS

# Entries are there when their user gets up, and not in the middle of the night.
HOUR: Final = 6

_DAY = re.compile(r"\d{4}-\d\d-\d\d", re.ASCII)
_TIME = re.compile(r"\d{4}-\d\d-\d\d[Tt ]\d\d:\d\d(:\d\d(\.\d{1,6})?)?([Zz]|[+-]\d\d:\d\d)", re.ASCII)


def parse_until(text: str, zone_name: str, now: Instant) -> Instant:
    """Return the time of a day (2026-12-01) in a time zone, or of an RFC 3339 time.

    Raises InvalidInput for anything else, for the past, and for what is more than a year ahead.
    """
    until = _time_of(text, zone_name)
    if until is None:
        raise InvalidField("until", msg("send a day such as 2026-12-01, or a time such as 2026-12-01T18:00:00+01:00."))
    if until <= now:
        raise InvalidField("until", msg("this time is over; choose a later one."))
    if until > now + MAX_DAYS * DAY:
        raise InvalidField("until", msg("choose a day within a year."))
    return until


def _time_of(text: str, zone_name: str) -> Instant | None:
    try:
        if _DAY.fullmatch(text):
            return start_of(date.fromisoformat(text), zone_name)
        if _TIME.fullmatch(text):
            return from_datetime(datetime.fromisoformat(text.upper()))
    except (ValueError, OverflowError):
        return None
    return None


def start_of(day: date, zone_name: str) -> Instant:
    """Return when snoozed entries come back on a day. Raises OverflowError at the ends of the calendar."""
    return from_datetime(datetime(day.year, day.month, day.day, HOUR, tzinfo=zone_info(zone_name)))


def days_ahead(days: int, zone_name: str, now: Instant) -> date:
    """Return the day that is so many days after today in a time zone."""
    return to_local(now, zone_info(zone_name)).date() + timedelta(days=days)
