"""Finds out in which order a document writes its numeric dates: `1/2/2026` is in January or in February.

The other dates of the document decide: `1/25/2026` shows that its month comes first, in every date with slashes.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import Final

from msgspec import Struct

from tidings.base.times import DAY, Instant
from tidings.content.dates.date_parts import DateParts, full_year

_NUMERIC: Final = re.compile(r"\s*(?:[^\W\d_]{2,12}\.?,? *)?(\d{1,2})([-/.])(\d{1,2})\2(\d{4}|\d\d)(?!\d)")
_TWO_DIGITS: Final = re.compile(r"\s*(\d\d)[-/.](\d\d)[-/.](\d\d)(?!\d)")


class DateOrder(Struct, frozen=True):
    """The order of the numbers in the dates of one document."""

    is_year_first: bool = False
    """Whether dates such as `06-01-02` begin with the year."""
    is_month_first: dict[str, bool] = {}
    """Whether the month is before the day, by the sign between them. Signs whose dates prove nothing are left out."""

    def with_full_year(self, text: str) -> str:
        """Return a date whose order is known as `2006-01-02` with its time of day; other texts as they are."""
        if self.is_year_first:
            match = _TWO_DIGITS.match(text)
            return f"20{match[1]}-{match[2]}-{match[3]}{text[match.end() :]}" if match else text
        match = _NUMERIC.match(text)
        if match is None or (is_month_first := self.is_month_first.get(match[2])) is None:
            return text
        parts = _parts(match, is_month_first=is_month_first)
        return f"{parts.year:04}-{parts.month:02}-{parts.day:02}{text[match.end() :]}"


def is_numeric(text: str) -> bool:
    """Return whether the date begins with three numbers, the year not the first or of two digits."""
    return _NUMERIC.match(text) is not None


def find_order(texts: Sequence[str], now: Instant | None = None) -> DateOrder | None:
    """Return what the dates of a document say about their order; None if they say nothing.

    now: the time of fetching; of two possible orders, one with dates after the next day is the wrong one.
    """
    if _has_year_first(texts):
        return DateOrder(is_year_first=True)
    by_sign: dict[str, list[re.Match[str]]] = {}
    for text in texts:
        if match := _NUMERIC.match(text):
            by_sign.setdefault(match[2], []).append(match)
    found = {sign: _is_month_first(matches, now) for sign, matches in by_sign.items()}
    known = {sign: is_first for sign, is_first in found.items() if is_first is not None}
    return DateOrder(is_month_first=known) if known else None


def _is_month_first(matches: list[re.Match[str]], now: Instant | None) -> bool | None:
    day_first = _instants(_parts(match, is_month_first=False) for match in matches)
    month_first = _instants(_parts(match, is_month_first=True) for match in matches)
    if not (day_first and month_first):
        return bool(month_first) if day_first or month_first else None
    if now is None:
        return None
    is_day_late, is_month_late = max(day_first) > now + DAY, max(month_first) > now + DAY
    return is_day_late if is_day_late != is_month_late else None


def _has_year_first(texts: Iterable[str]) -> bool:
    """Return whether dates such as `06-01-02` begin with the year.

    That is so if all of them are dates then, and closer together than with the day first.
    """
    numbers = [tuple(map(int, match.group(1, 2, 3))) for text in texts if (match := _TWO_DIGITS.match(text))]
    year_first = _instants(DateParts(2000 + a, b, c) for a, b, c in numbers)
    day_first = _instants(DateParts(2000 + c, b, a) for a, b, c in numbers)
    return bool(year_first) and (not day_first or max(year_first) - min(year_first) < max(day_first) - min(day_first))


def _parts(match: re.Match[str], *, is_month_first: bool) -> DateParts:
    first, second = int(match[1]), int(match[3])
    month, day = (first, second) if is_month_first else (second, first)
    return DateParts(full_year(match[4]), month, day)


def _instants(dates: Iterable[DateParts]) -> list[Instant]:
    """Return the instants, [] if one of the dates is impossible."""
    instants = [each.to_instant() for each in dates]
    return [] if None in instants else [each for each in instants if each is not None]
