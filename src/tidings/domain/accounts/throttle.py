"""Slows down those who guess passwords, without locking anybody out for good.

Failures are counted in lanes: of a name at one network, of a name wherever it is tried, of a network whatever name it
tries, and of a browser that signed in before. After some failures in a lane attempts take turns there, each waiting
longer than the one before; an attempt waits for the turns of all its lanes, and is refused when that is too long. What
is stored is shared by all processes; an attempt that is under way counts as a failure until it turns out otherwise, so
that many sent at once gain nothing.

A remembered browser has a lane of its own and waits for nobody else: who knows a name cannot shut its owner out.
"""

from __future__ import annotations

import hashlib
import ipaddress
from collections.abc import Mapping, Sequence
from typing import Final

from msgspec import Struct

from tidings.domain.accounts.users import normalized
from tidings.domain.times import MINUTE, SECOND, Instant

LONGEST_WAIT: Final = 20 * SECOND
FORGET_AFTER: Final = 15 * MINUTE
# An attempt that never came to an end is forgotten after this.
UNDER_WAY_AT_MOST: Final = 1 * MINUTE
# A client that signs in with several requests at once does not guess.
FREE_AT_ONCE: Final = 8
MOST_LANES: Final = 10_000
# An IPv6 customer has at least this much of the address.
_IPV6_PREFIX: Final = 64


class Lane(Struct, frozen=True):
    """key: what is stored of it. free: failures that cost nothing. longest_gap: between two turns."""

    key: bytes
    free: int
    longest_gap: int


class Tally(Struct, frozen=True):
    """What is known of a lane: failures in a row of less than FORGET_AFTER, and when the next turn is free."""

    failures: int
    next_turn_at: Instant


class Turn(Struct, frozen=True):
    """wait: microseconds until the attempt is looked at; is_refused: that would be too long."""

    wait: int
    is_refused: bool = False


def lanes_of(name: str, address: str, browser: str = "") -> tuple[Lane, ...]:
    """Returns the lanes of an attempt, the one of the pair or of the browser first.

    browser: of one that signed in as this user before, an id that it cannot make up; "" for any other.
    """
    name = normalized(name)
    if browser:
        return (Lane(_key("browser", name, browser), 5, 8 * SECOND),)
    network = network_of(address)
    return (
        Lane(_key("pair", name, network), 5, 8 * SECOND),
        Lane(_key("name", name), 12, 8 * SECOND),
        # Those who share an address are many, and seldom guess.
        Lane(_key("network", network), 12, 1 * SECOND),
    )


def network_of(address: str) -> str:
    """Returns what one customer has of addresses: an IPv4 address, or an IPv6 network of 64 bits."""
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
    """A digest: somebody may have typed their password where the name belongs."""
    return hashlib.sha256("\0".join(parts).encode("utf-8", "replace")).digest()[:16]


class Throttle:
    """The attempts of one process: those under way, and the turns they have taken. For one thread at a time."""

    def __init__(self) -> None:
        self._under_way: dict[bytes, list[Instant]] = {}
        self._next_turn: dict[bytes, Instant] = {}

    def take_turn(self, lanes: Sequence[Lane], tallies: Mapping[bytes, Tally], now: Instant) -> Turn:
        """Returns how long an attempt waits. It is under way from now on, unless it is refused.

        tallies: by the key of a lane, what is stored of those that have failures.
        """
        gaps = {lane.key: self._gap(lane, tallies.get(lane.key), now) for lane in lanes}
        taken = [self._taken(key, tallies.get(key)) for key, gap in gaps.items() if gap]
        turn = max([now, *taken])
        if turn - now > LONGEST_WAIT:
            return Turn(turn - now, is_refused=True)
        for key, gap in gaps.items():
            self._under_way.setdefault(key, []).append(now)
            if gap:
                self._next_turn[key] = Instant(turn + gap)
        self._forget(now)
        return Turn(turn - now)

    def end(self, lanes: Sequence[Lane], now: Instant) -> dict[bytes, Instant]:
        """An attempt is no longer under way. Returns when the next turn in each of its lanes is free."""
        for lane in lanes:
            if waiting := self._under_way.get(lane.key):
                waiting.pop(0)
                if not waiting:
                    del self._under_way[lane.key]
        return {lane.key: max(now, self._next_turn.get(lane.key, now)) for lane in lanes}

    def forget(self, lane: Lane) -> None:
        """After a success: whoever knows the password has not guessed it."""
        self._next_turn.pop(lane.key, None)

    def _gap(self, lane: Lane, tally: Tally | None, now: Instant) -> int:
        """Returns the microseconds between two turns of the lane, 0 as long as it needs none."""
        recent = [since for since in self._under_way.get(lane.key, ()) if now - since < UNDER_WAY_AT_MOST]
        failures = (tally.failures if tally else 0) + max(0, len(recent) - FREE_AT_ONCE)
        if failures < lane.free:
            return 0
        return int(min(SECOND // 2 * 2 ** min(failures - lane.free, 10), lane.longest_gap))

    def _taken(self, key: bytes, tally: Tally | None) -> Instant:
        stored = tally.next_turn_at if tally else Instant(0)
        return max(stored, self._next_turn.get(key, Instant(0)))

    def _forget(self, now: Instant) -> None:
        """A flood of names made up grows the memory only so far."""
        if len(self._next_turn) > MOST_LANES:
            self._next_turn = {key: turn for key, turn in self._next_turn.items() if turn > now}
        if len(self._under_way) > MOST_LANES:
            limit = now - UNDER_WAY_AT_MOST
            self._under_way = {key: since for key, since in self._under_way.items() if since[-1] > limit}
