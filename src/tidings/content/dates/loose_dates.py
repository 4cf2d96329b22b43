"""Parses dates in no standard form: any order, any language, with or without a time.

text | number only? | normalize words | extract time and zone | parse the date from the rest
"""

from __future__ import annotations

import re
from datetime import date, timedelta
from typing import Final

from tidings.base.times import SECOND, Instant
from tidings.content.dates.date_parts import DateParts
from tidings.content.dates.date_words import VIETNAMESE_NUMBERS, ZONES, month_of, normalize_word

# A count since 1970: its number of digits, and the microseconds of one unit.
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
_HALF_OF_DAY: Final = re.compile(r"([上下])午|午([前後])|(오전|오후)")

_TIME: Final = re.compile(
    r"(?<![\d+-])(\d{1,2}) ?[:h] ?(\d{1,2})(?: ?[:m] ?(\d{1,2})(?:[.,:](\d{1,9}))?)?(?!\d)s?[: ]*"
    r"|(?<=\d\d\d\d\d\d\d\d[t ])(\d\d)(\d\d)(\d\d)?(?!\d)"
    r"|(?<![\d.])(\d{1,2}) ?(?=[ap]\.?m\b)"
)
_HALF_AFTER: Final = re.compile(r" ?([ap])\.?m\b\.?")
_HALF_BEFORE: Final = re.compile(r"\b([ap])m *$")
_ZONE: Final = re.compile(r"[ (,]*(?:(?:gmt|utc|ut)? ?([+-])(\d{1,2}):?(\d\d)?(?!\d)|([a-z]{1,5})\b(?!/))")

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
    """Returns the instant, even before 1970; None if the text is not a date. Without a zone the date is in UTC."""
    if number := _NUMBER.fullmatch(text):
        return _from_number(number[1], number[2] or "")
    words = _HALF_OF_DAY.sub(_half_of_day, text).translate(_SIGNS)
    words = _VIETNAMESE_DATE.sub(_vietnamese_date, normalize_word(words).strip())
    if words.startswith("-"):
        # A year before 1 CE.
        return None
    clock, rest = _extract_time(words)
    day = _parse_day(rest)
    if day is None or clock is None:
        return None
    year, month, day_of_month = day
    hour, minute, second, microsecond, offset = clock
    return DateParts(year, month, day_of_month, hour, minute, second, microsecond, offset).to_instant()


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


# Hour, minute, second, microsecond, minutes east of Greenwich.
_TimeOfDay = tuple[int, int, int, int, int]


def _extract_time(words: str) -> tuple[_TimeOfDay | None, str]:
    """Returns the time of day and the text without it; None instead of the time if it is impossible."""
    match = _TIME.search(words)
    if match is None:
        return (0, 0, 0, 0, 0), words
    numbers = [
        int(each or 0) for each in (match[1] or match[5] or match[8], match[2] or match[6], match[3] or match[7])
    ]
    hour, minute, second = numbers
    microsecond = int((match[4] or "0").ljust(6, "0")[:6])
    before, end = words[: match.start()], match.end()
    half = _HALF_AFTER.match(words, end)
    if half:
        end = half.end()
    elif half := _HALF_BEFORE.search(before):
        before = before[: half.start()]
    offset, end = _extract_zone(words, end)
    if half:
        hour = _to_24_hours(hour, half[1])
    rest = f"{before} {words[end:]}"
    return (None if offset is None else (hour, minute, second, microsecond, offset)), rest


def _to_24_hours(hour: int, half: str) -> int:
    if half == "p":
        return hour + 12 if hour < 12 else hour
    return 0 if hour == 12 else hour


def _extract_zone(words: str, start: int) -> tuple[int | None, int]:
    """Returns minutes east of Greenwich and where the zone ends.

    An unknown zone name means 0; an impossible offset is None.
    """
    found = _ZONE.match(words, start)
    if found is None:
        return 0, start
    if name := found[4]:
        if name not in ZONES and month_of(name):
            return 0, start
        # As in "EST-0500": the number is exact and takes precedence over the name.
        number = _ZONE.match(words, found.end())
        if number is None or number[4]:
            return ZONES.get(name, 0), found.end()
        found = number
    minutes = int(found[2]) * 60 + int(found[3] or 0)
    if minutes > 14 * 60:
        return None, found.end()
    return (-minutes if found[1] == "-" else minutes), found.end()


def _parse_day(words: str) -> tuple[int, int, int] | None:
    """Returns year, month and day, or None."""
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
    """Returns the date, None if there is no such week or day. A week without a day means its Monday.

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
    """Returns the date of a month name and the numbers next to it, in either order. A lone year means the first day."""
    numbers = [each for each in numbers if len(each) <= 4][:2]
    if not numbers:
        return None
    if len(numbers) == 1:
        return (int(numbers[0]), month, 1) if len(numbers[0]) == 4 else None
    day, year = numbers
    if len(day) > 2:
        day, year = year, day
    return _full_year(year), month, int(day)


def _numeric_date(first: str, month: int, last: str) -> tuple[int, int, int]:
    """Returns year, month and day of three numbers.

    The year is first if the first number is long. Else the day is first, unless only month first is possible.
    """
    if len(first) > 2:
        return int(first), month, int(last)
    day = int(first)
    if month > 12 >= day:
        day, month = month, day
    return _full_year(last), month, day


def _full_year(digits: str) -> int:
    """Returns the four-digit year; two digits mean 1969 to 2068, as in POSIX."""
    year = int(digits)
    if len(digits) > 2:
        return year
    return year + (2000 if year < 69 else 1900)
