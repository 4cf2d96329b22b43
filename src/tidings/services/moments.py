"""Instants as the outside sees them: RFC 3339 in the zone of the user."""

from __future__ import annotations

from functools import lru_cache
from zoneinfo import ZoneInfo

from tidings.domain.times import Instant, to_datetime


class Zone:
    def __init__(self, name: str) -> None:
        self._info = ZoneInfo(name)
        self._is_utc = name in ("UTC", "GMT")

    def show(self, instant: Instant) -> str:
        """With `Z` or an offset, and up to six digits of a second."""
        moment = to_datetime(instant)
        if self._is_utc:
            return moment.isoformat()[:-6] + "Z"
        text = moment.astimezone(self._info).isoformat()
        return text[:-6] + "Z" if text.endswith("+00:00") else text

    def show_or_none(self, instant: Instant | None) -> str | None:
        return None if instant is None else self.show(instant)


@lru_cache(maxsize=1024)
def zone(name: str) -> Zone:
    """name: of the IANA database; UTC when it is not known any more."""
    try:
        return Zone(name)
    except (KeyError, ValueError, OSError):
        return Zone("UTC")
