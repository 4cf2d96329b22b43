"""Password guessing becomes slow; no account is locked permanently."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from tidings.base.times import SECOND, Instant
from tidings.domain.accounts import throttle as accounts_throttle
from tidings.domain.accounts.throttle import (
    ATTEMPT_TIMEOUT,
    MAX_WAIT,
    NEW_BELOW,
    NEWCOMER_LANES,
    Bucket,
    FailureCount,
    Throttle,
    buckets_of,
    network_of,
)

pytestmark = pytest.mark.slow

NOW = Instant(1_790_000_000_000_000)
HOME = "192.0.2.1"
ALICE = buckets_of("alice", HOME)


def after(failures: int, buckets: Sequence[Bucket] = ALICE) -> dict[bytes, FailureCount]:
    return {bucket.key: FailureCount(failures, NOW) for bucket in buckets}


def waits(buckets: Sequence[Bucket], counts: dict[bytes, FailureCount], attempts: int) -> list[float]:
    """Return the seconds that each of several attempts, one after the other, waits."""
    throttle = Throttle()
    found = []
    for _ in range(attempts):
        decision = throttle.start_attempt(buckets, counts, NOW)
        found.append(decision.wait / SECOND)
        if not decision.is_refused:
            throttle.end_attempt(buckets, NOW)
    return found


def test_a_few_mistakes_cost_nothing() -> None:
    assert waits(ALICE, after(4), 3) == [0, 0, 0]


def test_further_attempts_wait_for_each_other_and_longer_each_time() -> None:
    assert [waits(ALICE, after(failures), 2)[1] for failures in range(5, 11)] == [0.5, 1, 2, 4, 8, 8]


def test_an_attempt_that_would_wait_too_long_is_refused() -> None:
    throttle = Throttle()
    decisions = [throttle.start_attempt(ALICE, after(30), NOW) for _ in range(6)]

    assert [decision.is_refused for decision in decisions] == [False, False, False, True, True, True]
    assert decisions[3].wait > MAX_WAIT


def test_a_name_is_slow_from_any_network_that_guesses_and_a_network_with_any_name() -> None:
    elsewhere = buckets_of("alice", "198.51.100.1")
    counts = after(20) | {elsewhere[0].key: FailureCount(NEW_BELOW, NOW)}

    assert waits(elsewhere, counts, 3) == [0, 8, 16]
    assert waits(buckets_of("bob", HOME), counts, 3) == [0, 1, 2]
    assert waits(buckets_of("bob", "198.51.100.1"), counts, 3) == [0, 0, 0]


def test_a_network_that_has_hardly_failed_does_not_wait_for_those_that_guess() -> None:
    elsewhere = buckets_of("alice", "198.51.100.1")

    for mistakes in range(NEW_BELOW):
        counts = after(500) | {elsewhere[0].key: FailureCount(mistakes, NOW)}
        assert waits(elsewhere, counts, 3) == [0, 0, 0]


def test_new_networks_of_one_neighbourhood_wait_for_each_other() -> None:
    """As many as an owner of addresses has, each of which guesses once."""
    throttle = Throttle()
    counts: dict[bytes, FailureCount] = {}
    refused = 0
    for number in range(500):
        buckets = buckets_of("alice", f"2600:3c00:1:{number:x}::1")
        if throttle.start_attempt(buckets, counts, NOW).is_refused:
            refused += 1
            continue
        for key, next_attempt in throttle.end_attempt(buckets, NOW).items():
            failures = counts[key].failures if key in counts else 0
            counts[key] = FailureCount(failures + 1, next_attempt)

    assert 500 - refused < 20
    assert len({bucket.newcomer_key for n in range(99) for bucket in buckets_of("alice", f"198.{n}.0.1")}) == (
        NEWCOMER_LANES + 1
    )


def test_a_known_browser_does_not_wait_for_other_clients_but_may_not_guess_either() -> None:
    known = buckets_of("alice", HOME, "some id")

    assert waits(known, after(30), 3) == [0, 0, 0]
    assert waits(known, after(30, known), 3) == [0, 8, 16]


def test_attempts_sent_at_once_count_before_they_are_answered() -> None:
    throttle = Throttle()

    decisions = [throttle.start_attempt(ALICE, {}, NOW) for _ in range(24)]

    assert sum(decision.wait == 0 for decision in decisions) == 14
    assert decisions[-1].is_refused


def test_an_attempt_that_never_ended_is_forgotten() -> None:
    throttle = Throttle()
    for _ in range(13):
        throttle.start_attempt(ALICE, {}, NOW)

    later = Instant(NOW + ATTEMPT_TIMEOUT)
    assert [throttle.start_attempt(ALICE, {}, later).wait for _ in range(3)] == [0, 0, 0]


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


def test_different_networks_stay_apart() -> None:
    networks = ["2600:3c00:1:2::1", "2600:3c00:1:3::1", "192.0.2.1", "192.0.2.2", "unknown", ""]

    assert len({network_of(address) for address in networks}) == len(networks)


def test_spellings_of_a_name_share_their_buckets() -> None:
    assert buckets_of("ALICE", HOME) == buckets_of(" \uff41lice ", HOME) == ALICE


def test_made_up_names_do_not_fill_the_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    most = 500
    monkeypatch.setattr(accounts_throttle, "MAX_BUCKETS", most)
    throttle = Throttle()
    for number in range(most + 100):
        buckets = buckets_of(f"user{number}", HOME)
        throttle.start_attempt(
            buckets, {buckets[0].key: FailureCount(9, Instant(0))}, Instant(NOW + number * 60 * SECOND)
        )

    assert len(throttle._next_attempt) < most
    assert len(throttle._in_progress) < most
    assert len(throttle._were_new) < most
