"""Guessing gets slow; nobody is locked out for good."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from tidings.domain.accounts.throttle import (
    LONGEST_WAIT,
    MOST_LANES,
    UNDER_WAY_AT_MOST,
    Lane,
    Tally,
    Throttle,
    lanes_of,
    network_of,
)
from tidings.domain.times import SECOND, Instant

NOW = Instant(1_790_000_000_000_000)
HOME = "192.0.2.1"
ALICE = lanes_of("alice", HOME)


def after(failures: int, lanes: Sequence[Lane] = ALICE) -> dict[bytes, Tally]:
    return {lane.key: Tally(failures, NOW) for lane in lanes}


def waits(lanes: Sequence[Lane], tallies: dict[bytes, Tally], attempts: int) -> list[float]:
    """In seconds, of attempts one after the other."""
    throttle = Throttle()
    found = []
    for _ in range(attempts):
        turn = throttle.take_turn(lanes, tallies, NOW)
        found.append(turn.wait / SECOND)
        if not turn.is_refused:
            throttle.end(lanes, NOW)
    return found


def test_a_few_mistakes_cost_nothing() -> None:
    assert waits(ALICE, after(4), 3) == [0, 0, 0]


def test_further_attempts_wait_for_each_other_and_longer_each_time() -> None:
    assert [waits(ALICE, after(failures), 2)[1] for failures in range(5, 11)] == [0.5, 1, 2, 4, 8, 8]


def test_what_would_wait_for_long_is_refused() -> None:
    throttle = Throttle()
    turns = [throttle.take_turn(ALICE, after(30), NOW) for _ in range(6)]

    assert [turn.is_refused for turn in turns] == [False, False, False, True, True, True]
    assert turns[3].wait > LONGEST_WAIT


def test_the_name_is_slow_wherever_it_is_tried_and_the_network_whatever_name_it_tries() -> None:
    tallies = after(20)

    assert waits(lanes_of("alice", "198.51.100.1"), tallies, 3) == [0, 8, 16]
    assert waits(lanes_of("bob", HOME), tallies, 3) == [0, 1, 2]
    assert waits(lanes_of("bob", "198.51.100.1"), tallies, 3) == [0, 0, 0]


def test_a_browser_that_is_known_waits_for_nobody_else_but_may_not_guess_either() -> None:
    known = lanes_of("alice", HOME, "some id")

    assert waits(known, after(30), 3) == [0, 0, 0]
    assert waits(known, after(30, known), 3) == [0, 8, 16]


def test_attempts_sent_at_once_count_before_they_are_answered() -> None:
    throttle = Throttle()

    turns = [throttle.take_turn(ALICE, {}, NOW) for _ in range(24)]

    assert sum(turn.wait == 0 for turn in turns) == 14
    assert turns[-1].is_refused


def test_an_attempt_that_never_ended_is_forgotten() -> None:
    throttle = Throttle()
    for _ in range(13):
        throttle.take_turn(ALICE, {}, NOW)

    later = Instant(NOW + UNDER_WAY_AT_MOST)
    assert [throttle.take_turn(ALICE, {}, later).wait for _ in range(3)] == [0, 0, 0]


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("2600:3c00:1:2::1", "2600:3c00:1:2:ffff::9"),
        ("192.0.2.1", "::ffff:192.0.2.1"),
        ("2600:3C00:0001:2::1", "2600:3c00:1:2:0:0:0:1"),
        ("fe80::1%eth0", "fe80::2"),
    ],
)
def test_addresses_of_one_customer_are_one_network(one: str, other: str) -> None:
    assert network_of(one) == network_of(other)


def test_other_networks_are_others() -> None:
    networks = ["2600:3c00:1:2::1", "2600:3c00:1:3::1", "192.0.2.1", "192.0.2.2", "unknown", ""]

    assert len({network_of(address) for address in networks}) == len(networks)


def test_a_name_is_one_however_it_is_spelled() -> None:
    assert lanes_of("ALICE", HOME) == lanes_of(" \uff41lice ", HOME) == ALICE


def test_made_up_names_do_not_fill_the_memory() -> None:
    throttle = Throttle()
    for number in range(MOST_LANES + 100):
        lanes = lanes_of(f"user{number}", HOME)
        throttle.take_turn(lanes, {lanes[0].key: Tally(9, Instant(0))}, Instant(NOW + number * 60 * SECOND))

    assert len(throttle._next_turn) < MOST_LANES
    assert len(throttle._under_way) < MOST_LANES
