"""Estimating how often a feed publishes."""

from __future__ import annotations

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tidings.base.times import DAY, HOUR, MINUTE, SECOND, Instant
from tidings.domain.polling.check_times import (
    DEFAULT_GAP_S,
    MAX_GAP_S,
    PublishRate,
    default_rate,
    rate_of_document,
    update_rate,
)

NOW = Instant(1_795_250_409_000_000)
DATES = st.lists(st.none() | st.integers(0, 2**52).map(Instant), max_size=50)


def ago(time: int) -> Instant:
    return Instant(NOW - time)


@pytest.mark.parametrize("gap", [10 * MINUTE, HOUR, DAY, 7 * DAY])
def test_the_rate_is_estimated_from_the_dates_of_a_document(gap: int) -> None:
    found = rate_of_document([ago(number * gap) for number in range(20)], NOW)

    assert found.gap_now_s(NOW) == pytest.approx(gap / SECOND, rel=0.25)


def test_a_document_with_only_old_dates_has_the_longest_gap() -> None:
    found = rate_of_document([ago(400 * DAY + number * HOUR) for number in range(20)], NOW)

    assert found.gap_now_s(NOW) == MAX_GAP_S


@pytest.mark.parametrize("dates", [[], [None, None]])
def test_a_document_without_dates_has_the_default_rate(dates: list[Instant | None]) -> None:
    assert rate_of_document(dates, NOW) == default_rate(NOW) == PublishRate(DEFAULT_GAP_S, NOW)


def test_entries_that_appear_at_once_are_one_update() -> None:
    one = rate_of_document([ago(DAY), NOW], NOW)
    many = rate_of_document([ago(DAY), ago(DAY + 1), ago(DAY + MINUTE), *(ago(number) for number in range(50))], NOW)

    assert many.gap_s == pytest.approx(one.gap_s, rel=0.01)
    known = PublishRate(86_400, ago(DAY))
    assert update_rate(known, [None] * 40, since=ago(HOUR), now=NOW) == update_rate(
        known, [ago(40 * DAY)], since=ago(HOUR), now=NOW
    )


@pytest.mark.parametrize("gap", [20 * MINUTE, 3 * HOUR, DAY, 7 * DAY])
def test_a_wrong_initial_rate_converges_to_the_true_one(gap: int) -> None:
    """A feed with a steady rate, checked every hour for 300 days."""
    rng, rate, at, next_news = random.Random(7), PublishRate(100_000, NOW), NOW, NOW + gap
    seen = []
    for _ in range(24 * 300):
        since, at = at, Instant(at + HOUR)
        news = []
        while next_news <= at:
            news.append(Instant(next_news))
            next_news += round(gap * rng.uniform(0.5, 1.5))
        if news:
            rate = update_rate(rate, news, since=since, now=at)
        seen.append(rate.gap_now_s(at))

    typical = sorted(seen[24 * 150 :])[24 * 75]
    assert typical == pytest.approx(gap / SECOND, rel=0.3)


def test_an_unknown_rate_is_estimated_from_the_first_document() -> None:
    dates = [ago(number * DAY) for number in range(10)]

    assert update_rate(PublishRate(), dates, since=ago(HOUR), now=NOW) == rate_of_document(dates, NOW)


@pytest.mark.slow
@given(DATES)
def test_any_dates_give_a_rate_within_its_limits(dates: list[Instant | None]) -> None:
    found = rate_of_document(dates, NOW)

    assert found.is_known
    assert 1 <= found.gap_s <= MAX_GAP_S
    assert found.news_at is not None
    assert found.news_at <= NOW
    later = update_rate(found, dates, since=ago(DAY), now=Instant(NOW + DAY))
    assert 1 <= later.gap_s <= MAX_GAP_S


@pytest.mark.slow
@given(DATES.filter(bool), st.integers(1, MAX_GAP_S), st.integers(0, 1000))
def test_new_entries_never_make_the_gap_longer(dates: list[Instant | None], gap_s: int, days: int) -> None:
    before = PublishRate(gap_s, ago(days * DAY))

    after = update_rate(before, dates, since=ago(HOUR), now=NOW)

    assert after.gap_now_s(NOW) <= before.gap_now_s(NOW) + 1


@pytest.mark.slow
@given(st.lists(st.integers(0, 1000).map(lambda hours: ago(hours * HOUR))), st.randoms())
def test_the_order_of_entries_does_not_matter(dates: list[Instant], rng: random.Random) -> None:
    shuffled = list(dates)
    rng.shuffle(shuffled)

    assert rate_of_document(shuffled, NOW) == rate_of_document(dates, NOW)
