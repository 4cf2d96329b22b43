"""Slows down password guessing without locking an account permanently.

An attempt belongs to several buckets, and each bucket counts failures: one for the name at this network, one for the
name at any network, one for the network with any name; a browser that has signed in before has a bucket of its own.
Networks that have hardly failed with a name do not share its bucket with those that have: guessers fill their own.
After some failures in a bucket its attempts are spaced: each waits longer than the one before. An attempt waits until
all its buckets allow it, and is refused when the wait would be too long. The stored counts are shared by all
processes. An attempt in progress counts as a failure until it has ended, so that sending many attempts at the same
time gains nothing.

A known browser does not wait for any other bucket: an attacker who has a user's name cannot lock the user out.
"""

from __future__ import annotations

import ipaddress
from collections.abc import Mapping, Sequence
from typing import Final

from msgspec import Struct, structs

from tidings.base.text import digest_of
from tidings.base.times import MINUTE, SECOND, Instant
from tidings.domain.accounts.users import normalize_username

MAX_WAIT: Final = 20 * SECOND
FORGET_AFTER: Final = 15 * MINUTE
# An attempt in progress that never ended is not counted after this time.
ATTEMPT_TIMEOUT: Final = 1 * MINUTE
# Between two attempts with a code: one of a million is right, and some of them are at the same time.
MAX_CODE_GAP: Final = 8 * MINUTE
# A client that signs in with several requests at the same time is not guessing.
FREE_CONCURRENT_ATTEMPTS: Final = 8
MAX_BUCKETS: Final = 10_000
# A network with fewer failures for a name counts as new to it: its user may have mistyped.
NEW_BELOW: Final = 3
# Buckets of a name for new networks. One customer or hoster has its networks in one of them; more would let those who
# have networks everywhere guess more often.
NEWCOMER_LANES: Final = 4
# An IPv6 customer has at least this much of the address.
_IPV6_PREFIX: Final = 64
# Networks that one owner may have many of.
_IPV4_NEIGHBOURS: Final = 16
_IPV6_NEIGHBOURS: Final = 32


class Bucket(Struct, frozen=True):
    """What failures are counted for.

    key: digest under which the count is stored (column `lane`). free_failures: failures before attempts have to wait.
    max_gap: longest time between two attempts, in microseconds.
    newcomer_key: the key for attempts from networks that are new to the name; empty if they share the bucket.
    """

    key: bytes
    """The digest under which the count is stored (column `lane`)."""
    free_failures: int
    """Number of failures before attempts have to wait."""
    max_gap: int
    newcomer_key: bytes = b""

    @property
    def keys(self) -> tuple[bytes, ...]:
        return (self.key, self.newcomer_key) if self.newcomer_key else (self.key,)


class FailureCount(Struct, frozen=True):
    """The stored state of a bucket."""

    failures: int
    """Failures in a row, each less than FORGET_AFTER after the one before."""
    next_attempt_at: Instant
    """When the next attempt may run."""


class ThrottleDecision(Struct, frozen=True):
    """Whether and when a sign-in attempt may run."""

    wait: int
    """Microseconds until the attempt may run."""
    is_refused: bool = False
    """Whether the wait is longer than MAX_WAIT."""


def buckets_of(name: str, address: str, browser: str = "") -> tuple[Bucket, ...]:
    """Return the buckets of an attempt; the first is for the name at this network, or for the browser.

    browser: id of a browser that signed in as this user before, which a client cannot forge; "" for any other.
    """
    name = normalize_username(name)
    if browser:
        return (Bucket(_key("browser", name, browser), 5, 8 * SECOND),)
    network = network_of(address)
    return (
        Bucket(_key("pair", name, network), 5, 8 * SECOND),
        Bucket(_key("name", name), 12, 8 * SECOND, _key("newcomers", name, str(_lane_of(address)))),
        network_bucket(address),
    )


def secret_buckets(user_id: int, address: str, browser: str = "") -> tuple[Bucket, ...]:
    """Return the buckets of an attempt to prove who one is with a code: the second step after a right password.

    A right password does not clear them. There are few codes, so that attempts become slower than those with passwords.
    browser: see `buckets_of`.
    """
    user = str(user_id)
    if browser:
        return (Bucket(_key("code browser", user, browser), 5, MAX_CODE_GAP),)
    return (
        Bucket(_key("code pair", user, network_of(address)), 5, MAX_CODE_GAP),
        Bucket(_key("code", user), 10, MAX_CODE_GAP),
        network_bucket(address),
    )


def network_bucket(address: str) -> Bucket:
    """Return the bucket of the network of an address, with any name."""
    # Many users may share an address, and few of them guess.
    return Bucket(_key("network", network_of(address)), 12, 1 * SECOND)


def network_of(address: str) -> str:
    """Return the addresses that one customer has: an IPv4 address, or an IPv6 network of 64 bits."""
    return _prefix_of(address, 32, _IPV6_PREFIX)


def _lane_of(address: str) -> int:
    """Return the number of the lane that new networks of this address's neighbourhood share."""
    neighbours = _prefix_of(address, _IPV4_NEIGHBOURS, _IPV6_NEIGHBOURS)
    return _key("neighbours", neighbours)[0] % NEWCOMER_LANES


