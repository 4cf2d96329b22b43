"""The parts of a date before it becomes an instant."""

from __future__ import annotations

from datetime import date

from msgspec import Struct

from tidings.base.times import DAY, HOUR, MINUTE, SECOND, Instant

_EPOCH_DAY = date(1970, 1, 1).toordinal()
# Time zones range from -12:00 to +14:00; other offsets are errors of the publisher.
_MAX_OFFSET_MINUTES = 14 * 60


def full_year(digits: str) -> int:
    """Return the four-digit year; two digits mean 1969 to 2068, as in POSIX."""
    year = int(digits)
    if len(digits) > 2:
        return year
    return year + (2000 if year < 69 else 1900)


class DateParts(Struct, frozen=True):
    """A local date and time as a text gives it, before it is converted to an instant."""

    year: int
    month: int
    day: int
    hour: int = 0
    minute: int = 0
    second: int = 0
    microsecond: int = 0
    offset_minutes: int = 0
    """The local time's offset from UTC, positive east of Greenwich."""

    def to_instant(self) -> Instant | None:
        """Return the instant; None for an impossible date or time. 24:00 is the end of the day.

        An impossible offset counts as UTC: the day is right then, and the time of fetching would be further off.
        """
        is_midnight = self.hour == 24 and self.minute == 0 and self.second == 0
        if not (0 <= self.hour <= 23 or is_midnight) or not 0 <= self.minute <= 59 or not 0 <= self.second <= 60:
            return None
        offset_minutes = self.offset_minutes if abs(self.offset_minutes) <= _MAX_OFFSET_MINUTES else 0
        try:
            days = date(self.year, self.month, self.day).toordinal() - _EPOCH_DAY
        except (ValueError, OverflowError):
            return None
        return Instant(
            days * DAY
            + self.hour * HOUR
            + (self.minute - offset_minutes) * MINUTE
            + self.second * SECOND
            + self.microsecond
        )
