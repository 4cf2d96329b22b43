"""The clock, which tests replace, and instants as API responses and events show them.

That is RFC 3339 in the time zone of the user.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from datetime import timedelta
from functools import lru_cache
from typing import Final
from zoneinfo import ZoneInfo

from tidings.base.times import EPOCH, Instant, to_local, zone_info

Clock = Callable[[], Instant]


def system_clock() -> Instant:
    """Return the current time in microseconds since 1970, UTC."""
    return Instant(time.time_ns() // 1000)


_EPOCH_WITHOUT_ZONE: Final = EPOCH.replace(tzinfo=None)


class TimeZone:
    def __init__(self, name: str) -> None:
        self._info = zone_info(name)

    def format(self, instant: Instant) -> str:
        """Return the instant with `Z` or an offset, and up to six decimal places of a second."""
        return _format(instant, self._info)

    def format_optional(self, instant: Instant | None) -> str | None:
        return None if instant is None else self.format(instant)


# Entries that were stored or marked together have the same times, of which a list shows three for each.
@lru_cache(maxsize=2_048)
def _format(instant: Instant, zone: ZoneInfo) -> str:
    if zone.key in ("UTC", "GMT"):
        return _format_utc(instant)
    text = to_local(instant, zone).isoformat()
    if text.endswith("+00:00"):
        return text[:-6] + "Z"
    # Many zones had an offset with seconds before they had a standard time; RFC 3339 has no such offset.
    return text if text[-6] in "+-" else _format_utc(instant)


def _format_utc(instant: Instant) -> str:
    # Half the time of an aware datetime, whose offset would be replaced.
    return (_EPOCH_WITHOUT_ZONE + timedelta(0, 0, instant)).isoformat() + "Z"


@lru_cache(maxsize=1024)
def time_zone(name: str) -> TimeZone:
    """Return the time zone with this name of the IANA database; UTC if the name is unknown."""
    return TimeZone(name)
