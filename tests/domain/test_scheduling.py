"""When a feed is checked next."""

from __future__ import annotations

from datetime import timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tidings.domain.feeds import PublisherHints
from tidings.domain.scheduling import LONGEST, after_failure, after_success
from tidings.domain.times import DAY, HOUR, MINUTE, Instant

NOW = Instant(1_790_000_000_000_000)
BASE = timedelta(minutes=60)


@pytest.mark.parametrize(
    ("hints", "freshness_s", "wait"),
    [
        (PublisherHints(), None, HOUR),
        (PublisherHints(ttl_minutes=180), None, 3 * HOUR),
        (PublisherHints(ttl_minutes=5), None, HOUR),
        (PublisherHints(update_minutes=90), None, 90 * MINUTE),
        (PublisherHints(ttl_minutes=90), 7200, 2 * HOUR),
        (PublisherHints(ttl_minutes=10**9), None, DAY),
        (PublisherHints(), 10**9, DAY),
    ],
)
def test_the_longest_wish_counts_up_to_a_day(hints: PublisherHints, freshness_s: int | None, wait: int) -> None:
    assert after_success(NOW, BASE, hints, freshness_s) == NOW + wait


@pytest.mark.parametrize(
    ("failures", "retry_after_s", "wait"),
    [(1, None, HOUR), (2, None, 2 * HOUR), (3, None, 4 * HOUR), (6, None, DAY), (10**6, None, DAY), (1, 7200, 2 * HOUR),
     (1, 0, HOUR), (1, 10**9, DAY), (0, None, HOUR)],
)  # fmt: skip
def test_failures_in_a_row_double_the_wait_up_to_a_day(failures: int, retry_after_s: int | None, wait: int) -> None:
    assert after_failure(NOW, BASE, failures, retry_after_s) == NOW + wait


@given(st.integers(0, 10**6), st.none() | st.integers(0, 10**9), st.integers(1, 43_200))
def test_the_next_check_is_always_ahead_and_at_most_a_day_away(
    failures: int, retry_after_s: int | None, base_minutes: int
) -> None:
    following = after_failure(NOW, timedelta(minutes=base_minutes), failures, retry_after_s)

    assert NOW < following <= NOW + LONGEST
