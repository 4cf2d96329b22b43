"""Ranges of times, as people write them behind `published:` and the other fields with times.

2026-01           in January                    7d                in the last seven days
2026-01..2026-02  from January to February      14d..7d           the week before that
2026-01..         from January on               >7d               more than seven days ago
<2026-01  <=today before, and up to             2026-01/P1W       FreshRSS: a week from the first of January on
"""

from __future__ import annotations

import re

from tidings.query.model import TimeField, Times
from tidings.query.moments import is_duration, normalize_moment, shifted_date

_COMPARED = re.compile(r"([<>]=?|=)(.*)", re.DOTALL)
_RANGE = re.compile(r"(.*?)\.\.(<?)(.*)", re.DOTALL)
# ISO 8601 allows two hyphens where a slash cannot be used.
_INTERVAL = re.compile(r"(.*?)(?:/|--)(.*)", re.DOTALL)


def parse_times(field: TimeField, text: str) -> Times | None:
    """Return the range that a text names, None if it names none."""
    if compared := _COMPARED.fullmatch(text):
        return _compared(field, compared[1], normalize_moment(compared[2]))
    if limits := _RANGE.fullmatch(text):
        return _between(field, limits[1], limits[3], is_exclusive=bool(limits[2]))
    if limits := _INTERVAL.fullmatch(text):
        return _interval(field, limits[1], limits[2])
    moment = normalize_moment(text)
    if not moment:
        return None
    return Times(field, since=moment) if is_duration(moment) else Times(field, since=moment, until=moment)


def format_times(times: Times) -> str:
    """Return the text from which `parse_times` makes this range."""
    if times.after:
        return f"{'<' if is_duration(times.after) else '>'}{times.after}"
    if times.before:
        only = f"{'>' if is_duration(times.before) else '<'}{times.before}"
        return f"{times.since}..<{times.before}" if times.since else only
    if times.since == times.until and not is_duration(times.since):
        return times.since
    if not times.until and is_duration(times.since):
        return times.since
    return f"{times.since}..{times.until}"


def _compared(field: TimeField, sign: str, moment: str) -> Times | None:
    if not moment:
        return None
    if sign == "=":
        return parse_times(field, moment)
    # A shorter duration is a later moment.
    is_later = (sign[0] == ">") is not is_duration(moment)
    if len(sign) == 2:
        return Times(field, since=moment) if is_later else Times(field, until=moment)
    return Times(field, after=moment) if is_later else Times(field, before=moment)


def _between(field: TimeField, start: str, end: str, *, is_exclusive: bool) -> Times | None:
    since, until = normalize_moment(start), normalize_moment(end)
    if (start and not since) or (end and not until) or not (since or until):
        return None
    if is_exclusive:
        return Times(field, since=since, before=until) if until else None
    return Times(field, since=since, until=until)


def _interval(field: TimeField, start: str, end: str) -> Times | None:
    """Return the range of ISO 8601: dates and durations on both sides of a slash, of which one may be missing."""
    since = normalize_moment(start)
    if start and not since:
        return None
    # The end may leave out what it has in common with the start: 2014-02-03/05.
    is_part = since and not is_duration(since) and len(end) < len(start) and re.match(r"\d\d(?!\d)", end)
    until = normalize_moment(start[: -len(end)] + end if is_part else end)
    if (end and not until) or not (since or until):
        return None
    if since and until and is_duration(until) and since[0].isdigit() and not is_duration(since):
        before = shifted_date(since, until, sign=1)
        return Times(field, since=since, before=before) if before else None
    if since and until and is_duration(since) and until[0].isdigit() and not is_duration(until):
        earlier = shifted_date(until, since, sign=-1)
        return Times(field, since=earlier, until=until) if earlier else None
    return Times(field, since=since, until=until)
