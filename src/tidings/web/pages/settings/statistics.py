"""The statistics page: entries published and read a day, and the feeds read most. Counted on each request."""

from __future__ import annotations

from datetime import date
from functools import lru_cache

from babel.dates import format_date, format_skeleton

from tidings.http.endpoints import Routes
from tidings.services import Services
from tidings.services.entries import statistics
from tidings.storage.entries.statistics import MAX_AT_ONCE, MAX_READ
from tidings.web import charts
from tidings.web.context import PageResponse, RequestContext
from tidings.web.language import _, current

routes = Routes()


@routes.get("/statistics")
def show_statistics(context: RequestContext, services: Services) -> PageResponse:
    with services.reading() as db:
        found = statistics.of_user(db, context.caller, context.now)
    quarter, read = found.published_days, found.read
    locale = current().locale
    known = {
        "title": _("Statistics"),
        "days": quarter,
        "came": found.published,
        "bars": charts.bars(quarter, found.published),
        "read_total": sum(read),
        "read_month": sum(read[-30:]),
        "marked_month": sum(found.marked[-30:]),
        "at_once": MAX_AT_ONCE,
        "streak": found.streak,
        "calendar": charts.calendar(found.days, read, first_weekday=locale.first_week_day),
        "feeds": found.feeds,
        "most": MAX_READ,
        "named": lambda day: format_date(day, "long", locale=locale),
        "short": lambda day: _short(day, str(locale)),
        "month": lambda day: format_skeleton("MMM", day, locale=locale),
    }
    return PageResponse("settings/statistics.html", known)


@lru_cache(maxsize=4096)
def _short(day: date, locale: str) -> str:
    return str(format_skeleton("MMMd", day, locale=locale))
