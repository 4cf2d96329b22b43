"""When a feed is checked next."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tidings.domain.feeds.feeds import PublisherHints
from tidings.domain.polling import polling_hints
from tidings.domain.polling.next_check import (
    AFTER_PROMISE,
    LONGEST,
    Schedule,
    Scheduler,
    Wishes,
    after_change,
    after_check,
    after_failed_check,
    interval,
    outside_excluded,
    while_down,
)
from tidings.domain.polling.publish_rate import LONGEST_GAP_S, PublishRate
from tidings.domain.times import DAY, HOUR, MINUTE, SECOND, Instant, from_datetime

# A Wednesday, 10:15 in UTC.
NOW = from_datetime(datetime(2026, 11, 18, 10, 15, tzinfo=UTC))
EVEN = Schedule(scheduler=Scheduler.ROUND_ROBIN)
UNKNOWN = PublishRate()
# In the middle, where jitter changes nothing.
MIDDLE = 0.5


def habit(gap: int) -> PublishRate:
    return PublishRate(gap // SECOND, NOW)


CHANCES = st.floats(0, 1, exclude_max=True)
MINUTES = st.integers(1, 43_200).map(lambda count: timedelta(minutes=count))
SCHEDULES = st.builds(
    Schedule,
    scheduler=st.sampled_from(Scheduler),
    usual=MINUTES,
    shortest=MINUTES,
    longest=MINUTES,
    factor=st.integers(1, 1000),
    even_shortest=MINUTES,
    even_longest=MINUTES,
)
HABITS = st.just(UNKNOWN) | st.builds(
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
WISHES = st.builds(Wishes, HINTS, SECONDS, SECONDS)


@pytest.mark.parametrize(
    ("wishes", "wait"),
    [
        (Wishes(), HOUR),
        (Wishes(PublisherHints(ttl_minutes=180)), 3 * HOUR),
        (Wishes(PublisherHints(ttl_minutes=5)), HOUR),
        (Wishes(PublisherHints(update_minutes=90)), 90 * MINUTE),
        (Wishes(PublisherHints(ttl_minutes=90), 7200), 2 * HOUR),
        (Wishes(PublisherHints(ttl_minutes=10**6)), DAY),
        (Wishes(fresh_s=2**31), DAY),
        (Wishes(retry_after_s=7200), 2 * HOUR),
        (Wishes(retry_after_s=2**31), DAY),
        (Wishes(fresh_s=0, retry_after_s=0), HOUR),
    ],
)
def test_the_longest_wish_counts_up_to_a_day(wishes: Wishes, wait: int) -> None:
    following = after_check(NOW, EVEN, UNKNOWN, wishes, chance=MIDDLE)

    assert NOW + wait <= following <= NOW + wait + AFTER_PROMISE


def test_an_update_base_says_which_moment_is_worth_waiting_for() -> None:
    noon = from_datetime(datetime(2000, 1, 1, 12, 0, tzinfo=UTC))
    daily = Wishes(PublisherHints(update_minutes=24 * 60, update_base=noon))

    following = after_check(NOW, EVEN, UNKNOWN, daily, chance=0)

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
def test_quiet_feeds_are_asked_less(gap: int, adaptive: float, by_frequency: float) -> None:
    schedules = (Schedule(), Schedule(scheduler=Scheduler.ENTRY_FREQUENCY), EVEN)

    waits = [interval(schedule, habit(gap), NOW) for schedule in schedules]

    assert waits == pytest.approx([adaptive, by_frequency, HOUR], rel=0.001)


def test_the_usual_interval_and_the_factor_move_all_others() -> None:
    often = Schedule(usual=timedelta(minutes=30))
    twice = Schedule(factor=2)

    assert interval(often, habit(2 * DAY), NOW) == interval(twice, habit(2 * DAY), NOW) == HOUR


def test_silence_alone_makes_the_interval_longer() -> None:
    waits = [interval(Schedule(), habit(2 * DAY), Instant(NOW + days * DAY)) for days in range(0, 300, 10)]

    assert waits == sorted(waits)
    assert (waits[0], waits[-1]) == (2 * HOUR, DAY)


def test_an_interval_of_the_user_is_kept_whatever_feed_and_publisher_say() -> None:
    hints = PublisherHints(ttl_minutes=600, skip_hours=frozenset(range(23)))

    following = after_check(NOW, Schedule(), habit(MINUTE), Wishes(hints, 90_000), chance=0, own_minutes=20)

    assert following == NOW + 20 * MINUTE


def test_an_interval_of_the_user_ends_where_the_publisher_wants_to_be_left_alone() -> None:
    following = after_check(NOW, Schedule(), habit(MINUTE), Wishes(retry_after_s=7200), chance=0, own_minutes=20)

    assert following == NOW + 2 * HOUR


def test_another_interval_counts_from_the_last_check() -> None:
    checked = Instant(NOW - 10 * MINUTE)

    times = [
        after_change(NOW, checked, Schedule(), habit(DAY), PublisherHints(), chance=0, own_minutes=minutes)
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
        NOW, EVEN, UNKNOWN, Wishes(retry_after_s=retry_after_s), failures=failures, chance=MIDDLE
    )

    assert NOW + wait <= following <= NOW + wait + AFTER_PROMISE


def test_a_failure_of_a_lively_feed_is_soon_forgotten_and_a_quiet_one_is_not_left_for_a_day() -> None:
    waits = [
        after_failed_check(NOW, Schedule(), habit(gap), failures=1, chance=MIDDLE) - NOW
        for gap in (MINUTE, 12 * HOUR, 3000 * DAY)
    ]

    assert waits == [5 * MINUTE, HOUR, HOUR]


def test_cache_headers_of_an_error_are_heard_too() -> None:
    following = after_failed_check(NOW, EVEN, UNKNOWN, Wishes(fresh_s=4 * 3600), failures=1, chance=0)

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
def test_excluded_hours_and_days_are_left_out_unless_nothing_is_left(
    hours: frozenset[int], days: frozenset[int], expected: tuple[int, int, int]
) -> None:
    hints = PublisherHints(skip_hours=hours, skip_days=days)
    day, hour, minute = expected

    at = outside_excluded(NOW, hints, 0.5)

    assert at == from_datetime(datetime(2026, 11, day, hour, minute, tzinfo=UTC))


def test_feeds_that_came_together_are_spread_over_the_whole_interval() -> None:
    waits = [after_check(NOW, EVEN, UNKNOWN, chance=n / 100, is_first=True, own_minutes=0) - NOW for n in range(100)]
    adaptive = [after_check(NOW, Schedule(), habit(2 * DAY), chance=n / 100, is_first=True) - NOW for n in range(100)]

    assert max(waits) <= HOUR
    assert min(adaptive) == pytest.approx(12 * MINUTE)
    assert max(adaptive) == pytest.approx(2 * HOUR, rel=0.01)


def test_a_network_that_is_down_is_tried_again_soon_and_less_often_as_it_lasts() -> None:
    waits = [while_down(NOW, Instant(NOW - lasting), chance=0.5) - NOW for lasting in (0, HOUR, 10 * DAY)]

    assert waits == [MINUTE, 6 * MINUTE, 30 * MINUTE]


@given(SCHEDULES, HABITS, WISHES, CHANCES, st.booleans())
def test_a_check_comes_neither_before_what_was_promised_nor_much_later(
    schedule: Schedule, known: PublishRate, wishes: Wishes, chance: float, is_first: bool
) -> None:
    following = after_check(NOW, schedule, known, wishes, chance=chance, is_first=is_first)

    promised = min(max(wishes.fresh_s or 0, wishes.retry_after_s or 0, 60 * (wishes.hints.ttl_minutes or 0)), 86_400)
    assert following >= NOW + max(promised * SECOND, 30 * SECOND)
    longest = max(interval(schedule, known, NOW) * 1.1, LONGEST + AFTER_PROMISE)
    assert following <= NOW + longest + 8 * DAY * bool(wishes.hints.skip_days or wishes.hints.skip_hours)


@given(SCHEDULES, HABITS, WISHES, CHANCES, st.integers(0, 10**6), st.just(0) | st.integers(5, 43_200))
def test_a_failed_check_is_repeated_for_ever_at_least_once_a_day(
    schedule: Schedule, known: PublishRate, wishes: Wishes, chance: float, failures: int, own_minutes: int
) -> None:
    following = after_failed_check(
        NOW, schedule, known, wishes, failures=failures, chance=chance, own_minutes=own_minutes
    )

    assert following >= NOW + min(wishes.retry_after_s or 0, 86_400) * SECOND
    first = own_minutes * MINUTE or min(interval(schedule, known, NOW), schedule.usual / timedelta(microseconds=1))
    excluded = 8 * DAY * bool(wishes.hints.skip_days or wishes.hints.skip_hours)
    assert NOW < following <= NOW + max(first, LONGEST) + AFTER_PROMISE + excluded


@given(HABITS, CHANCES, st.integers(1, 100))
def test_more_failures_never_make_the_wait_shorter(known: PublishRate, chance: float, failures: int) -> None:
    one, two = (
        after_failed_check(NOW, Schedule(), known, failures=count, chance=chance) for count in (failures, failures + 1)
    )

    assert one <= two


@given(SCHEDULES, CHANCES, st.integers(1, 10**9), st.integers(1, 10**9))
def test_who_publishes_more_is_not_asked_less(schedule: Schedule, chance: float, one: int, other: int) -> None:
    livelier, quieter = (
        after_check(NOW, schedule, PublishRate(gap, NOW), chance=chance) for gap in sorted((one, other))
    )

    assert livelier <= quieter


@given(HINTS, st.integers(0, 2**52), CHANCES)
def test_what_is_outside_of_excluded_hours_stays_there(hints: PublisherHints, at: int, chance: float) -> None:
    once = outside_excluded(Instant(at), hints, chance)

    assert once >= at
    assert outside_excluded(once, hints, chance) == once


@given(HINTS)
def test_hints_come_back_as_they_were_kept(hints: PublisherHints) -> None:
    assert polling_hints.from_text(polling_hints.to_text(hints)) == hints


@pytest.mark.parametrize("text", ["", "{", "[]", '{"ttl_minutes": "soon"}', '{"skip_days": 7}'])
def test_hints_that_cannot_be_read_are_none(text: str) -> None:
    assert polling_hints.from_text(text) == PublisherHints()


def test_nothing_said_takes_no_room() -> None:
    assert polling_hints.to_text(PublisherHints()) == ""
    assert polling_hints.to_text(PublisherHints(ttl_minutes=60)) == '{"ttl_minutes":60}'


def test_a_new_feed_is_checked_as_often_as_one_that_nothing_is_known_of() -> None:
    dead = PublishRate(gap_s=LONGEST_GAP_S, news_at=NOW)
    lively = PublishRate(gap_s=600, news_at=NOW)
    schedule = Schedule(usual=timedelta(hours=1))

    def wait(habit: PublishRate, *, is_new: bool) -> int:
        return after_check(NOW, schedule, habit, chance=0.5, is_new=is_new) - NOW

    assert wait(dead, is_new=False) == DAY
    assert wait(dead, is_new=True) == HOUR
    assert wait(lively, is_new=True) == wait(lively, is_new=False) < HOUR


@pytest.mark.parametrize("scheduler", Scheduler)
def test_whoever_wants_checks_every_minute_gets_them(scheduler: Scheduler) -> None:
    schedule = Schedule(scheduler=scheduler, usual=timedelta(minutes=1))

    assert after_check(NOW, schedule, PublishRate(), chance=0.5) - NOW == MINUTE
