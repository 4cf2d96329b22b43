"""Dates as feeds write them: a quick way for the two standard forms, a patient one for everything else."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Final

from tidings.domain.formats.date_words import MONTHS, ZONES
from tidings.domain.formats.loose_dates import read_loosely
from tidings.domain.formats.moments import Moment
from tidings.domain.times import DAY, Instant

# RFC 822 with the four-digit year of RFC 2822; the name of the day, often wrong, is not looked at.
_RFC822: Final = re.compile(
    r"(?:[A-Za-z]{3,9},?[ ]+)?(\d{1,2})[ ]([A-Za-z]{3})[a-z]{0,6}[ ](\d{4})[ ]"
    r"(\d{1,2}):(\d\d)(?::(\d\d))?[ ]?([+-]\d{4}|[A-Z]{1,4})"
)
# RFC 3339, also with a blank for the T, without seconds or without a zone.
_RFC3339: Final = re.compile(
    r"(\d{4})-(\d\d)-(\d\d)(?:[Tt ](\d\d):(\d\d)(?::(\d\d)(?:[.,](\d{1,9})\d*)?)?[ ]?([Zz]|[+-]\d\d:?\d\d)?)?"
)
_TOO_LONG: Final = 200


def read(text: str, now: Instant | None = None) -> Instant | None:
    """The instant a text means, None when it means none or one before 1970.

    now: the time of fetching; an instant more than a day later is taken for `now`. Without a zone, UTC.
    """
    text = text.strip()
    if not text or len(text) > _TOO_LONG:
        return None
    found = _read(text)
    if found is None or found < 0:
        return None
    return now if now is not None and found > now + DAY else found


# Documents repeat dates (published and updated), and the same document comes again and again.
@lru_cache(maxsize=4096)
def _read(text: str) -> Instant | None:
    # Only the one form has a hyphen there.
    moment = _rfc3339(text) if text[4:5] == "-" else _rfc822(text)
    if moment is not None:
        instant = moment.instant()
        if instant is not None:
            return instant
    return read_loosely(text)


def _rfc822(text: str) -> Moment | None:
    found = _RFC822.fullmatch(text)
    if found is None:
        return None
    day, month_name, year, hour, minute, second, zone = found.groups()
    month = MONTHS.get(month_name.lower())
    if month is None or (offset := _offset(zone)) is None:
        return None
    return Moment(int(year), month, int(day), int(hour), int(minute), int(second or 0), offset_minutes=offset)


def _rfc3339(text: str) -> Moment | None:
    found = _RFC3339.fullmatch(text)
    if found is None:
        return None
    year, month, day, hour, minute, second, fraction, zone = found.groups()
    offset = _offset(zone)
    if offset is None:
        return None
    return Moment(
        int(year),
        int(month),
        int(day),
        int(hour or 0),
        int(minute or 0),
        int(second or 0),
        microsecond=int((fraction or "0").ljust(6, "0")[:6]),
        offset_minutes=offset,
    )


def _offset(zone: str | None) -> int | None:
    """Minutes east of Greenwich; None for a name not in the table."""
    if not zone:
        return 0
    if zone[0] not in "+-":
        return ZONES.get(zone.lower())
    minutes = int(zone[1:3]) * 60 + int(zone[-2:])
    return -minutes if zone[0] == "-" else minutes
