"""Dates in no standard form: any order, any language, with or without a time.

text | numbers alone? | plain words | take the time and zone out | read the date from what is left
"""

from __future__ import annotations

import re
from typing import Final

from tidings.domain.formats.date_words import ZONES, month_of, plain
from tidings.domain.formats.moments import Moment
from tidings.domain.times import SECOND, Instant

# Digits of a count since 1970, and what one of it is in microseconds (below 1: nanoseconds).
_EPOCH_UNITS: Final = {9: SECOND, 10: SECOND, 11: SECOND, 12: 1000, 13: 1000, 14: 1000, 15: 1, 16: 1, 17: 1}
_NUMBER: Final = re.compile(r"(\d{4,19})(?:\.(\d{1,9}))?")

# Chinese, Japanese and Korean signs for year, month, day, hour, minute, second, morning and afternoon.
_SIGNS: Final = str.maketrans(
    {
        "年": "-", "月": "-", "日": " ", "号": " ", "년": "-", "월": "-", "일": " ",
        "時": ":", "时": ":", "點": ":", "点": ":", "시": ":", "分": ":", "분": ":", "秒": " ", "초": " ",
        "/": "/", ":": ":", "T": "t", "−": "-", "–": "-", "\xa0": " ",
    }
)  # fmt: skip
_HALVES: Final = re.compile(r"([上下])午|午([前後])|(오전|오후)")

_CLOCK: Final = re.compile(
    r"(?<![\d+-])(\d{1,2}) ?[:h] ?(\d{1,2})(?: ?[:m] ?(\d{1,2})(?:[.,:](\d{1,9}))?)?(?!\d)s?[: ]*"
    r"|(?<=\d\d\d\d\d\d\d\d[t ])(\d\d)(\d\d)(\d\d)?(?!\d)"
    r"|(?<![\d.])(\d{1,2}) ?(?=[ap]\.?m\b)"
)
_HALF_AFTER: Final = re.compile(r" ?([ap])\.?m\b\.?")
_HALF_BEFORE: Final = re.compile(r"\b([ap])m *$")
_ZONE: Final = re.compile(r"[ (,]*(?:(?:gmt|utc|ut)? ?([+-])(\d{1,2}):?(\d\d)?(?!\d)|([a-z]{1,5})\b(?!/))")

_NUMERIC_DATE: Final = re.compile(r"(?<!\d)(\d{1,4}) ?[-/., ] ?(\d{1,2}) ?[-/., ] ?(\d{1,4})(?!\d)")
_COMPACT_DATE: Final = re.compile(r"(?<!\d)(\d{4})(\d\d)(\d\d)(?!\d)")
_DAY_OF_YEAR: Final = re.compile(r"(\d{4})-?(\d{3})")
_YEAR_MONTH: Final = re.compile(r"(\d{4})[-/](\d{1,2})-?")
_WORD: Final = re.compile(r"[^\W\d_]{3,}")
_DIGITS: Final = re.compile(r"\d+")


def read_loosely(text: str) -> Instant | None:
    """The instant, None when no date can be made out. Also before 1970; without a zone, UTC."""
    if number := _NUMBER.fullmatch(text):
        return _from_number(number[1], number[2] or "")
    words = _HALVES.sub(_half_of_day, text).translate(_SIGNS)
    words = plain(words).strip()
    if words.startswith("-"):
        # A year before Christ.
        return None
    clock, rest = _take_clock(words)
    day = _date(rest)
    if day is None or clock is None:
        return None
    year, month, day_of_month = day
    hour, minute, second, microsecond, offset = clock
    return Moment(year, month, day_of_month, hour, minute, second, microsecond, offset).instant()


