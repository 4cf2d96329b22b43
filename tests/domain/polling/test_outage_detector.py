"""Telling a network that is down from hosts that are."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from tidings.domain.polling.outage_detector import ENOUGH_HOSTS, FORGET_AFTER, OutageDetector
from tidings.domain.times import SECOND, Instant

NOW = Instant(1_795_250_409_000_000)


def at(second: int) -> Instant:
    return Instant(NOW + second * SECOND)


def is_down(watch: OutageDetector) -> bool:
    return watch.down_since is not None


def test_many_hosts_in_a_row_are_an_outage_and_one_answer_ends_it() -> None:
    watch = OutageDetector()
    for number in range(20):
        watch.answered(f"good{number}", NOW)

    begun = [watch.unreached(f"host{number}", at(number)) for number in range(ENOUGH_HOSTS + 3)]

    assert begun.index(True) == ENOUGH_HOSTS - 1
    assert sum(begun) == 1
    assert watch.down_since == NOW
    assert watch.answered("host3", at(60))
    assert not is_down(watch)
    assert not watch.answered("host3", at(61))


def test_one_host_with_many_feeds_is_no_outage() -> None:
    watch = OutageDetector()

    assert not any(watch.unreached("dead", at(second)) for second in range(100))


def test_answers_in_between_prevent_an_outage() -> None:
    watch = OutageDetector()
    for number in range(ENOUGH_HOSTS):
        watch.answered(f"alive{number}", NOW)
    for number in range(100):
        assert not watch.unreached(f"dead{number}", at(number))
        if number % 5 == 4:
            watch.answered("alive", at(number))


def test_who_has_few_feeds_needs_all_their_hosts() -> None:
    watch = OutageDetector()
    for host in ("a", "b", "c", "d"):
        watch.answered(host, NOW)

    assert [watch.unreached(host, NOW) for host in ("a", "b", "c", "d")] == [False, False, False, True]


def test_two_hosts_are_too_few_to_tell() -> None:
    watch = OutageDetector()

    assert not any(watch.unreached(host, NOW) for host in ("a", "b", "a", "b"))


def test_failures_of_long_ago_are_forgotten() -> None:
    watch = OutageDetector()
    watch.unreached("a", NOW)
    watch.unreached("b", NOW)

    assert not watch.unreached("c", Instant(NOW + FORGET_AFTER))


@given(st.lists(st.tuples(st.integers(0, 30), st.booleans()), max_size=200))
def test_there_is_an_outage_only_while_nobody_answers(seen: list[tuple[int, bool]]) -> None:
    watch = OutageDetector()
    for second, (host, has_answered) in enumerate(seen):
        was_down = is_down(watch)
        if has_answered:
            assert watch.answered(str(host), at(second)) == was_down
            assert not is_down(watch)
        else:
            begins = watch.unreached(str(host), at(second))
            assert begins == (not was_down and is_down(watch))
