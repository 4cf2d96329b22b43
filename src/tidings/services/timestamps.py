"""Instants as the outside sees them: RFC 3339 in the zone of the user."""

from __future__ import annotations

from functools import lru_cache

from tidings.domain.times import Instant, to_datetime, zone_info


class TimeZone:
    def __init__(self, name: str) -> None:
        self._info = zone_info(name)
        self._is_utc = self._info.key in ("UTC", "GMT")

    def format(self, instant: Instant) -> str:
        """With `Z` or an offset, and up to six digits of a second."""
        moment = to_datetime(instant)
        if self._is_utc:
            return moment.isoformat()[:-6] + "Z"
        text = moment.astimezone(self._info).isoformat()
        return text[:-6] + "Z" if text.endswith("+00:00") else text

    def format_optional(self, instant: Instant | None) -> str | None:
        return None if instant is None else self.format(instant)


@lru_cache(maxsize=1024)
def time_zone(name: str) -> TimeZone:
    """name: of the IANA database; UTC when it is not known any more."""
    return TimeZone(name)
