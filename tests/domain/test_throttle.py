"""Guessing gets slow; nobody is locked out."""

from __future__ import annotations

from tidings.domain.throttle import FORGET_AFTER, FREE_FAILURES, LONGEST_GAP, MOST_KEYS, Throttle
from tidings.domain.times import SECOND, Instant

NOW = Instant(1_790_000_000_000_000)


def failing(times: int, throttle: Throttle | None = None, address: str = "192.0.2.1") -> Throttle:
    throttle = throttle or Throttle()
    for _ in range(times):
        throttle.failed(address, "alice", NOW)
    return throttle


def test_a_few_mistakes_cost_nothing() -> None:
    assert failing(FREE_FAILURES - 1).take_turn("192.0.2.1", "alice", NOW) == 0


def test_further_attempts_take_turns_with_growing_gaps() -> None:
    throttle = failing(FREE_FAILURES)

    waits = [throttle.take_turn("192.0.2.1", "alice", NOW) for _ in range(3)]

    assert waits == [0, SECOND // 2, SECOND]


def test_the_gap_stops_growing_and_a_queue_that_is_too_long_is_told_so() -> None:
    throttle = failing(FREE_FAILURES + 50)

    waits = [throttle.take_turn("192.0.2.1", "alice", NOW) for _ in range(5)]

    assert waits[:3] == [0, LONGEST_GAP, 2 * LONGEST_GAP]
    assert waits[-1] is None


def test_another_address_or_name_does_not_wait() -> None:
    throttle = failing(FREE_FAILURES + 50)
    throttle.take_turn("192.0.2.1", "alice", NOW)

    assert throttle.take_turn("192.0.2.2", "alice", NOW) == 0
    assert throttle.take_turn("192.0.2.1", "bob", NOW) == 0


def test_a_success_and_time_both_forget() -> None:
    throttle = failing(FREE_FAILURES + 5)
    throttle.succeeded("192.0.2.1", "alice")
    assert [throttle.take_turn("192.0.2.1", "alice", NOW) for _ in range(2)] == [0, 0]

    later = Instant(NOW + FORGET_AFTER + 1)
    throttle = failing(FREE_FAILURES + 5)
    assert [throttle.take_turn("192.0.2.1", "alice", later) for _ in range(2)] == [0, 0]


def test_a_flood_of_names_does_not_grow_the_memory() -> None:
    throttle = Throttle()
    for number in range(MOST_KEYS + 10):
        throttle.failed("192.0.2.1", f"user{number}", NOW)

    assert len(throttle._records) == MOST_KEYS
