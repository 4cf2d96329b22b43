"""Slows down password guessing without locking an account permanently.

An attempt belongs to several buckets, and each bucket counts failures: one for the name at this network, one for the
name at any network, one for the network with any name; a browser that has signed in before has a bucket of its own.
After some failures in a bucket its attempts are spaced: each waits longer than the one before. An attempt waits until
all its buckets allow it, and is refused when the wait would be too long. The stored counts are shared by all
processes. An attempt in progress counts as a failure until it has ended, so that many attempts sent at once gain
nothing.

A known browser waits for no other bucket: an attacker who knows a name cannot shut its owner out.
"""

from __future__ import annotations

import hashlib
import ipaddress
from collections.abc import Mapping, Sequence
from typing import Final

from msgspec import Struct

from tidings.domain.accounts.users import normalize_username
from tidings.domain.times import MINUTE, SECOND, Instant

MAX_WAIT: Final = 20 * SECOND
FORGET_AFTER: Final = 15 * MINUTE
# An attempt in progress that never ended no longer counts after this time.
ATTEMPT_TIMEOUT: Final = 1 * MINUTE
# A client that signs in with several requests at once does not guess.
FREE_CONCURRENT_ATTEMPTS: Final = 8
MAX_BUCKETS: Final = 10_000
# An IPv6 customer has at least this much of the address.
_IPV6_PREFIX: Final = 64


class Bucket(Struct, frozen=True):
    """What failures are counted for.

    key: digest under which the count is stored (column `lane`). free_failures: failures before attempts have to wait.
    max_gap: longest time between two attempts, in microseconds.
    """

    key: bytes
    free_failures: int
    max_gap: int


class FailureCount(Struct, frozen=True):
    """The stored state of a bucket.

    failures: in a row, each less than FORGET_AFTER after the one before.
    next_attempt_at: when the next attempt may run.
    """

    failures: int
    next_attempt_at: Instant


class ThrottleDecision(Struct, frozen=True):
    """wait: microseconds until the attempt may run. is_refused: the wait is longer than MAX_WAIT."""

    wait: int
    is_refused: bool = False


def buckets_of(name: str, address: str, browser: str = "") -> tuple[Bucket, ...]:
    """Returns the buckets of an attempt; the first is that of the name at this network, or that of the browser.

    browser: id of a browser that signed in as this user before, which a client cannot forge; "" for any other.
    """
    name = normalize_username(name)
    if browser:
        return (Bucket(_key("browser", name, browser), 5, 8 * SECOND),)
    network = network_of(address)
    return (
        Bucket(_key("pair", name, network), 5, 8 * SECOND),
        Bucket(_key("name", name), 12, 8 * SECOND),
        network_bucket(address),
    )


def network_bucket(address: str) -> Bucket:
    """Returns the bucket of the network of an address, with any name."""
    # Many users may share an address, and few of them guess.
    return Bucket(_key("network", network_of(address)), 12, 1 * SECOND)


def network_of(address: str) -> str:
    """Returns the addresses that one customer has: an IPv4 address, or an IPv6 network of 64 bits."""
    try:
        parsed = ipaddress.ip_address(address.partition("%")[0])
    except ValueError:
        return address
    if isinstance(parsed, ipaddress.IPv6Address):
        if parsed.ipv4_mapped is None:
            return str(ipaddress.IPv6Network((parsed, _IPV6_PREFIX), strict=False))
        parsed = parsed.ipv4_mapped
    return str(parsed)


def _key(*parts: str) -> bytes:
    """Returns a digest: a user may have typed the password into the field of the name."""
    return hashlib.sha256("\0".join(parts).encode("utf-8", "replace")).digest()[:16]


class Throttle:
    """The attempts of one process: those in progress, and the times reserved by them. Not thread-safe."""

    def __init__(self) -> None:
        self._in_progress: dict[bytes, list[Instant]] = {}
        self._next_attempt: dict[bytes, Instant] = {}

    def start_attempt(
        self, buckets: Sequence[Bucket], counts: Mapping[bytes, FailureCount], now: Instant
    ) -> ThrottleDecision:
        """Returns how long an attempt waits. It is in progress from now on, unless it is refused.

        counts: by the key of a bucket; a bucket without failures is missing.
        """
        gaps = {bucket.key: self._gap(bucket, counts.get(bucket.key), now) for bucket in buckets}
        reserved = [self._reserved(key, counts.get(key)) for key, gap in gaps.items() if gap]
        starts_at = max([now, *reserved])
        if starts_at - now > MAX_WAIT:
            return ThrottleDecision(starts_at - now, is_refused=True)
        for key, gap in gaps.items():
            self._in_progress.setdefault(key, []).append(now)
            if gap:
                self._next_attempt[key] = Instant(starts_at + gap)
        self._limit_memory(now)
        return ThrottleDecision(starts_at - now)

    def end_attempt(self, buckets: Sequence[Bucket], now: Instant) -> dict[bytes, Instant]:
        """The attempt is no longer in progress. Returns when the next attempt may run, by the key of each bucket."""
        for bucket in buckets:
            if started := self._in_progress.get(bucket.key):
                started.pop(0)
                if not started:
                    del self._in_progress[bucket.key]
        return {bucket.key: max(now, self._next_attempt.get(bucket.key, now)) for bucket in buckets}

    def reset(self, bucket: Bucket) -> None:
        """Drop the reserved time of a bucket after a success: a user who knows the password has not guessed it."""
        self._next_attempt.pop(bucket.key, None)

    def _gap(self, bucket: Bucket, count: FailureCount | None, now: Instant) -> int:
        """Returns the microseconds between two attempts of the bucket, 0 while it has few failures."""
        recent = [started for started in self._in_progress.get(bucket.key, ()) if now - started < ATTEMPT_TIMEOUT]
        failures = (count.failures if count else 0) + max(0, len(recent) - FREE_CONCURRENT_ATTEMPTS)
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
