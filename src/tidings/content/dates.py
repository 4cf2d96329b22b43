"""Parses dates in the forms that feeds contain: fast for RFC 822 and RFC 3339, slower for every other form.

The slower parser reads any order and any language, with or without a time:

text | number only? | extract an IANA zone | normalize words | extract time and zone | parse the date from the rest

Numeric dates need the other dates of their document (`DateOrder`): `1/2/2026` is in January or in February, and
`1/25/2026` shows that its month comes first, in every date with slashes.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from datetime import date, datetime, timedelta
from functools import lru_cache
from typing import Final
from zoneinfo import ZoneInfo

from msgspec import Struct

from tidings.base.times import DAY, HOUR, MINUTE, SECOND, Instant, find_zone

# The parts of a date before it becomes an instant

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


# Words in dates: month names in the languages of feeds, and names of time zones

# Full names, January to December; where a language writes dates in the genitive, that form as well.
# If an abbreviation means different months in two languages, the earlier language in this list wins.
_FULL_NAMES: Final = (
    "january february march april may june july august september october november december",
    "januar februar märz april mai juni juli august september oktober november dezember",
    "janvier février mars avril mai juin juillet août septembre octobre novembre décembre",
    "enero febrero marzo abril mayo junio julio agosto septiembre octubre noviembre diciembre",
    "gennaio febbraio marzo aprile maggio giugno luglio agosto settembre ottobre novembre dicembre",
    "janeiro fevereiro março abril maio junho julho agosto setembro outubro novembro dezembro",
    "januari februari maart april mei juni juli augustus september oktober november december",
    "januari februari mars april maj juni juli augusti september oktober november december",
    "january february march april may june july august setiembre october november desember",
    "января февраля марта апреля мая июня июля августа сентября октября ноября декабря",
    "январь февраль март апрель май июнь июль август сентябрь октябрь ноябрь декабрь",
    "січня лютого березня квітня травня червня липня серпня вересня жовтня листопада грудня",
    "януари февруари март април май юни юли август септември октомври ноември декември",
    "stycznia lutego marca kwietnia maja czerwca lipca sierpnia września października listopada grudnia",
    "styczeń luty marzec kwiecień maj czerwiec lipiec sierpień wrzesień październik listopad grudzień",
    "ledna února března dubna května června července srpna září října listopadu prosince",
    "január február március április május június július augusztus szeptember október november december",
    "ianuarie februarie martie aprilie mai iunie iulie august septembrie octombrie noiembrie decembrie",
    "ocak şubat mart nisan mayıs haziran temmuz ağustos eylül ekim kasım aralık",
    "tammikuu helmikuu maaliskuu huhtikuu toukokuu kesäkuu heinäkuu elokuu syyskuu lokakuu marraskuu joulu",
    "ιανουαρ φεβρουαρ μαρτ απριλ μαι ιουν ιουλ αυγουστ σεπτεμβρ οκτωβρ νοεμβρ δεκεμβρ",
    "gener febrer març abril maig juny juliol agost setembre octubre novembre desembre",
    "januari februari maret april mei juni juli agustus september oktober november desember",
    "يناير فبراير مارس أبريل مايو يونيو يوليو أغسطس سبتمبر أكتوبر نوفمبر ديسمبر",
    "ינואר פברואר מרץ אפריל מאי יוני יולי אוגוסט ספטמבר אוקטובר נובמבר דצמבר",
)
# Abbreviations that are not a prefix of the month's name.
_ABBREVIATIONS: Final = {
    "mrt": 3,
    "jnr": 1,
    "fvr": 2,
    "mrz": 3,
    "ιουν": 6,
    "ιουλ": 7,
    "μαϊ": 5,
    "μαι": 5,
    "avg": 8,
}
# Vietnamese months are "month one" to "month twelve"; January and December also have names of their own.
VIETNAMESE_NUMBERS: Final = {
    "mot": 1, "gieng": 1, "hai": 2, "ba": 3, "tu": 4, "nam": 5, "sau": 6, "bay": 7, "tam": 8, "chin": 9, "muoi": 10,
    "muoi mot": 11, "muoi hai": 12, "chap": 12,
}  # fmt: skip
_MIN_ABBREVIATION: Final = 3
_MIN_STEM: Final = 5

# Hours east of Greenwich. A name that several regions use means the region that publishes most feeds.
_HOURS: Final = {
    "gmt": 0, "ut": 0, "utc": 0, "z": 0, "wet": 0, "west": 1, "bst": 1, "cet": 1, "cest": 2, "met": 1,
    "mest": 2, "mez": 1, "mesz": 2, "wat": 1, "cat": 2, "sast": 2, "eet": 2, "eest": 3, "eat": 3,
    "msk": 3, "msd": 4, "trt": 3, "samt": 4, "gst": 4, "yekt": 5, "pkt": 5, "omst": 6, "novt": 7,
    "ict": 7, "wib": 7, "krat": 7, "irkt": 8, "awst": 8, "hkt": 8, "sgt": 8, "pht": 8, "myt": 8,
    "wita": 8, "jst": 9, "kst": 9, "wit": 9, "yakt": 9, "aest": 10, "vlat": 10, "aedt": 11, "magt": 11,
    "nzst": 12, "nzdt": 13, "brt": -3, "brst": -2, "art": -3, "clt": -4, "clst": -3, "bot": -4, "vet": -4,
    "pet": -5, "cot": -5, "ect": -5, "ast": -4, "adt": -3, "est": -5, "edt": -4, "et": -5, "cst": -6,
    "cdt": -5, "ct": -6, "mst": -7, "mdt": -6, "mt": -7, "pst": -8, "pdt": -7, "pt": -8, "akst": -9,
    "akdt": -8, "hst": -10, "sst": -11, "chst": 10, "azot": -1, "cvt": -1, "uyt": -3, "gft": -3,
}  # fmt: skip
_HALF_HOURS: Final = {"ist": 330, "npt": 345, "mmt": 390, "irst": 210, "aft": 270, "acst": 570, "acdt": 630,
                      "nst": -210, "ndt": -150}  # fmt: skip


def normalize_word(word: str) -> str:
    """Return the word in lower case without accents: `Août` and `aout` are one word."""
    if word.isascii():
        return word.lower()
    decomposed = unicodedata.normalize("NFKD", word.lower())
    return unicodedata.normalize("NFC", "".join(each for each in decomposed if not unicodedata.combining(each)))


def month_of(word: str) -> int | None:
    """Return the month (1 to 12) that a normalized word names: in full, abbreviated, or inflected; else None."""
    if month := MONTHS.get(word):
        return month
    stems = (word[:length] for length in range(len(word) - 1, _MIN_STEM - 1, -1))
    return next((MONTHS[stem] for stem in stems if stem in MONTHS), None)


def _months() -> dict[str, int]:
    whole: dict[str, int] = {}
    beginnings: dict[str, int] = {}
    for language in _FULL_NAMES:
        for number, name in enumerate(map(normalize_word, language.split()), start=1):
            whole.setdefault(name, number)
            for length in range(_MIN_ABBREVIATION, len(name)):
                beginnings.setdefault(name[:length], number)
    return beginnings | whole | {normalize_word(name): number for name, number in _ABBREVIATIONS.items()}


MONTHS: Final = _months()
ZONES: Final = {name: hours * 60 for name, hours in _HOURS.items()} | _HALF_HOURS


# The order in which a document writes its numeric dates

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


# Dates in no standard form

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


# Dates by the standards

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
