"""Slow down those who guess passwords, without ever locking anybody out.

Attempts on one name from one address take turns once several have failed: each waits longer than the one before it.
Nothing is refused for good, a success forgets the failures, and neither a remembered password nor an API key waits.
"""

from __future__ import annotations

from collections import OrderedDict

from msgspec import Struct

from tidings.domain.times import MINUTE, SECOND, Instant

FREE_FAILURES = 5
LONGEST_GAP = 8 * SECOND
LONGEST_WAIT = 20 * SECOND
FORGET_AFTER = 15 * MINUTE
MOST_KEYS = 10_000


class _Record(Struct):
    failures: int
    last: Instant
    next_turn: Instant


class Throttle:
    def __init__(self) -> None:
        self._records: OrderedDict[tuple[str, str], _Record] = OrderedDict()

    def take_turn(self, address: str, name: str, now: Instant) -> int | None:
        """Microseconds to wait before this attempt is looked at; None when too many are waiting already."""
        record = self._records.get((address, name))
        if record is None or now - record.last > FORGET_AFTER or record.failures < FREE_FAILURES:
            return 0
        gap = min(SECOND // 2 * 2 ** min(record.failures - FREE_FAILURES, 10), LONGEST_GAP)
        turn = max(now, record.next_turn)
        if turn - now > LONGEST_WAIT:
            return None
        record.next_turn = Instant(turn + gap)
        return turn - now

    def failed(self, address: str, name: str, now: Instant) -> None:
        key = (address, name)
        record = self._records.pop(key, None)
        if record is None or now - record.last > FORGET_AFTER:
            record = _Record(0, now, now)
        record.failures += 1
        record.last = now
        record.next_turn = max(record.next_turn, now)
        self._records[key] = record
        # A flood of made-up names pushes out the oldest, it does not grow the memory.
        if len(self._records) > MOST_KEYS:
            self._records.popitem(last=False)

    def succeeded(self, address: str, name: str) -> None:
        self._records.pop((address, name), None)
