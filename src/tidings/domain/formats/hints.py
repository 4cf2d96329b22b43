"""When a document asks to be polled: ttl, skipHours, skipDays, and the syndication module of RSS 1.0."""

from __future__ import annotations

from typing import Final

from tidings.domain.feeds import PublisherHints
from tidings.domain.formats.dates import read as read_date
from tidings.domain.formats.elements import Fields
from tidings.domain.formats.names import Names

_PERIODS: Final = {
    "hourly": 60,
    "daily": 24 * 60,
    "weekly": 7 * 24 * 60,
    "monthly": 30 * 24 * 60,
    "yearly": 365 * 24 * 60,
}
_DAYS: Final = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")
_LONGEST_DIGITS: Final = 6


def read_hints(channel: Fields, names: Names) -> PublisherHints:
    return PublisherHints(
        ttl_minutes=_number(channel.text("ttl")),
        update_minutes=_update_minutes(channel),
        update_base=read_date(channel.text("sy:updatebase")),
        skip_hours=frozenset(_skipped_hours(channel, names)),
        skip_days=frozenset(
            _DAYS.index(day) for text in _inside(channel, names, "skipdays", "day") if (day := text.lower()) in _DAYS
        ),
    )


def _update_minutes(channel: Fields) -> int | None:
    """Without a period daily, without a frequency once, as the module has it."""
    period = channel.text("sy:updateperiod").lower()
    frequency = _number(channel.text("sy:updatefrequency"))
    if not period and frequency is None:
        return None
    minutes = _PERIODS.get(period or "daily")
    return None if minutes is None else max(1, minutes // max(1, frequency or 1))


def _skipped_hours(channel: Fields, names: Names) -> list[int]:
    """Some count hours from 1 to 24; 24 is midnight."""
    hours = (_number(text) for text in _inside(channel, names, "skiphours", "hour"))
    return [hour % 24 for hour in hours if hour is not None and hour <= 24]


def _inside(channel: Fields, names: Names, outer: str, inner: str) -> list[str]:
    return [text for element in channel.get(outer, ()) for text in Fields(element, names).texts(inner)]


def _number(text: str) -> int | None:
    return int(text) if text.isascii() and text.isdigit() and len(text) <= _LONGEST_DIGITS else None
