"""Times in the language and time zone of the user: under a day the time that has passed, then the date."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime, timedelta
from functools import lru_cache

from babel.dates import format_date, format_datetime, format_skeleton, format_time, format_timedelta
from markupsafe import Markup, escape

from tidings.base.times import DAY, HOUR, MINUTE, Instant, to_datetime, to_local, zone_info
from tidings.web.language import _, current, ngettext

# Entries of older days are together under the head of their month.
DAYS_BY_DATE = 7


def ago(instant: Instant, now: Instant, zone_name: str) -> str:
    """Return 12 min, 3 h, 21 Nov or 21 Nov 2023. Future times are shown as a date."""
    passed = now - instant
    # The database's clock may be a little ahead of this machine's.
    if -MINUTE < passed < MINUTE:
        return _("now")
    if 0 <= passed < HOUR:
        return _("%(count)d min", count=passed // MINUTE)
    if 0 <= passed < DAY:
        return _("%(count)d h", count=passed // HOUR)
    return date(instant, now, zone_name)


def since(instant: Instant, now: Instant, zone_name: str) -> str:
    """Return the same for use within a sentence: 12 min. ago."""
    passed = now - instant
    if not MINUTE <= passed < DAY:
        return ago(instant, now, zone_name)
    unit = MINUTE if passed < HOUR else HOUR
    back = -timedelta(microseconds=passed // unit * unit)
    return format_timedelta(back, threshold=1, add_direction=True, format="short", locale=current().locale)


def date(instant: Instant, now: Instant, zone_name: str) -> str:
    return _date(_day(instant, zone_name), to_datetime(now).year, str(current().locale))


def day_head(instant: Instant, now: Instant, zone_name: str) -> str:
    """Return the head above the entries of a day: Today, Yesterday, Tue 24 Nov; after a week the month."""
    day, today = _day(instant, zone_name), _day(now, zone_name)
    age = (today.date() - day.date()).days
    if age in (0, 1):
        return _("Yesterday") if age else _("Today")
    return _day_head(day, today.year, str(current().locale), is_recent=age < DAYS_BY_DATE)


def exact(instant: Instant, zone_name: str) -> str:
    return _exact(instant // MINUTE * MINUTE, zone_name, str(current().locale))


def written(instant: Instant, zone_name: str) -> str:
    """Return day and time in short: 21 Nov 2026, 18:40:07."""
    local = to_local(instant, zone_info(zone_name))
    return format_datetime(local, "medium", tzinfo=local.tzinfo, locale=current().locale)


def when(instant: Instant, now: Instant, zone_name: str, style: Callable[[Instant, Instant, str], str] = ago) -> Markup:
    """Return a `<time>` element, exact on hover and for machines. style: the function above that makes its text."""
    machine = to_datetime(instant).isoformat(timespec="seconds")[:-6] + "Z"
    shown, title = escape(style(instant, now, zone_name)), escape(exact(instant, zone_name))
    # `Markup.format` takes ten times as long, and a list has a hundred of these.
    return Markup(f'<time datetime="{machine}" title="{title}">{shown}</time>')  # noqa: S704 - escaped above


def clock(seconds: float) -> str:
    """Return a place in a recording: 4:05, or 1:04:05."""
    hours, rest = divmod(int(seconds), 3600)
    return f"{hours}:{rest // 60:02}:{rest % 60:02}" if hours else f"{rest // 60}:{rest % 60:02}"


def minutes(count: int) -> str:
    return ngettext("%(count)d minute", "%(count)d minutes", count, count=count)


def _day(instant: Instant, zone_name: str) -> datetime:
    return to_local(instant, zone_info(zone_name)).replace(hour=0, minute=0, second=0, microsecond=0)


@lru_cache(maxsize=4096)
def _date(day: datetime, this_year: int, locale: str) -> str:
    return format_skeleton("MMMd" if day.year == this_year else "yMMMd", day, locale=locale)


@lru_cache(maxsize=4096)
def _day_head(day: datetime, this_year: int, locale: str, *, is_recent: bool) -> str:
    if is_recent:
        return format_skeleton("MMMEd" if day.year == this_year else "yMMMEd", day, locale=locale)
    return format_skeleton("yMMMM", day, locale=locale)


@lru_cache(maxsize=4096)
def _exact(minute: Instant, zone_name: str, locale: str) -> str:
    local = to_local(minute, zone_info(zone_name))
    # The long form of a time has the short name of the zone: a page shows a hundred times.
    time = format_time(local, "long", tzinfo=local.tzinfo, locale=locale).replace(":00", "", 1)
    return f"{format_date(local, 'full', locale=locale)}, {time}"
