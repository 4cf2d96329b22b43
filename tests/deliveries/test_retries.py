"""When a delivery is attempted again."""

from __future__ import annotations

from datetime import timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tidings.base.times import DAY, HOUR, SECOND, Instant
from tidings.deliveries.retries import JITTER, RetryPolicy

NOW = Instant(1_790_000_000 * SECOND)
POLICY = RetryPolicy()


def wait_s(failures: int, *, random_fraction: float = 0.5, asked: int | None = None) -> float:
    return (POLICY.next_attempt_at(NOW, failures, random_fraction=random_fraction, retry_after_s=asked) - NOW) / SECOND


def test_waits_double_up_to_an_hour() -> None:
    assert [wait_s(failures) for failures in range(1, 12)] == [
        10, 20, 40, 80, 160, 320, 640, 1280, 2560, 3600, 3600,
    ]  # fmt: skip
    assert wait_s(10_000) == 3600


def test_retry_after_is_honoured_up_to_a_day() -> None:
    assert wait_s(1, asked=300) == 300
    assert wait_s(1, asked=3) == 10
    assert wait_s(1, asked=10**9) == DAY / SECOND


@given(st.integers(1, 100), st.floats(0, 1), st.none() | st.integers(0, 10**7))
def test_jitter_changes_a_wait_by_a_limited_part(failures: int, random_fraction: float, asked: int | None) -> None:
    usual = wait_s(failures)

    assert usual * (1 - JITTER) - 1 <= wait_s(failures, random_fraction=random_fraction) <= usual * (1 + JITTER) + 1
    assert wait_s(failures, random_fraction=random_fraction, asked=asked) >= wait_s(
        failures, random_fraction=random_fraction
    )


@pytest.mark.parametrize(
    ("queued_ago", "failing_for", "failures", "is_exhausted"),
    [
        (DAY, DAY, 30, True),
        (DAY - 1, DAY, 30, False),
        (DAY, DAY - 1, 30, False),  # it waited, but nobody tried it
        (HOUR, 30 * DAY, 30, False),  # new, for a receiver that has long been down
        (30 * DAY, 0, 30, False),
        (DAY, DAY, 9, False),  # the clock jumped by a day: the receiver failed for some minutes
    ],
)
def test_an_event_is_given_up_when_it_and_the_failures_are_a_day_old(
    queued_ago: int, failing_for: int, failures: int, is_exhausted: bool
) -> None:
    since = Instant(NOW - failing_for)
    found = POLICY.is_exhausted(NOW, queued_at=Instant(NOW - queued_ago), failing_since=since, failures=failures)
    assert found is is_exhausted


def test_32_attempts_fit_into_a_day() -> None:
    moment, tries = Instant(NOW), 0
    while moment < NOW + timedelta(days=1) // timedelta(microseconds=1):
        tries += 1
        moment = POLICY.next_attempt_at(moment, tries, random_fraction=0.5)
    assert tries == 32
