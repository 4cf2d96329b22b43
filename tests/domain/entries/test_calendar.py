"""Calendar days, spans of days and streaks."""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tidings.base.times import DAY, HOUR, from_datetime
from tidings.domain.entries.calendar import days_until, spans, streak

ZONES = ("UTC", "Europe/Berlin", "America/Havana", "Asia/Kathmandu", "Australia/Lord_Howe", "Pacific/Auckland")


def test_the_last_day_is_today_in_the_time_zone_of_the_user() -> None:
    now = from_datetime(datetime(2026, 11, 21, 23, 30, tzinfo=UTC))

    assert days_until(now, ZoneInfo("UTC"), 2) == [date(2026, 11, 20), date(2026, 11, 21)]
    assert days_until(now, ZoneInfo("Asia/Tokyo"), 1) == [date(2026, 11, 22)]


def test_a_day_on_which_clocks_change_is_a_span_of_its_own() -> None:
    berlin = ZoneInfo("Europe/Berlin")
    days = [date(2026, 10, 23) + timedelta(days=number) for number in range(5)]

    assert [(span.length, span.count) for span in spans(days, berlin)] == [(DAY, 2), (DAY + HOUR, 1), (DAY, 2)]


@pytest.mark.slow
@given(
    st.integers(946_684_800, 2_208_988_800).map(lambda seconds: datetime.fromtimestamp(seconds, UTC)),
    st.sampled_from(ZONES),
    st.integers(1, 400),
)
def test_spans_follow_each_other_and_hold_every_day(now: datetime, zone: str, count: int) -> None:
    days = days_until(from_datetime(now), ZoneInfo(zone), count)
    found = spans(days, ZoneInfo(zone))

    assert sum(span.count for span in found) == len(days) == count
    ends = [span.start + span.length * span.count for span in found]
    assert [span.start for span in found[1:]] == ends[:-1]
    assert found[0].start <= from_datetime(now) < ends[-1] or days[-1] == now.astimezone(ZoneInfo(zone)).date()


@pytest.mark.parametrize(
    ("counts", "now", "longest"),
    [
        ([], 0, 0),
        ([0], 0, 0),
        ([3], 1, 1),
        ([1, 1, 0], 2, 2),
        ([1, 1, 0, 0], 0, 2),
        ([1, 1, 0, 5], 1, 2),
        ([0, 1, 2, 3], 3, 3),
    ],
)
def test_a_streak_is_not_lost_before_the_day_is_over(counts: list[int], now: int, longest: int) -> None:
    found = streak(counts)

    assert (found.now, found.longest) == (now, longest)
