"""Moments of a query: dates with any precision, words such as `today`, and durations back from now.

    2026   2026-01   2026-01-15   2026-01-15T10   2026-01-15T10:30   2026-01-15T10:30:00+02:00
    today   yesterday   tomorrow   7d   1y6m   12h   90min

A date stands for all the time that it names. Dates without an offset are in the user's time zone.
Source of durations and intervals with a slash: ISO 8601, as FreshRSS reads them.
"""

from __future__ import annotations

import calendar
import re
from datetime import UTC, date, datetime, time, timedelta, timezone
from zoneinfo import ZoneInfo

from tidings.base.times import LATEST, Instant, from_datetime, to_local

# The first microsecond of the year 1, before which no datetime exists.
EARLIEST = Instant(-62_135_596_800_000_000)

_DAYS_FROM_TODAY = {"yesterday": -1, "today": 0, "tomorrow": 1}
_DATE = re.compile(
    r"(\d{4})(?:-?(\d\d)(?:-?(\d\d)(?:[T ](\d\d)(?::?(\d\d)(?::?(\d\d))?)?(Z|[+-]\d\d:?\d\d)?)?)?)?", re.ASCII
)
_DURATION = re.compile(
    r"(?:(\d{1,4})y)?(?:(\d{1,4})m(?!in))?(?:(\d{1,4})w)?(?:(\d{1,5})d)?(?:(\d{1,5})h)?(?:(\d{1,6})min)?", re.ASCII
)
_ISO_DURATION = re.compile(
    r"P(?:(\d{1,4})Y)?(?:(\d{1,4})M)?(?:(\d{1,4})W)?(?:(\d{1,5})D)?(?:T(?:(\d{1,5})H)?(?:(\d{1,6})M)?)?", re.ASCII
)
_UNITS = ("y", "m", "w", "d", "h", "min")


def normalize_moment(text: str) -> str:
    """Return a moment in the one form in which trees have it; "" if the text is not a moment."""
    lowered = text.strip().lower()
    if lowered in _DAYS_FROM_TODAY:
        return lowered
    return _normal_duration(text) or _normal_date(text)


def is_duration(moment: str) -> bool:
    """Return whether a normal moment is a duration back from now."""
    return bool(moment and _DURATION.fullmatch(moment))


def is_relative(moment: str) -> bool:
    """Return whether a normal moment depends on the time at which it is read."""
    return moment in _DAYS_FROM_TODAY or is_duration(moment)


def bounds(moment: str, *, now: Instant, zone: ZoneInfo) -> tuple[Instant, Instant]:
    """Return the first instant of a normal moment, and the first one after it."""
    try:
        if is_duration(moment):
            then = _clamped(_shifted(to_local(now, zone), _amounts(moment), sign=-1))
            return then, Instant(then + 1)
        if moment in _DAYS_FROM_TODAY:
            day = to_local(now, zone).date() + timedelta(days=_DAYS_FROM_TODAY[moment])
            return _start_of(day, zone), _start_of(day + timedelta(days=1), zone)
        start, end, own_zone = _read_date(moment)
        return _at(start, own_zone or zone), _at(end, own_zone or zone)
    except OverflowError:
        return (EARLIEST, Instant(EARLIEST + 1)) if is_duration(moment) else (LATEST, LATEST)


def shifted_date(date_text: str, duration: str, *, sign: int) -> str:
    """Return the date that is a duration after (sign 1) or before (sign -1) the beginning of another date.

    Both are normal moments. The result is as precise as it has to be; "" if it is outside the years 1000 to 9999.
    """
    amounts = _amounts(duration)
    start, _, _ = _read_date(date_text)
    try:
        moved = _shifted(start, amounts, sign=sign)
    except OverflowError:
        return ""
    if moved.year < 1000:
        return ""
    zone = _zone_text(date_text)
    if "T" not in date_text and not (amounts[4] or amounts[5]):
        return moved.date().isoformat()
    return moved.isoformat(timespec="seconds" if moved.second else "minutes") + zone


