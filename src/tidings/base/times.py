"""Instants: integer microseconds since 1970-01-01 UTC. All times are stored and compared in this form."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from functools import lru_cache
from typing import NewType
from zoneinfo import ZoneInfo

Instant = NewType("Instant", int)

SECOND = 1_000_000
MINUTE = 60 * SECOND
HOUR = 60 * MINUTE
DAY = 24 * HOUR

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
# The last microsecond of year 9999, beyond which no datetime exists.
LATEST = Instant(253_402_300_799_999_999)


def from_datetime(moment: datetime) -> Instant:
    """Return the instant of an aware datetime, exact to the microsecond (unlike `datetime.timestamp`)."""
    return Instant((moment - EPOCH) // timedelta(microseconds=1))


def to_datetime(instant: Instant) -> datetime:
    """Return the instant as a datetime in UTC. Raises OverflowError outside the years 1 to 9999."""
    # Positional: a keyword takes twice as long, and a list of 100 entries converts 300 times.
    return EPOCH + timedelta(0, 0, instant)


def to_local(instant: Instant, zone: ZoneInfo) -> datetime:
    """Return the instant as a datetime in the zone; in UTC if it is in the year 0 or 10000 there.

    Raises OverflowError outside the years 1 to 9999.
    """
    moment = to_datetime(instant)
    try:
        return moment.astimezone(zone)
    except OverflowError:
        return moment


def zone_info(name: str) -> ZoneInfo:
    """Return the time zone of this name in the IANA database, or UTC if the database no longer has it."""
    return find_zone(name) or ZoneInfo("UTC")


@lru_cache(maxsize=1024)
def find_zone(name: str) -> ZoneInfo | None:
    """Return the time zone of this name in the IANA database, None if there is none."""
    try:
        return ZoneInfo(name)
    except (KeyError, ValueError, OSError):
        return None
