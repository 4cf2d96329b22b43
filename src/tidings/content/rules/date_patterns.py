"""The patterns of EntryDate rules: `future`, `before:2020-01-01`, `after:…`, `between:…,…`, `max-age:30d`."""

from __future__ import annotations

import re
from contextlib import suppress
from datetime import UTC, date, datetime, time
from enum import StrEnum
from typing import Final

from msgspec import Struct

from tidings.base.messages import msg
from tidings.base.times import DAY, HOUR, MINUTE, SECOND, Instant, from_datetime
from tidings.content.errors import UnmatchableRule

_UNITS: Final = {"d": DAY, "h": HOUR, "m": MINUTE, "s": SECOND}
_AGE: Final = re.compile(r"([0-9]{1,9})([dhms])")
_DATE: Final = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}")


class DateKind(StrEnum):
    FUTURE = "future"
    BEFORE = "before"
    AFTER = "after"
    BETWEEN = "between"
    MAX_AGE = "max-age"


class DatePattern(Struct, frozen=True):
    """A compiled condition on an entry's date. Each value is set only if the kind needs it."""

    kind: DateKind
    start: int = 0
    """Midnight in UTC."""
    end: int = 0
    """Midnight in UTC."""
    age: int = 0
    """In microseconds."""

    def matches(self, moment: Instant, *, now: Instant) -> bool:
        """Return whether the date is within the limits; the limits themselves do not match."""
        match self.kind:
            case DateKind.FUTURE:
                return moment > now
            case DateKind.BEFORE:
                return moment < self.end
            case DateKind.AFTER:
                return moment > self.start
            case DateKind.BETWEEN:
                return self.start < moment < self.end
            case DateKind.MAX_AGE:
                return moment < now - self.age


def parse_date_pattern(text: str) -> DatePattern:
    """Return the pattern. Raises UnmatchableRule, without field and number, for any other form."""
    kind, _, value = text.strip().partition(":")
    match kind:
        case DateKind.FUTURE if not value:
            return DatePattern(DateKind.FUTURE)
        case DateKind.BEFORE:
            return DatePattern(DateKind.BEFORE, end=_midnight(value))
        case DateKind.AFTER:
            return DatePattern(DateKind.AFTER, start=_midnight(value))
        case DateKind.BETWEEN:
            return _between(value)
        case DateKind.MAX_AGE:
            return DatePattern(DateKind.MAX_AGE, age=_age(value))
        case _:
            raise UnmatchableRule(
                msg(
                    "A date rule is one of future, before:2020-01-01, after:2020-01-01, "
                    "between:2020-01-01,2021-01-01 and max-age:30d."
                )
            )


def _between(value: str) -> DatePattern:
    first, comma, last = value.partition(",")
    if not comma:
        raise UnmatchableRule(msg("A between rule needs two dates with a comma between them."))
    start, end = _midnight(first), _midnight(last)
    if start >= end:
        raise UnmatchableRule(msg("The first date of a between rule must be earlier than the second."))
    return DatePattern(DateKind.BETWEEN, start=start, end=end)


def _midnight(text: str) -> Instant:
    text = text.strip()
    # fromisoformat accepts more forms (20240131, 2024-W05-3) than the documentation promises.
    if _DATE.fullmatch(text):
        with suppress(ValueError):
            return from_datetime(datetime.combine(date.fromisoformat(text), time(), tzinfo=UTC))
    raise UnmatchableRule(msg("A date is written as year-month-day, for example 2024-01-31."))


def _age(text: str) -> int:
    match = _AGE.fullmatch(text.strip())
    if match is None:
        raise UnmatchableRule(msg("An age is a whole number followed by d, h, m or s, for example max-age:30d."))
    return int(match[1]) * _UNITS[match[2]]
