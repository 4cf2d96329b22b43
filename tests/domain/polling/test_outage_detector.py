"""Detecting that the local network is down."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tidings.base.times import SECOND, Instant
from tidings.services.polling.lease import FORGET_AFTER, MAX_STREAK_HOSTS, OutageDetector

NOW = Instant(1_795_250_409_000_000)


def at(second: int) -> Instant:
    return Instant(NOW + second * SECOND)


def is_down(detector: OutageDetector) -> bool:
    return detector.down_since is not None


def test_many_unreachable_hosts_in_a_row_are_an_outage_and_one_response_ends_it() -> None:
    detector = OutageDetector()
    for number in range(20):
        detector.record_response(f"good{number}", NOW)

    begun = [detector.record_unreachable(f"host{number}", at(number)) for number in range(MAX_STREAK_HOSTS + 3)]

    assert begun.index(True) == MAX_STREAK_HOSTS - 1
    assert sum(begun) == 1
    assert detector.down_since == NOW
    assert detector.record_response("host3", at(60))
    assert not is_down(detector)
    assert not detector.record_response("host3", at(61))


def test_one_host_with_many_feeds_is_no_outage() -> None:
    detector = OutageDetector()

    assert not any(detector.record_unreachable("dead", at(second)) for second in range(100))


def test_responses_in_between_prevent_an_outage() -> None:
    detector = OutageDetector()
    for number in range(MAX_STREAK_HOSTS):
        detector.record_response(f"alive{number}", NOW)
    for number in range(100):
        assert not detector.record_unreachable(f"dead{number}", at(number))
        if number % 5 == 4:
            detector.record_response("alive", at(number))


def test_with_few_hosts_all_of_them_must_be_unreachable() -> None:
    detector = OutageDetector()
    for host in ("a", "b", "c", "d"):
        detector.record_response(host, NOW)

    assert [detector.record_unreachable(host, NOW) for host in ("a", "b", "c", "d")] == [False, False, False, True]


def test_two_unreachable_hosts_are_no_outage() -> None:
    detector = OutageDetector()

    assert not any(detector.record_unreachable(host, NOW) for host in ("a", "b", "a", "b"))


def test_failures_of_long_ago_are_forgotten() -> None:
    detector = OutageDetector()
    detector.record_unreachable("a", NOW)
    detector.record_unreachable("b", NOW)

    assert not detector.record_unreachable("c", Instant(NOW + FORGET_AFTER))


@pytest.mark.slow
@given(st.lists(st.tuples(st.integers(0, 30), st.booleans()), max_size=200))
def test_a_response_always_ends_an_outage(seen: list[tuple[int, bool]]) -> None:
    detector = OutageDetector()
    for second, (host, has_answered) in enumerate(seen):
        was_down = is_down(detector)
        if has_answered:
            assert detector.record_response(str(host), at(second)) == was_down
            assert not is_down(detector)
        else:
            begins = detector.record_unreachable(str(host), at(second))
            assert begins == (not was_down and is_down(detector))
