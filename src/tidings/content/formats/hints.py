"""When a feed asks to be polled: `ttl`, `skipHours`, `skipDays`, and the syndication module of RSS 1.0."""

from __future__ import annotations

from typing import Final

from tidings.content.dates.dates import parse_date
from tidings.content.model import PublisherHints
from tidings.content.xml.elements import ElementFields
from tidings.content.xml.namespaces import TagNames

_PERIODS: Final = {
    "hourly": 60,
    "daily": 24 * 60,
    "weekly": 7 * 24 * 60,
    "monthly": 30 * 24 * 60,
    "yearly": 365 * 24 * 60,
}
_DAYS: Final = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")
_MAX_DIGITS: Final = 6


def read_hints(channel: ElementFields, names: TagNames) -> PublisherHints:
    """Return the polling hints of a channel or feed element."""
    return PublisherHints(
        ttl_minutes=_number(channel.text("ttl")),
        update_minutes=_update_minutes(channel),
        update_base=parse_date(channel.text("sy:updatebase")),
        skip_hours=frozenset(_skipped_hours(channel, names)),
        skip_days=frozenset(
            _DAYS.index(day)
            for text in _nested_texts(channel, names, "skipdays", "day")
            if (day := text.lower()) in _DAYS
        ),
    )


def _update_minutes(channel: ElementFields) -> int | None:
    """Return the update interval in minutes; the module's defaults are daily and once per period."""
    period = channel.text("sy:updateperiod").lower()
    frequency = _number(channel.text("sy:updatefrequency"))
    if not period and frequency is None:
        return None
    minutes = _PERIODS.get(period or "daily")
    return None if minutes is None else max(1, minutes // max(1, frequency or 1))


def _skipped_hours(channel: ElementFields, names: TagNames) -> list[int]:
    """Return hours 0 to 23. Some publishers count from 1 to 24; 24 is midnight."""
    hours = (_number(text) for text in _nested_texts(channel, names, "skiphours", "hour"))
    return [hour % 24 for hour in hours if hour is not None and hour <= 24]


def _nested_texts(channel: ElementFields, names: TagNames, outer: str, inner: str) -> list[str]:
    return [text for element in channel.get(outer, ()) for text in ElementFields(element, names).texts(inner)]


def _number(text: str) -> int | None:
    return int(text) if text.isascii() and text.isdigit() and len(text) <= _MAX_DIGITS else None
