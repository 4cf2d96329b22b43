"""When a feed is checked next."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tidings.base.times import DAY, HOUR, MINUTE, SECOND, Instant, from_datetime
from tidings.content.model import PublisherHints
from tidings.domain.polling import check_times
from tidings.domain.polling.check_times import (
    HINT_JITTER,
    MAX_GAP_S,
    MAX_WAIT,
    PublisherRequest,
    PublishRate,
    Schedule,
    Scheduler,
    after_check,
    after_failed_check,
    after_interval_change,
    during_outage,
    interval,
    skip_excluded_hours,
)

# A Wednesday, 10:15 in UTC.
NOW = from_datetime(datetime(2026, 11, 18, 10, 15, tzinfo=UTC))
ROUND_ROBIN = Schedule(scheduler=Scheduler.ROUND_ROBIN)
UNKNOWN = PublishRate()
# In the middle, where jitter changes nothing.
MIDDLE = 0.5


def rate(gap: int) -> PublishRate:
    return PublishRate(gap // SECOND, NOW)


FRACTIONS = st.floats(0, 1, exclude_max=True)
MINUTES = st.integers(1, 43_200).map(lambda count: timedelta(minutes=count))
SCHEDULES = st.builds(
    Schedule,
    scheduler=st.sampled_from(Scheduler),
    default_interval=MINUTES,
    min_interval=MINUTES,
    max_interval=MINUTES,
    factor=st.integers(1, 1000),
    round_robin_min=MINUTES,
    round_robin_max=MINUTES,
)
RATES = st.just(UNKNOWN) | st.builds(
    PublishRate, st.integers(1, 10**9), st.integers(0, 4000).map(lambda days: Instant(NOW - days * DAY))
)
HINTS = st.builds(
    PublisherHints,
    ttl_minutes=st.none() | st.integers(0, 10**6),
    update_minutes=st.none() | st.integers(1, 10**6),
    update_base=st.none() | st.integers(0, 2**52).map(Instant),
    skip_hours=st.frozensets(st.integers(0, 23)),
    skip_days=st.frozensets(st.integers(0, 6)),
)
SECONDS = st.none() | st.integers(0, 2**31)
REQUESTS = st.builds(PublisherRequest, HINTS, SECONDS, SECONDS)


@pytest.mark.parametrize(
    ("requested", "wait"),
    [
        (PublisherRequest(), HOUR),
        (PublisherRequest(PublisherHints(ttl_minutes=180)), 3 * HOUR),
        (PublisherRequest(PublisherHints(ttl_minutes=5)), HOUR),
        (PublisherRequest(PublisherHints(update_minutes=90)), 90 * MINUTE),
        (PublisherRequest(PublisherHints(ttl_minutes=90), 7200), 2 * HOUR),
        (PublisherRequest(PublisherHints(ttl_minutes=10**6)), DAY),
        (PublisherRequest(fresh_s=2**31), DAY),
        (PublisherRequest(retry_after_s=7200), 2 * HOUR),
        (PublisherRequest(retry_after_s=2**31), DAY),
        (PublisherRequest(fresh_s=0, retry_after_s=0), HOUR),
    ],
)
def test_the_longest_requested_wait_is_honoured_up_to_a_day(requested: PublisherRequest, wait: int) -> None:
    following = after_check(NOW, ROUND_ROBIN, UNKNOWN, requested, random_fraction=MIDDLE)

    assert NOW + wait <= following <= NOW + wait + HINT_JITTER


def test_with_an_update_base_the_check_waits_for_the_next_update() -> None:
    noon = from_datetime(datetime(2000, 1, 1, 12, 0, tzinfo=UTC))
    daily = PublisherRequest(PublisherHints(update_minutes=24 * 60, update_base=noon))

    following = after_check(NOW, ROUND_ROBIN, UNKNOWN, daily, random_fraction=0)

    assert following == NOW + HOUR + 45 * MINUTE


@pytest.mark.parametrize(
    ("gap", "adaptive", "by_frequency"),
    [
        (MINUTE, 5 * MINUTE, 5 * MINUTE),
        (15 * MINUTE, 8.66 * MINUTE, 15 * MINUTE),
        (12 * HOUR, HOUR, 12 * HOUR),
        (2 * DAY, 2 * HOUR, DAY),
        (8 * DAY, 4 * HOUR, DAY),
        (3000 * DAY, DAY, DAY),
    ],
)
def test_feeds_that_publish_less_are_checked_less_often(gap: int, adaptive: float, by_frequency: float) -> None:
    schedules = (Schedule(), Schedule(scheduler=Scheduler.ENTRY_FREQUENCY), ROUND_ROBIN)

    waits = [interval(schedule, rate(gap), NOW) for schedule in schedules]

    assert waits == pytest.approx([adaptive, by_frequency, HOUR], rel=0.001)


def test_the_default_interval_and_the_factor_scale_all_intervals() -> None:
    often = Schedule(default_interval=timedelta(minutes=30))
    twice = Schedule(factor=2)

    assert interval(often, rate(2 * DAY), NOW) == interval(twice, rate(2 * DAY), NOW) == HOUR


def test_the_interval_grows_while_a_feed_has_no_new_entries() -> None:
    waits = [interval(Schedule(), rate(2 * DAY), Instant(NOW + days * DAY)) for days in range(0, 300, 10)]

    assert waits == sorted(waits)
    assert (waits[0], waits[-1]) == (2 * HOUR, DAY)


def test_an_interval_of_the_user_overrides_rate_and_hints() -> None:
    hints = PublisherHints(ttl_minutes=600, skip_hours=frozenset(range(23)))

    following = after_check(
        NOW, Schedule(), rate(MINUTE), PublisherRequest(hints, 90_000), random_fraction=0, user_interval_minutes=20
    )

    assert following == NOW + 20 * MINUTE


def test_retry_after_overrides_an_interval_of_the_user() -> None:
    following = after_check(
        NOW,
        Schedule(),
        rate(MINUTE),
        PublisherRequest(retry_after_s=7200),
        random_fraction=0,
        user_interval_minutes=20,
    )

    assert following == NOW + 2 * HOUR


def test_a_new_user_interval_counts_from_the_last_check() -> None:
    checked = Instant(NOW - 10 * MINUTE)

    times = [
        after_interval_change(
            NOW, checked, Schedule(), rate(DAY), PublisherHints(), random_fraction=0, user_interval_minutes=minutes
        )
        for minutes in (5, 30)
    ]

    assert times == [NOW, NOW + 20 * MINUTE]


@pytest.mark.parametrize(
    ("failures", "retry_after_s", "wait"),
    [(1, None, HOUR), (2, None, 2 * HOUR), (3, None, 4 * HOUR), (6, None, DAY), (10**6, None, DAY), (1, 7200, 2 * HOUR),
     (1, 0, HOUR), (1, 10**9, DAY), (0, None, HOUR)],
)  # fmt: skip
def test_failures_in_a_row_double_the_wait_up_to_a_day(failures: int, retry_after_s: int | None, wait: int) -> None:
    following = after_failed_check(
        NOW,
        ROUND_ROBIN,
        UNKNOWN,
        PublisherRequest(retry_after_s=retry_after_s),
        failures=failures,
        random_fraction=MIDDLE,
    )

    assert NOW + wait <= following <= NOW + wait + HINT_JITTER


def test_the_wait_after_a_failure_is_the_interval_but_at_most_the_default() -> None:
    waits = [
        after_failed_check(NOW, Schedule(), rate(gap), failures=1, random_fraction=MIDDLE) - NOW
        for gap in (MINUTE, 12 * HOUR, 3000 * DAY)
    ]

    assert waits == [5 * MINUTE, HOUR, HOUR]


def test_cache_headers_of_an_error_are_honoured() -> None:
    following = after_failed_check(
        NOW, ROUND_ROBIN, UNKNOWN, PublisherRequest(fresh_s=4 * 3600), failures=1, random_fraction=0
    )

    assert following == NOW + 4 * HOUR


@pytest.mark.parametrize(
    ("hours", "days", "expected"),
    [
        (frozenset(), frozenset(), (18, 10, 15)),
        (frozenset({9, 11}), frozenset({0}), (18, 10, 15)),
        (frozenset({10, 11}), frozenset(), (18, 12, 30)),
        (frozenset(), frozenset({2, 3}), (20, 0, 30)),
        (frozenset(range(1, 24)), frozenset({3}), (20, 0, 30)),
        (frozenset(range(24)), frozenset(), (18, 10, 15)),
        (frozenset(), frozenset(range(7)), (18, 10, 15)),
    ],
)
def test_excluded_hours_and_days_are_skipped_unless_all_are_excluded(
    hours: frozenset[int], days: frozenset[int], expected: tuple[int, int, int]
) -> None:
    hints = PublisherHints(skip_hours=hours, skip_days=days)
    day, hour, minute = expected

    at = skip_excluded_hours(NOW, hints, 0.5)

    assert at == from_datetime(datetime(2026, 11, day, hour, minute, tzinfo=UTC))


def test_first_checks_are_spread_over_the_whole_interval() -> None:
    waits = [
        after_check(NOW, ROUND_ROBIN, UNKNOWN, random_fraction=n / 100, is_first=True, user_interval_minutes=0) - NOW
        for n in range(100)
    ]
    adaptive = [
        after_check(NOW, Schedule(), rate(2 * DAY), random_fraction=n / 100, is_first=True) - NOW for n in range(100)
    ]

    assert max(waits) <= HOUR
    assert min(adaptive) == pytest.approx(12 * MINUTE)
    assert max(adaptive) == pytest.approx(2 * HOUR, rel=0.01)


def test_the_wait_during_an_outage_grows_from_a_minute_to_half_an_hour() -> None:
    waits = [during_outage(NOW, Instant(NOW - lasting), random_fraction=0.5) - NOW for lasting in (0, HOUR, 10 * DAY)]

    assert waits == [MINUTE, 6 * MINUTE, 30 * MINUTE]


@pytest.mark.slow
@given(SCHEDULES, RATES, REQUESTS, FRACTIONS, st.booleans())
def test_a_check_is_neither_before_the_requested_time_nor_much_later(
    schedule: Schedule, known: PublishRate, requested: PublisherRequest, random_fraction: float, is_first: bool
) -> None:
    following = after_check(NOW, schedule, known, requested, random_fraction=random_fraction, is_first=is_first)

    promised = min(
        max(requested.fresh_s or 0, requested.retry_after_s or 0, 60 * (requested.hints.ttl_minutes or 0)), 86_400
    )
    assert following >= NOW + max(promised * SECOND, 30 * SECOND)
    longest = max(interval(schedule, known, NOW) * 1.1, MAX_WAIT + HINT_JITTER)
    assert following <= NOW + longest + 8 * DAY * bool(requested.hints.skip_days or requested.hints.skip_hours)


@pytest.mark.slow
@given(SCHEDULES, RATES, REQUESTS, FRACTIONS, st.integers(0, 10**6), st.just(0) | st.integers(5, 43_200))
def test_a_failing_feed_is_checked_at_least_once_a_day(
    schedule: Schedule,
    known: PublishRate,
    requested: PublisherRequest,
    random_fraction: float,
    failures: int,
    user_interval_minutes: int,
) -> None:
    following = after_failed_check(
        NOW,
        schedule,
        known,
        requested,
        failures=failures,
        random_fraction=random_fraction,
        user_interval_minutes=user_interval_minutes,
    )

    assert following >= NOW + min(requested.retry_after_s or 0, 86_400) * SECOND
    first = user_interval_minutes * MINUTE or min(
        interval(schedule, known, NOW), schedule.default_interval / timedelta(microseconds=1)
    )
    excluded = 8 * DAY * bool(requested.hints.skip_days or requested.hints.skip_hours)
    assert NOW < following <= NOW + max(first, MAX_WAIT) + HINT_JITTER + excluded


@given(RATES, FRACTIONS, st.integers(1, 100))
def test_more_failures_never_make_the_wait_shorter(known: PublishRate, random_fraction: float, failures: int) -> None:
    one, two = (
        after_failed_check(NOW, Schedule(), known, failures=count, random_fraction=random_fraction)
        for count in (failures, failures + 1)
    )

    assert one <= two


@pytest.mark.slow
@given(SCHEDULES, FRACTIONS, st.integers(1, 10**9), st.integers(1, 10**9))
def test_a_feed_that_publishes_more_is_not_checked_less(
    schedule: Schedule, random_fraction: float, one: int, other: int
) -> None:
    livelier, quieter = (
        after_check(NOW, schedule, PublishRate(gap, NOW), random_fraction=random_fraction)
        for gap in sorted((one, other))
    )

    assert livelier <= quieter


@pytest.mark.slow
@given(HINTS, st.integers(0, 2**52), FRACTIONS)
def test_a_time_outside_excluded_hours_is_not_moved(hints: PublisherHints, at: int, random_fraction: float) -> None:
    once = skip_excluded_hours(Instant(at), hints, random_fraction)

    assert once >= at
    assert skip_excluded_hours(once, hints, random_fraction) == once


@pytest.mark.slow
@given(HINTS)
def test_stored_hints_are_read_back_unchanged(hints: PublisherHints) -> None:
    assert check_times.hints_from_text(check_times.hints_to_text(hints)) == hints


@pytest.mark.parametrize("text", ["", "{", "[]", '{"ttl_minutes": "soon"}', '{"skip_days": 7}'])
def test_hints_that_cannot_be_read_are_none(text: str) -> None:
    assert check_times.hints_from_text(text) == PublisherHints()


def test_absent_hints_are_stored_as_an_empty_text() -> None:
    assert check_times.hints_to_text(PublisherHints()) == ""
    assert check_times.hints_to_text(PublisherHints(ttl_minutes=60)) == '{"ttl_minutes":60}'


def test_a_new_feed_is_checked_at_least_at_the_default_interval() -> None:
    dead = PublishRate(gap_s=MAX_GAP_S, news_at=NOW)
    lively = PublishRate(gap_s=600, news_at=NOW)
    schedule = Schedule(default_interval=timedelta(hours=1))

    def wait(rate: PublishRate, *, is_new: bool) -> int:
        return after_check(NOW, schedule, rate, random_fraction=0.5, is_new=is_new) - NOW

    assert wait(dead, is_new=False) == DAY
    assert wait(dead, is_new=True) == HOUR
    assert wait(lively, is_new=True) == wait(lively, is_new=False) < HOUR


@pytest.mark.parametrize("scheduler", Scheduler)
def test_a_default_interval_of_a_minute_overrides_the_minimum(scheduler: Scheduler) -> None:
    schedule = Schedule(scheduler=scheduler, default_interval=timedelta(minutes=1))

    assert after_check(NOW, schedule, PublishRate(), random_fraction=0.5) - NOW == MINUTE