def _from_number(digits: str, fraction: str) -> Instant | None:
    """A year, a date or date and time without separators, or a count since 1970 in s, ms, µs or ns."""
    if len(digits) == 4:
        return Moment(int(digits), 1, 1).instant()
    if len(digits) in (8, 12, 14) and digits.startswith(("19", "20")):
        parts = [int(digits[:4]), *(int(digits[at : at + 2]) for at in range(4, len(digits), 2))]
        if (instant := Moment(*parts).instant()) is not None:
            return instant
    if len(digits) >= 18:
        return Instant(int(digits) // 1000)
    unit = _EPOCH_UNITS.get(len(digits))
    if unit is None:
        return None
    below = int(fraction.ljust(6, "0")[:6]) if fraction and unit == SECOND else 0
    return Instant(int(digits) * unit + below)


def _half_of_day(found: re.Match[str]) -> str:
    return " am " if found[0] in ("上午", "午前", "오전") else " pm "


# Hour, minute, second, microsecond, minutes east of Greenwich.
_Clock = tuple[int, int, int, int, int]


def _take_clock(words: str) -> tuple[_Clock | None, str]:
    """The time of day and the text without it; None for a time that cannot be."""
    found = _CLOCK.search(words)
    if found is None:
        return (0, 0, 0, 0, 0), words
    numbers = [
        int(each or 0) for each in (found[1] or found[5] or found[8], found[2] or found[6], found[3] or found[7])
    ]
    hour, minute, second = numbers
    microsecond = int((found[4] or "0").ljust(6, "0")[:6])
    before, end = words[: found.start()], found.end()
    half = _HALF_AFTER.match(words, end)
    if half:
        end = half.end()
    elif half := _HALF_BEFORE.search(before):
        before = before[: half.start()]
    offset, end = _take_zone(words, end)
    if half:
        hour = _on_24_hours(hour, half[1])
    rest = f"{before} {words[end:]}"
    return (None if offset is None else (hour, minute, second, microsecond, offset)), rest


def _on_24_hours(hour: int, half: str) -> int:
    if half == "p":
        return hour + 12 if hour < 12 else hour
    return 0 if hour == 12 else hour


def _take_zone(words: str, start: int) -> tuple[int | None, int]:
    """Minutes east of Greenwich (an unknown name: 0; an impossible number: None) and where the zone ends."""
    found = _ZONE.match(words, start)
    if found is None:
        return 0, start
    if name := found[4]:
        if name not in ZONES and month_of(name):
            return 0, start
        # "EST-0500" and the like: the number is exact, the name a comment.
        number = _ZONE.match(words, found.end())
        if number is None or number[4]:
            return ZONES.get(name, 0), found.end()
        found = number
    minutes = int(found[2]) * 60 + int(found[3] or 0)
    if minutes > 14 * 60:
        return None, found.end()
    return (-minutes if found[1] == "-" else minutes), found.end()


def _date(words: str) -> tuple[int, int, int] | None:
    """Year, month, day."""
    for word in reversed(_WORD.findall(words)):
        # The last one: "mar. 3 janv." is a Tuesday (mardi) in January.
        if month := month_of(word):
            return _around_month(month, _DIGITS.findall(words))
    if found := _NUMERIC_DATE.search(words):
        return _numeric(found[1], int(found[2]), found[3])
    if found := _COMPACT_DATE.search(words):
        return int(found[1]), int(found[2]), int(found[3])
    if found := _YEAR_MONTH.fullmatch(words.strip(" t")):
        return int(found[1]), int(found[2]), 1
    return None


def _around_month(month: int, numbers: list[str]) -> tuple[int, int, int] | None:
    """The day and year beside a month's name, in either order; a year alone means the first day."""
    numbers = [each for each in numbers if len(each) <= 4][:2]
    if not numbers:
        return None
    if len(numbers) == 1:
        return (int(numbers[0]), month, 1) if len(numbers[0]) == 4 else None
    day, year = numbers
    if len(day) > 2:
        day, year = year, day
    return _full_year(year), month, int(day)


def _numeric(first: str, month: int, last: str) -> tuple[int, int, int]:
    """Year first if the first is long, else day first as in most of the world; month first if it must be."""
    if len(first) > 2:
        return int(first), month, int(last)
    day = int(first)
    if month > 12 >= day:
        day, month = month, day
    return _full_year(last), month, day


def _full_year(digits: str) -> int:
    """Two digits mean 1969 to 2068, as POSIX has it."""
    year = int(digits)
    if len(digits) > 2:
        return year
    return year + (2000 if year < 69 else 1900)
