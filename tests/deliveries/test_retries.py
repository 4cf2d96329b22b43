"""When a delivery is attempted again."""

from __future__ import annotations

from datetime import timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tidings.base.times import DAY, HOUR, SECOND, Instant
from tidings.deliveries.events import FailureKind
from tidings.deliveries.retries import JITTER, RetryPolicy, failure_kind

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


@pytest.mark.parametrize(
    ("kind", "statuses"),
    [
        (FailureKind.RECEIVER, [429, 502, 503, 504, 521, 522, 523, 530]),
        (FailureKind.EVENT, [302, 408, 425, 500, 501, 505, 507, 520, 599]),
        (FailureKind.REFUSED, [400, 401, 403, 404, 409, 410, 413, 422, 499]),
    ],
)
def test_the_status_tells_what_failed(kind: FailureKind, statuses: list[int]) -> None:
    assert {failure_kind(status) for status in statuses} == {kind}


def test_an_event_that_fails_alone_has_three_waits() -> None:
    ends = [POLICY.retry_event_at(NOW, tries, random_fraction=0.5) for tries in range(1, 5)]

    assert [end and (end - NOW) / SECOND for end in ends] == [60, 240, 600, None]
    assert POLICY.retry_event_at(NOW, 1, random_fraction=0.5, retry_after_s=7200) == NOW + 2 * HOUR
    assert POLICY.retry_event_at(NOW, 4, random_fraction=0.5, retry_after_s=7200) is None


@pytest.mark.parametrize("before", range(5))
def test_a_timeout_leaves_at_most_one_attempt(before: int) -> None:
    tries = POLICY.failed_tries(before, FailureKind.TIMEOUT)

    assert POLICY.retry_event_at(NOW, POLICY.failed_tries(tries, FailureKind.EVENT), random_fraction=0.5) is None


def test_events_behind_one_that_fails_alone_wait_only_when_ten_failed_in_a_row() -> None:
    waits = [(POLICY.next_event_at(NOW, failures, random_fraction=0.5) - NOW) / SECOND for failures in range(1, 16)]

    assert waits == [0] * 10 + [10, 20, 40, 60, 60]
