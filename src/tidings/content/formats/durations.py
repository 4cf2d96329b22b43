"""How long an episode plays."""

from __future__ import annotations

import re
from typing import Final

# The longest recordings last some days. What is longer is another number, such as milliseconds.
_MAX_HOURS: Final = 100

_CLOCK: Final = re.compile(r"(?:(?:(\d{1,9}):)?(\d{1,9}):)?(\d{1,9})(?:[.,]\d*)?", re.ASCII)
# ISO 8601 (PT1H2M3S), and the same in words (1h 2 min).
_UNITS: Final = re.compile(
    r"(?:p\s*(?:(?P<days>\d{1,9})d)?\s*t?)?\s*"
    r"(?:(?P<hours>\d{1,9}(?:[.,]\d{1,9})?)\s*h(?:(?:ou)?rs?)?\b\.?[\s,]*)?"
    r"(?:(?P<minutes>\d{1,9}(?:[.,]\d{1,9})?)\s*m(?:in(?:ute)?s?)?\b\.?[\s,]*)?"
    r"(?:(?P<seconds>\d{1,9})(?:[.,]\d{0,9})?\s*s(?:ec(?:ond)?s?)?\b\.?)?",
    re.ASCII | re.IGNORECASE,
)
_MAX_CHARS: Final = 60


def parse_duration_minutes(written: str) -> int:
    """Return the whole minutes of a duration; 0 if it is unknown.

    written: seconds, minutes and seconds, or hours, minutes and seconds, separated by colons, the seconds with or
    without a fraction; or an ISO 8601 duration.
    """
    written = written.strip()
    if not written or len(written) > _MAX_CHARS:
        return 0
    if match := _CLOCK.fullmatch(written):
        return duration_minutes(int(match[1] or 0) * 3600 + int(match[2] or 0) * 60 + int(match[3]))
    if match := _UNITS.fullmatch(_spaced(written)):
        days, hours, minutes, seconds = (float((each or "0").replace(",", ".")) for each in match.groups())
        return duration_minutes(int(days * 86400 + hours * 3600 + minutes * 60 + seconds))
    return 0


def duration_minutes(seconds: int) -> int:
    """Return the whole minutes of a number of seconds; 0 for a number that is too large for a recording."""
    return seconds // 60 if 0 <= seconds <= _MAX_HOURS * 3600 else 0


def _spaced(written: str) -> str:
    """Return `1h2m` as `1h 2m`: then every unit is a word of its own."""
    return re.sub(r"(?<=[a-z])(?=\d)", " ", written, flags=re.IGNORECASE)
