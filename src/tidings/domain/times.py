"""Instants: integer microseconds since 1970 in UTC, the one form in which times are kept and compared."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import NewType

Instant = NewType("Instant", int)

SECOND = 1_000_000
MINUTE = 60 * SECOND
HOUR = 60 * MINUTE
DAY = 24 * HOUR

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
# The last microsecond of year 9999, beyond which no datetime exists.
LATEST = Instant(253_402_300_799_999_999)


def from_datetime(moment: datetime) -> Instant:
    """moment: with a zone. Exact to the microsecond, unlike `datetime.timestamp`."""
    return Instant((moment - EPOCH) // timedelta(microseconds=1))


def to_datetime(instant: Instant) -> datetime:
    """In UTC. OverflowError for an instant outside the years 1 to 9999."""
    return EPOCH + timedelta(microseconds=instant)