def _normal_duration(text: str) -> str:
    found = _DURATION.fullmatch(text.lower()) or _ISO_DURATION.fullmatch(text.upper())
    if found is None or not any(found.groups()):
        return ""
    return "".join(f"{int(amount)}{unit}" for amount, unit in zip(found.groups(), _UNITS, strict=True) if amount)


def _normal_date(text: str) -> str:
    found = _DATE.fullmatch(text.strip().upper())
    if found is None or (len(text) == 4 and text < "1000"):
        return ""
    year, month, day, hour, minute, second, zone = found.groups()
    # Digits without hyphens are a date only if there are six or eight of them.
    normal = "-".join(part for part in (year, month, day) if part)
    if hour:
        normal += "T" + ":".join(part for part in (hour, minute, second) if part)
    if zone:
        normal += zone if zone == "Z" else f"{zone[:3]}:{zone[-2:]}"
    try:
        _read_date(normal)
    except ValueError:
        return ""
    return normal


def _read_date(text: str) -> tuple[datetime, datetime, timezone | None]:
    """Return the naive beginning and end of a normal date, and its own zone. Raises ValueError if it does not exist."""
    found = _DATE.fullmatch(text)
    if found is None:
        raise ValueError(text)
    year, month, day, hour, minute, second = (int(part) if part else None for part in found.groups()[:6])
    start = datetime(year or 0, month or 1, day or 1, hour or 0, minute or 0, second or 0)  # noqa: DTZ001 - zone follows
    if start.year < 1000:
        raise ValueError(text)
    zone = _zone_of(found[7])
    try:
        end = _next(start, month, day, hour, minute, second)
    except OverflowError:
        end = datetime.max  # noqa: DTZ901
    return start, end, zone


def _next(start: datetime, month: int | None, day: int | None, *time_parts: int | None) -> datetime:
    hour, minute, second = time_parts
    if month is None:
        return _shifted(start, (1, 0, 0, 0, 0, 0), sign=1)
    if day is None:
        return _shifted(start, (0, 1, 0, 0, 0, 0), sign=1)
    if hour is None:
        return start + timedelta(days=1)
    if minute is None:
        return start + timedelta(hours=1)
    return start + (timedelta(minutes=1) if second is None else timedelta(seconds=1))


def _zone_text(date_text: str) -> str:
    found = _DATE.fullmatch(date_text)
    return (found[7] or "") if found else ""


def _zone_of(text: str | None) -> timezone | None:
    if not text:
        return None
    if text == "Z":
        return UTC
    offset = timedelta(hours=int(text[1:3]), minutes=int(text[-2:]))
    return timezone(-offset if text[0] == "-" else offset)


def _amounts(duration: str) -> tuple[int, ...]:
    found = _DURATION.fullmatch(duration)
    return tuple(int(amount or 0) for amount in found.groups()) if found else (0,) * 6


def _shifted(moment: datetime, amounts: tuple[int, ...], *, sign: int) -> datetime:
    """Return a moment some years, months, weeks, days, hours and minutes later or earlier. Raises OverflowError.

    A month before 31 March is the last of February.
    """
    years, months, weeks, days, hours, minutes = amounts
    count = moment.year * 12 + moment.month - 1 + sign * (years * 12 + months)
    year, month = divmod(count, 12)
    if not 1 <= year <= 9999:
        raise OverflowError
    last = calendar.monthrange(year, month + 1)[1]
    moved = moment.replace(year=year, month=month + 1, day=min(moment.day, last))
    return moved + sign * timedelta(weeks=weeks, days=days, hours=hours, minutes=minutes)


def _start_of(day: date, zone: ZoneInfo) -> Instant:
    return _clamped(datetime.combine(day, time(), zone))


def _at(moment: datetime, zone: ZoneInfo | timezone) -> Instant:
    return _clamped(moment.replace(tzinfo=zone))


def _clamped(moment: datetime) -> Instant:
    return Instant(max(EARLIEST, min(from_datetime(moment), LATEST)))
