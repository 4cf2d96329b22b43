"""What came, what was read, and what is read most: counted when the page is asked for."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import date
from functools import lru_cache

from babel.dates import format_date, format_skeleton

from tidings.domain import calendar
from tidings.domain.calendar import Span
from tidings.domain.times import Instant
from tidings.services import Services
from tidings.storage import statistics
from tidings.storage.database import Read
from tidings.web import charts
from tidings.web.language import _, current
from tidings.web.moments import zone
from tidings.web.routes import Routes
from tidings.web.visits import Page, Visit

routes = Routes()

# Whole weeks of a year, and the one that has begun.
CALENDAR_DAYS = 365
CHART_DAYS = 90
MOST_FEEDS = 10

Count = Callable[[Read, int, Instant, int, int], list[int]]


@routes.get("/statistics")
def show_statistics(visit: Visit, services: Services) -> Page:
    user, here = visit.caller, zone(visit.caller.timezone)
    year = calendar.days_until(visit.now, here, CALENDAR_DAYS)
    quarter = year[-CHART_DAYS:]
    with services.reading() as db:
        came = _counts(db, user.id, statistics.published, calendar.spans(quarter, here))
        read = _counts(db, user.id, statistics.read, calendar.spans(year, here))
    feeds = sorted(visit.sidebar.feeds.values(), key=lambda feed: (-feed.read, feed.title.casefold()))
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
        "feeds": [feed for feed in feeds[:MOST_FEEDS] if feed.read],
        "most": statistics.MOST_READ,
        "named": lambda day: format_date(day, "long", locale=locale),
        "short": lambda day: _short(day, str(locale)),
        "month": lambda day: format_skeleton("MMM", day, locale=locale),
    }
    return Page("settings/statistics.html", known)


def _counts(db: Read, user_id: int, count: Count, spans: Sequence[Span]) -> list[int]:
    return [found for span in spans for found in count(db, user_id, span.start, span.length, span.count)]


@lru_cache(maxsize=4096)
def _short(day: date, locale: str) -> str:
    return str(format_skeleton("MMMd", day, locale=locale))
