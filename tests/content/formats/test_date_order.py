"""Numeric dates: the order of day and month that the dates of a feed show together."""

from __future__ import annotations

import json
from collections.abc import Callable
from datetime import UTC, datetime

import pytest

from tidings.base.times import Instant, from_datetime, to_datetime
from tidings.content.formats.parse import parse_feed

FORMS: dict[str, Callable[[list[str]], str]] = {
    "RSS": lambda dates: (
        "<rss><channel>"
        + "".join(f"<item><guid>{number}</guid><pubDate>{date}</pubDate></item>" for number, date in enumerate(dates))
        + "</channel></rss>"
    ),
    "Atom": lambda dates: (
        '<feed xmlns="http://www.w3.org/2005/Atom">'
        + "".join(f"<entry><id>{number}</id><updated>{date}</updated></entry>" for number, date in enumerate(dates))
        + "</feed>"
    ),
    "JSON": lambda dates: json.dumps(
        {"items": [{"id": str(number), "date_published": date} for number, date in enumerate(dates)]}
    ),
}
NOON = Instant(from_datetime(datetime(2026, 3, 1, 12, tzinfo=UTC)))
JANUARY_2, JANUARY_9, FEBRUARY_1 = "2026-01-02", "2026-01-09", "2026-02-01"


@pytest.mark.parametrize(
    ("written", "meant"),
    [
        (["1/25/2026 14:30", "1/2/2026", "2/1/2026"], ["2026-01-25", JANUARY_2, FEBRUARY_1]),
        (["25/1/2026 14:30", "2/1/2026", "1/2/2026"], ["2026-01-25", JANUARY_2, FEBRUARY_1]),
        (["Sun, 1-25-26", "Fri, 1-2-26"], ["2026-01-25", JANUARY_2]),
        # The order of one sign says nothing about another.
        (["1/2/2026", "1/25/2026", "02.01.2026"], [JANUARY_2, "2026-01-25", JANUARY_2]),
        # Nothing proves the order: the day is first, unless that day is still to come.
        (["2/1/2026", "9/1/2026"], [JANUARY_2, JANUARY_9]),
        (["1/9/2026", "1/2/2026"], [JANUARY_9, JANUARY_2]),
        # Both occur: each date for itself.
        (["1/25/2026", "25/1/2026", "2/1/2026"], ["2026-01-25", "2026-01-25", JANUARY_2]),
        (["06-01-02", "06-01-09"], ["2006-01-02", "2006-01-09"]),
    ],
)
@pytest.mark.parametrize("form", FORMS)
def test_the_dates_of_a_feed_decide_on_month_and_day_together(form: str, written: list[str], meant: list[str]) -> None:
    body = FORMS[form]([f"  {each}\n" for each in written])

    feed = parse_feed(body.encode(), url="https://news.example/feed", now=Instant(NOON))

    dates = [None if each.published_at is None else to_datetime(each.published_at) for each in feed.entries]
    assert [f"{each:%Y-%m-%d}" for each in dates if each] == meant
