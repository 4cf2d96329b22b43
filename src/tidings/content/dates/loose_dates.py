"""Parses dates in no standard form: any order, any language, with or without a time.

text | number only? | extract an IANA zone | normalize words | extract time and zone | parse the date from the rest
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import date, datetime, timedelta
from typing import Final
from zoneinfo import ZoneInfo

from msgspec import Struct

from tidings.base.times import MINUTE, SECOND, Instant, find_zone
from tidings.content.dates.date_parts import DateParts, full_year
from tidings.content.dates.date_words import VIETNAMESE_NUMBERS, ZONES, month_of, normalize_word

# A count since 1970: its number of digits, and the microseconds of one unit.
_EPOCH_UNITS: Final = {9: SECOND, 10: SECOND, 11: SECOND, 12: 1000, 13: 1000, 14: 1000, 15: 1, 16: 1, 17: 1}
_NUMBER: Final = re.compile(r"(\d{4,19})(?:\.(\d{1,9}))?")

# Chinese, Japanese and Korean signs for year, month, day, hour, minute, second, morning and afternoon.
_SIGNS: Final = str.maketrans(
    {
        "年": "-", "月": "-", "日": " ", "号": " ", "년": "-", "월": "-", "일": " ",
        "時": ":", "时": ":", "點": ":", "点": ":", "시": ":", "分": ":", "분": ":", "秒": " ", "초": " ",
        "/": "/", ":": ":", "T": "t", "−": "-", "–": "-", "—": "-", "\xa0": " ",
    }
)  # fmt: skip
_HALF_OF_DAY: Final = re.compile(r"([上下])午|午([前後])|(오전|오후)")

_TIME: Final = re.compile(
    r"(?<![\d+-])(\d{1,2}) ?[:h] ?(\d{1,2})(?: ?[:m] ?(\d{1,2})(?:[.,:](\d{1,9}))?)?(?!\d)s?[: ]*"
    r"|(?<=\d\d\d\d\d\d\d\d[t ])(\d\d)(\d\d)(\d\d)?(?!\d)"
    r"|(?<![\d.])(\d{1,2}) ?(?=[ap]\.?m\b)"
)
# Dots in the time, as in German, Danish, Finnish, Italian and Indonesian; it may be a part of the date as well.
_DOTTED_TIME: Final = re.compile(r"(?<![\d.])([01]?\d|2[0-3])\.([0-5]\d)(?:\.([0-5]\d))?(?![\d.]|,\d)")
_HOUR: Final = re.compile(r"\bkl(?:o|\.)? ?(\d{1,2})\b(?![.:]\d)|(?<![\d.])(\d{1,2}) ?(?:uhr|hrs|h)\b")
_NOON: Final = re.compile(r"\b(?:12(?:[:.]00)? ?)?(noon|midday|midnight)\b")
_HALF_AFTER: Final = re.compile(r" ?([ap])\.? ?m\b\.?")
_HALF_BEFORE: Final = re.compile(r"\b([ap])m *$")
_HOURS_WORD: Final = re.compile(r" ?(?:uhr|hrs|h)\b\.?")
_MARKS: Final = r"""(?:[ (,;|/\[·"']|\.(?!\d)|-(?=[ a-z]))*"""
_ZONE: Final = re.compile(
    _MARKS + r"(?:(?:gmt|utc|ut)? ?([+-])(\d{1,2}):?(\d\d)?(?!\d)|([a-z]{1,5})\b(?!/))"
    r"|[ (,]*([+-]) (0\d|1[0-4]):?([0-5]\d)(?![\d./-])"
)
# A zone of the IANA database: a region and a place, or a name of POSIX such as PST8PDT.
_PLACE: Final = re.compile(r"[ (\[]*\b([A-Za-z][A-Za-z_]+(?:/[A-Za-z][\w+-]+)+|[A-Z]{3}\d[A-Z]{3})\b[)\]]*")
# The form of the United States: slashes, and AM or PM in capitals.
_AMERICAN: Final = re.compile(r"\D*(\d{1,2}/)(\d{1,2}/)\d{2,4},?\s+\d{1,2}:\d\d(?::\d\d)?\s?[AP]M\b")

_NUMERIC_DATE: Final = re.compile(r"(?<!\d)(\d{1,4}) ?[-/., ] ?(\d{1,2}) ?[-/., ] ?(\d{1,4})(?!\d)")
_COMPACT_DATE: Final = re.compile(r"(?<!\d)(\d{4})(\d\d)(\d\d)(?!\d)")
# ISO 8601: a week and its day, a day of the year.
_WEEK_DATE: Final = re.compile(r"(\d{4})-?w(\d\d)(?:-?([1-7]))?(?![\w-])")
_ORDINAL_DATE: Final = re.compile(r"(\d{4})-(\d{3})(?!\d)")
_VIETNAMESE_DATE: Final = re.compile(r"(\d{1,2}) *(?:thang|thg) *(\d{1,2}|[a-z]+(?: [a-z]+)?)[ ,]*(?:nam +)?(\d{4})")
_YEAR_MONTH: Final = re.compile(r"(\d{4})[-/](\d{1,2})-?")
_WORD: Final = re.compile(r"[^\W\d_]{3,}")
_DIGITS: Final = re.compile(r"\d+")


def parse_loose_date(text: str) -> Instant | None:
    """Return the instant, even before 1970; None if the text is not a date. Without a zone the date is in UTC."""
    if number := _NUMBER.fullmatch(text):
        return _from_number(number[1], number[2] or "")
    if match := _AMERICAN.match(text):
        text = _day_before_month(text, match)
    text, zone = _extract_place(text)
    words = _HALF_OF_DAY.sub(_half_of_day, text).translate(_SIGNS)
    words = _VIETNAMESE_DATE.sub(_vietnamese_date, normalize_word(words).strip())
    if words.startswith("-"):
        # A year before 1 CE.
        return None
    for clock, rest in _readings(_NOON.sub(_noon, words)):
        if (day := _parse_day(rest)) is not None:
            return _to_instant(day, clock, zone)
    return None


def _day_before_month(text: str, match: re.Match[str]) -> str:
    """Return the American date with the day in front. Of two numbers only the second with a zero: Australia, d/MM."""
    if (len(match[1]) == 2 and match[2].startswith("0")) or int(match[1][:-1]) > 12:
        return text
    return f"{text[: match.start(1)]}{match[2]}{match[1]}{text[match.end(2) :]}"


def _extract_place(text: str) -> tuple[str, ZoneInfo | None]:
    """Return the text without the name of a zone of the IANA database, and the zone; None if there is none."""
    match = _PLACE.search(text)
    if match is None:
        return text, None
    zone = find_zone(match[1]) or find_zone(_SMALL_WORD.sub(_capitalize, match[1]))
    return (text, None) if zone is None else (f"{text[: match.start()]} {text[match.end() :]}", zone)


_SMALL_WORD: Final = re.compile(r"[a-z]+")


def _capitalize(match: re.Match[str]) -> str:
    return match[0].capitalize()


def _noon(match: re.Match[str]) -> str:
    return "00:00" if match[1] == "midnight" else "12:00"


def _from_number(digits: str, fraction: str) -> Instant | None:
    """Parses a year, a date without separators, or a count since 1970 in s, ms, µs or ns."""
    if len(digits) == 4:
        return DateParts(int(digits), 1, 1).to_instant()
    if len(digits) in (8, 12, 14) and digits.startswith(("19", "20")):
        parts = [int(digits[:4]), *(int(digits[at : at + 2]) for at in range(4, len(digits), 2))]
        if (instant := DateParts(*parts).to_instant()) is not None:
            return instant
    if len(digits) >= 18:
        return Instant(int(digits) // 1000)
    unit = _EPOCH_UNITS.get(len(digits))
    if unit is None:
        return None
    below = int(fraction.ljust(6, "0")[:6]) if fraction and unit == SECOND else 0
    return Instant(int(digits) * unit + below)


def _half_of_day(match: re.Match[str]) -> str:
    return " am " if match[0] in ("上午", "午前", "오전") else " pm "


class _TimeOfDay(Struct, frozen=True):
    """A time of day, and how far it is from UTC."""

    hour: int = 0
    minute: int = 0
    second: int = 0
    microsecond: int = 0
    offset_minutes: int | None = None
    """East of Greenwich; None if the text names no offset."""


def _readings(words: str) -> Iterator[tuple[_TimeOfDay, str]]:
    """Yield each possible time of day with the rest of the text, the most likely one first."""
    if match := _TIME.search(words):
        numbers = (match[1] or match[5] or match[8], match[2] or match[6], match[3] or match[7])
        yield _read_time(words, match, *numbers, fraction=match[4])
        return
    for match in reversed(list(_DOTTED_TIME.finditer(words))):
        yield _read_time(words, match, *match.groups())
    if match := _HOUR.search(words):
        yield _read_time(words, match, match[1] or match[2])
    yield _TimeOfDay(), words


def _read_time(
    words: str,
    match: re.Match[str],
    hour: str,
    minute: str | None = None,
    second: str | None = None,
    *,
    fraction: str | None = None,
) -> tuple[_TimeOfDay, str]:
    """Return the time of day, with the half of the day and the zone next to it, and the text without them."""
    before, end = words[: match.start()], match.end()
    half = _HALF_AFTER.match(words, end)
    if half:
        end = half.end()
    elif half := _HALF_BEFORE.search(before):
        before = before[: half.start()]
    if word := _HOURS_WORD.match(words, end):
        end = word.end()
    offset, end = _extract_zone(words, end)
    clock = _TimeOfDay(
        hour=_to_24_hours(int(hour), half[1]) if half else int(hour),
        minute=int(minute or 0),
        second=int(second or 0),
        microsecond=int((fraction or "0").ljust(6, "0")[:6]),
        offset_minutes=offset,
    )
    return clock, f"{before} {words[end:]}"


def _to_instant(day: tuple[int, int, int], clock: _TimeOfDay, zone: ZoneInfo | None) -> Instant | None:
    """Return the instant of a local date and time. An offset in numbers takes precedence over the zone."""
    local = DateParts(*day, clock.hour, clock.minute, clock.second, clock.microsecond, clock.offset_minutes or 0)
    instant = local.to_instant()
    if instant is None or zone is None or clock.offset_minutes is not None:
        return instant
    offset = datetime(*day, min(clock.hour, 23), clock.minute, tzinfo=zone).utcoffset()
    return Instant(instant - (offset or timedelta()) // timedelta(minutes=1) * MINUTE)


def _to_24_hours(hour: int, half: str) -> int:
    if half == "p":
        return hour + 12 if hour < 12 else hour
    return 0 if hour == 12 else hour


def _extract_zone(words: str, start: int) -> tuple[int | None, int]:
    """Return minutes east of Greenwich, None without a zone, and where the zone ends. An unknown name means UTC."""
    found = _ZONE.match(words, start)
    if found is None:
        return None, start
    if name := found[4]:
        if name not in ZONES and month_of(name):
            return None, start
        # As in "EST-0500": the number is exact and takes precedence over the name.
        number = _ZONE.match(words, found.end())
        if number is None or number[4]:
            return ZONES.get(name), found.end()
        found = number
    minutes = int(found[2] or found[6]) * 60 + int(found[3] or found[7] or 0)
    return (-minutes if (found[1] or found[5]) == "-" else minutes), found.end()


def _parse_day(words: str) -> tuple[int, int, int] | None:
    """Return year, month and day, or None."""
    if (match := _WEEK_DATE.search(words)) or (match := _ORDINAL_DATE.search(words)):
        return _week_or_ordinal(match)
    for word in reversed(_WORD.findall(words)):
        # The last month name counts: "mar. 3 janv." is a Tuesday (mardi) in January.
        if month := month_of(word):
            return _with_month_name(month, _DIGITS.findall(words))
    if match := _NUMERIC_DATE.search(words):
        return _numeric_date(match[1], int(match[2]), match[3])
    if match := _COMPACT_DATE.search(words):
        return int(match[1]), int(match[2]), int(match[3])
    if match := _YEAR_MONTH.fullmatch(words.strip(" t")):
        return int(match[1]), int(match[2]), 1
    return None


def _week_or_ordinal(match: re.Match[str]) -> tuple[int, int, int] | None:
    """Return the date, None if there is no such week or day. A week without a day means its Monday.

    match: a match of `_WEEK_DATE` or `_ORDINAL_DATE`.
    """
    year, number = int(match[1]), int(match[2])
    try:
        if match.re is _WEEK_DATE:
            day = date.fromisocalendar(year, number, int(match[3] or 1))
        else:
            day = date(year, 1, 1) + timedelta(days=number - 1)
    except (ValueError, OverflowError):
        return None
    return (day.year, day.month, day.day) if match.re is _WEEK_DATE or day.year == year else None


def _vietnamese_date(match: re.Match[str]) -> str:
    month = int(match[2]) if match[2].isdigit() else VIETNAMESE_NUMBERS.get(match[2], 0)
    return f"{match[1]}-{month}-{match[3]}" if month else match[0]


def _with_month_name(month: int, numbers: list[str]) -> tuple[int, int, int] | None:
    """Return the date of a month name and the numbers next to it, in either order. A lone year means the first day."""
    numbers = [each for each in numbers if len(each) <= 4][:2]
    if not numbers:
        return None
    if len(numbers) == 1:
        return (int(numbers[0]), month, 1) if len(numbers[0]) == 4 else None
    day, year = numbers
    if len(day) > 2:
        day, year = year, day
    return full_year(year), month, int(day)


def _numeric_date(first: str, month: int, last: str) -> tuple[int, int, int]:
    """Return year, month and day of three numbers.

    The year is first if the first number is long. Else the day is first, unless only month first is possible.
    """
    if len(first) > 2:
        return int(first), month, int(last)
    day = int(first)
    if month > 12 >= day:
        day, month = month, day
    return full_year(last), month, day
