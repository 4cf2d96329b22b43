"""The statistics page: entries published and read a day, and the feeds read most. Counted on each request."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import date
from functools import lru_cache

from babel.dates import format_date, format_skeleton

from tidings.base.times import Instant, zone_info
from tidings.domain.entries import calendar
from tidings.domain.entries.calendar import DaySpan
from tidings.engine.database import Read
from tidings.http.endpoints import Routes
from tidings.services import Services
from tidings.storage.entries import statistics
from tidings.storage.feeds import sidebar
from tidings.web import charts
from tidings.web.context import PageResponse, RequestContext
from tidings.web.language import _, current

routes = Routes()

# A year.
CALENDAR_DAYS = 365
CHART_DAYS = 90
MAX_LISTED_FEEDS = 10

Count = Callable[[Read, int, Instant, int, int], list[int]]


@routes.get("/statistics")
def show_statistics(context: RequestContext, services: Services) -> PageResponse:
    user, here = context.caller, zone_info(context.caller.timezone)
    year = calendar.days_until(context.now, here, CALENDAR_DAYS)
    quarter = year[-CHART_DAYS:]
    with services.reading() as db:
        came = _counts(db, user.id, statistics.published, calendar.spans(quarter, here))
        read = _counts(db, user.id, statistics.read, calendar.spans(year, here))
        feeds = sidebar.most_read(db, user.id, MAX_LISTED_FEEDS)
    locale = current().locale
    known = {
        "title": _("Statistics"),
        "days": quarter,
        "came": came,
        "bars": charts.bars(quarter, came),
        "read_total": sum(read),
        "read_month": sum(read[-30:]),
        "streak": calendar.streak(read),
        "calendar": charts.calendar(year, read, first_weekday=locale.first_week_day),
        "feeds": feeds,
        "most": statistics.MAX_READ,
        "named": lambda day: format_date(day, "long", locale=locale),
        "short": lambda day: _short(day, str(locale)),
        "month": lambda day: format_skeleton("MMM", day, locale=locale),
    }
    return PageResponse("settings/statistics.html", known)


def _counts(db: Read, user_id: int, count: Count, spans: Sequence[DaySpan]) -> list[int]:
    return [number for span in spans for number in count(db, user_id, span.start, span.length, span.count)]


@lru_cache(maxsize=4096)
def _short(day: date, locale: str) -> str:
    return str(format_skeleton("MMMd", day, locale=locale))
