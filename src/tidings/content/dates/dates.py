"""Parses dates: fast for RFC 822 and RFC 3339, with a slower parser for every other form."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Final

from tidings.base.times import DAY, Instant
from tidings.content.dates.date_order import DateOrder
from tidings.content.dates.date_parts import DateParts
from tidings.content.dates.date_words import MONTHS, ZONES
from tidings.content.dates.loose_dates import parse_loose_date

# RFC 822 with the four-digit year of RFC 2822; the name of the day is ignored because it is often wrong.
_RFC822: Final = re.compile(
    r"(?:[A-Za-z]{3,9},?[ ]+)?(\d{1,2})[ ]([A-Za-z]{3})[a-z]{0,6}[ ](\d{4})[ ]"
    r"(\d{1,2}):(\d\d)(?::(\d\d))?[ ]?([+-]\d{4}|[A-Z]{1,4})"
)
# RFC 3339; a blank instead of the T, and missing seconds or zones, are accepted too.
_RFC3339: Final = re.compile(
    r"(\d{4})-(\d\d)-(\d\d)(?:[Tt ](\d\d):(\d\d)(?::(\d\d)(?:[.,](\d{1,9})\d*)?)?[ ]?([Zz]|[+-]\d\d:?\d\d)?)?"
)
_MAX_CHARS: Final = 200


def parse_date(text: str, now: Instant | None = None, order: DateOrder | None = None) -> Instant | None:
    """Return the instant that a text means; None if it is not a date, or before 1970. No zone means UTC.

    now: the time of fetching; an instant more than a day later becomes `now`.
    order: what the document's other dates say about the order of day, month and year.
    """
    text = (text if order is None else order.with_full_year(text)).strip()
    if not text or len(text) > _MAX_CHARS:
        return None
    date = _parse_cached(text)
    if date is None or date < 0:
        return None
    return now if now is not None and date > now + DAY else date


# Documents repeat dates (published and updated), and the same document is parsed at every poll.
@lru_cache(maxsize=4096)
def _parse_cached(text: str) -> Instant | None:
    # Only RFC 3339 has a hyphen at this position.
    parts = _parse_rfc3339(text) if text[4:5] == "-" else _parse_rfc822(text)
    if parts is not None:
        instant = parts.to_instant()
        if instant is not None:
            return instant
    return parse_loose_date(text)


def _parse_rfc822(text: str) -> DateParts | None:
    match = _RFC822.fullmatch(text)
    if match is None:
        return None
    day, month_name, year, hour, minute, second, zone = match.groups()
    month = MONTHS.get(month_name.lower())
    if month is None or (offset := _offset_minutes(zone)) is None:
        return None
    return DateParts(int(year), month, int(day), int(hour), int(minute), int(second or 0), offset_minutes=offset)


def _parse_rfc3339(text: str) -> DateParts | None:
    match = _RFC3339.fullmatch(text)
    if match is None:
        return None
    year, month, day, hour, minute, second, fraction, zone = match.groups()
    offset = _offset_minutes(zone)
    if offset is None:
        return None
    return DateParts(
        int(year),
        int(month),
        int(day),
        int(hour or 0),
        int(minute or 0),
        int(second or 0),
        microsecond=int((fraction or "0").ljust(6, "0")[:6]),
        offset_minutes=offset,
    )


def _offset_minutes(zone: str | None) -> int | None:
    """Return minutes east of Greenwich; None for an unknown zone name."""
    if not zone:
        return 0
    if zone[0] not in "+-":
        return ZONES.get(zone.lower())
    minutes = int(zone[1:3]) * 60 + int(zone[-2:])
    return -minutes if zone[0] == "-" else minutes
