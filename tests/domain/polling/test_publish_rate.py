"""How often a feed publishes, as far as its entries tell."""

from __future__ import annotations

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tidings.domain.polling.publish_rate import LONGEST_GAP_S, USUAL_GAP_S, PublishRate, after_news, of_document, usual
from tidings.domain.times import DAY, HOUR, MINUTE, SECOND, Instant

NOW = Instant(1_795_250_409_000_000)
DATES = st.lists(st.none() | st.integers(0, 2**52).map(Instant), max_size=50)


def ago(time: int) -> Instant:
    return Instant(NOW - time)


@pytest.mark.parametrize("gap", [10 * MINUTE, HOUR, DAY, 7 * DAY])
def test_the_dates_of_a_document_tell_how_often_it_publishes(gap: int) -> None:
    found = of_document([ago(number * gap) for number in range(20)], NOW)

    assert found.gap_now_s(NOW) == pytest.approx(gap / SECOND, rel=0.25)


def test_a_document_that_fell_silent_long_ago_is_a_quiet_feed() -> None:
    found = of_document([ago(400 * DAY + number * HOUR) for number in range(20)], NOW)

    assert found.gap_now_s(NOW) == LONGEST_GAP_S


@pytest.mark.parametrize("dates", [[], [None, None]])
def test_a_document_without_dates_is_one_like_many(dates: list[Instant | None]) -> None:
    assert of_document(dates, NOW) == usual(NOW) == PublishRate(USUAL_GAP_S, NOW)


def test_entries_that_appear_at_once_are_one_moment() -> None:
    one = of_document([ago(DAY), NOW], NOW)
    many = of_document([ago(DAY), ago(DAY + 1), ago(DAY + MINUTE), *(ago(number) for number in range(50))], NOW)

    assert many.gap_s == pytest.approx(one.gap_s, rel=0.01)
    known = PublishRate(86_400, ago(DAY))
    assert after_news(known, [None] * 40, since=ago(HOUR), now=NOW) == after_news(
        known, [ago(40 * DAY)], since=ago(HOUR), now=NOW
    )


@pytest.mark.parametrize("gap", [20 * MINUTE, 3 * HOUR, DAY, 7 * DAY])
def test_what_comes_in_keeps_the_figure_true(gap: int) -> None:
    """A steady feed, checked every hour, from a wrong beginning."""
    chance, habit, at, next_news = random.Random(7), PublishRate(100_000, NOW), NOW, NOW + gap
    seen = []
    for _ in range(24 * 300):
        since, at = at, Instant(at + HOUR)
        news = []
        while next_news <= at:
            news.append(Instant(next_news))
            next_news += round(gap * chance.uniform(0.5, 1.5))
        if news:
            habit = after_news(habit, news, since=since, now=at)
        seen.append(habit.gap_now_s(at))

    typical = sorted(seen[24 * 150 :])[24 * 75]
    assert typical == pytest.approx(gap / SECOND, rel=0.3)


def test_a_feed_that_nothing_is_known_of_learns_from_its_first_document() -> None:
    dates = [ago(number * DAY) for number in range(10)]

    assert after_news(PublishRate(), dates, since=ago(HOUR), now=NOW) == of_document(dates, NOW)


@given(DATES)
def test_any_dates_give_a_habit_that_can_be_kept(dates: list[Instant | None]) -> None:
    found = of_document(dates, NOW)

    assert found.is_known
    assert 1 <= found.gap_s <= LONGEST_GAP_S
    assert found.news_at is not None
    assert found.news_at <= NOW
    later = after_news(found, dates, since=ago(DAY), now=Instant(NOW + DAY))
    assert 1 <= later.gap_s <= LONGEST_GAP_S


@given(DATES.filter(bool), st.integers(1, LONGEST_GAP_S), st.integers(0, 1000))
def test_news_never_makes_a_feed_quieter(dates: list[Instant | None], gap_s: int, days: int) -> None:
    before = PublishRate(gap_s, ago(days * DAY))

    after = after_news(before, dates, since=ago(HOUR), now=NOW)

    assert after.gap_now_s(NOW) <= before.gap_now_s(NOW) + 1


@given(st.lists(st.integers(0, 1000).map(lambda hours: ago(hours * HOUR))), st.randoms())
def test_the_order_of_entries_does_not_matter(dates: list[Instant], chance: random.Random) -> None:
    shuffled = list(dates)
    chance.shuffle(shuffled)

    assert of_document(shuffled, NOW) == of_document(dates, NOW)