def _prefix_of(address: str, bits_of_ipv4: int, bits_of_ipv6: int) -> str:
    """Return the network of an address with this many leading bits; the text itself if it is not an address."""
    try:
        parsed = ipaddress.ip_address(address.partition("%")[0])
    except ValueError:
        return address
    if isinstance(parsed, ipaddress.IPv6Address) and parsed.ipv4_mapped is not None:
        parsed = parsed.ipv4_mapped
    bits = bits_of_ipv4 if isinstance(parsed, ipaddress.IPv4Address) else bits_of_ipv6
    if bits == parsed.max_prefixlen:
        return str(parsed)
    return str(ipaddress.ip_network((parsed, bits), strict=False))


def _key(*parts: str) -> bytes:
    """Return a digest: a user may have typed the password into the field of the name."""
    return digest_of("\0".join(parts))


class Throttle:
    """Limits the sign-in attempts of one process. Not thread-safe.

    Keeps the attempts in progress, and the times that they reserved.
    """

    def __init__(self) -> None:
        self._in_progress: dict[bytes, list[Instant]] = {}
        self._next_attempt: dict[bytes, Instant] = {}
        # By the key of the first bucket: for each of its attempts in progress, whether its network was new.
        self._were_new: dict[bytes, list[bool]] = {}

    def start_attempt(
        self, buckets: Sequence[Bucket], counts: Mapping[bytes, FailureCount], now: Instant
    ) -> ThrottleDecision:
        """Return how long an attempt waits. It is in progress from now on, unless it is refused.

        buckets: the first is the name's at this network. counts: by the keys of the buckets; one without failures
        is missing.
        """
        own = buckets[0].key
        is_new = self._is_new(own, counts.get(own), now)
        buckets = _for_newcomers(buckets) if is_new else buckets
        gaps = {bucket.key: self._gap(bucket, counts.get(bucket.key), now) for bucket in buckets}
        reserved = [self._reserved(key, counts.get(key)) for key, gap in gaps.items() if gap]
        starts_at = max([now, *reserved])
        if starts_at - now > MAX_WAIT:
            return ThrottleDecision(starts_at - now, is_refused=True)
        for key, gap in gaps.items():
            self._in_progress.setdefault(key, []).append(now)
            if gap:
                self._next_attempt[key] = Instant(starts_at + gap)
        self._were_new.setdefault(own, []).append(is_new)
        self._limit_memory(now)
        return ThrottleDecision(starts_at - now)

    def end_attempt(self, buckets: Sequence[Bucket], now: Instant) -> dict[bytes, Instant]:
        """End an attempt. Returns when the next attempt may run, by the key of each bucket."""
        if were_new := self._were_new.get(buckets[0].key):
            buckets = _for_newcomers(buckets) if were_new.pop(0) else buckets
            if not were_new:
                del self._were_new[buckets[0].key]
        for bucket in buckets:
            if started := self._in_progress.get(bucket.key):
                started.pop(0)
                if not started:
                    del self._in_progress[bucket.key]
        return {bucket.key: max(now, self._next_attempt.get(bucket.key, now)) for bucket in buckets}

    def reset(self, bucket: Bucket) -> None:
        """Drop the reserved time of a bucket after a success: a user who has the password was not guessing."""
        self._next_attempt.pop(bucket.key, None)

    def _is_new(self, own: bytes, count: FailureCount | None, now: Instant) -> bool:
        """Return whether a network has hardly failed with this name. Newcomers do not send many at a time."""
        return (count.failures if count else 0) < NEW_BELOW and self._recent(own, now) < FREE_CONCURRENT_ATTEMPTS

    def _recent(self, key: bytes, now: Instant) -> int:
        return sum(now - started < ATTEMPT_TIMEOUT for started in self._in_progress.get(key, ()))

    def _gap(self, bucket: Bucket, count: FailureCount | None, now: Instant) -> int:
        """Return the microseconds between two attempts of the bucket, 0 while it has few failures."""
        surplus = max(0, self._recent(bucket.key, now) - FREE_CONCURRENT_ATTEMPTS)
        failures = (count.failures if count else 0) + surplus
        if failures < bucket.free_failures:
            return 0
        return int(min(SECOND // 2 * 2 ** min(failures - bucket.free_failures, 10), bucket.max_gap))

    def _reserved(self, key: bytes, count: FailureCount | None) -> Instant:
        stored = count.next_attempt_at if count else Instant(0)
        return max(stored, self._next_attempt.get(key, Instant(0)))

    def _limit_memory(self, now: Instant) -> None:
        """Drop what has expired, so that a flood of made-up names cannot exhaust the memory."""
        if len(self._next_attempt) > MAX_BUCKETS:
            self._next_attempt = {key: moment for key, moment in self._next_attempt.items() if moment > now}
        if len(self._in_progress) > MAX_BUCKETS:
            limit = now - ATTEMPT_TIMEOUT
            self._in_progress = {key: started for key, started in self._in_progress.items() if started[-1] > limit}
            self._were_new = {key: new for key, new in self._were_new.items() if key in self._in_progress}


def _for_newcomers(buckets: Sequence[Bucket]) -> tuple[Bucket, ...]:
    """Return the buckets of an attempt from a network that is new to the name."""
    return tuple(structs.replace(each, key=each.newcomer_key) if each.newcomer_key else each for each in buckets)
