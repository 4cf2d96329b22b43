"""When a failed delivery is attempted again, and when it is given up.

the receiver takes nothing   its queue waits: first_wait, doubled with each failure in a row, at most max_wait
the receiver fails at it     the event steps aside: event_waits, one after another; the queue goes on
the receiver refuses it      given up

Each wait has jitter, so that deliveries that failed together are not retried together, and does not end before
Retry-After.
"""

from __future__ import annotations

from datetime import timedelta

from msgspec import Struct

from tidings.base.times import SECOND, Instant
from tidings.deliveries.events import FailureKind

# After this many failures in a row the wait has reached its maximum.
MAX_DOUBLINGS = 20
# The part by which a wait is randomly lengthened or shortened.
JITTER = 0.2
# When this many events in a row were given up, each after its own attempt, the cause is not a single event: all
# other deliveries of the same age are given up together.
GIVE_UP_ALL_AFTER = 3

# Too many requests, and what proxies answer while the server behind them is down; from 521 on as Cloudflare answers.
_RECEIVER_STATUSES = frozenset({429, 502, 503, 504, 521, 522, 523, 530})
# Request timeout and too early: the receiver asks for a repetition.
_REPEATABLE_STATUSES = frozenset({408, 425})


def failure_kind(status: int) -> FailureKind:
    """Return what failed in an attempt that the receiver answered with this status, and which is not delivered.

    A redirect, and a complaint in a response below 400, count as failures of the event.
    """
    if status in _RECEIVER_STATUSES:
        return FailureKind.RECEIVER
    if 400 <= status < 500 and status not in _REPEATABLE_STATUSES:
        return FailureKind.REFUSED
    return FailureKind.EVENT


class RetryPolicy(Struct, frozen=True, kw_only=True):
    """When a failed delivery is attempted again, and when it is given up."""

    first_wait: timedelta = timedelta(seconds=10)
    """Wait after the first failure."""
    max_wait: timedelta = timedelta(hours=1)
    """Maximum wait between two attempts."""
    give_up_after: timedelta = timedelta(days=1)
    """An event is attempted for at least this long."""
    min_failures: int = 10
    """How often a receiver fails in a row before its events are given up, however old they are.

    A clock that jumps by a day does not make an event older. Ten failures take about an hour and a half.
    """
    event_waits: tuple[timedelta, ...] = (timedelta(minutes=1), timedelta(minutes=4), timedelta(minutes=10))
    """Waits between the attempts of an event that fails alone; after one more than these it is given up."""
    failures_before_pause: int = 10
    """After so many failures of events in a row, later ones wait, too: probably the receiver fails at everything."""

    def next_attempt_at(
        self, now: Instant, failures: int, *, random_fraction: float, retry_after_s: int | None = None
    ) -> Instant:
        """Return the time of the next attempt. failures: in a row, including this one. random_fraction: from 0 to 1.

        retry_after_s: the receiver's Retry-After, honoured up to `give_up_after`. Source: RFC 9110, section 10.2.3.
        """
        return self._end_of_wait(now, self._doubled(failures), random_fraction, retry_after_s)

    def failed_tries(self, before: int, kind: FailureKind) -> int:
        """Return how many attempts of an event count as failed after one more. A timeout leaves at most one."""
        return max(before + 1, len(self.event_waits)) if kind is FailureKind.TIMEOUT else before + 1

    def retry_event_at(
        self, now: Instant, failed_tries: int, *, random_fraction: float, retry_after_s: int | None = None
    ) -> Instant | None:
        """Return when an event that failed alone is attempted again; None if it is given up."""
        if failed_tries > len(self.event_waits):
            return None
        wait = _micros(self.event_waits[failed_tries - 1])
        return self._end_of_wait(now, wait, random_fraction, retry_after_s)

    def next_event_at(self, now: Instant, failures: int, *, random_fraction: float) -> Instant:
        """Return when the event after one that failed alone is attempted. failures: of events, in a row.

        Immediately, except after `failures_before_pause`. Such a pause is never longer than the first wait of an
        event, so that events of one feed at which the receiver fails do not hold back other feeds' events for long.
        """
        if failures <= self.failures_before_pause:
            return now
        wait = min(self._doubled(failures - self.failures_before_pause), _micros(self.event_waits[0]))
        return self._end_of_wait(now, wait, random_fraction, None)

    def _doubled(self, failures: int) -> int:
        doublings = min(max(failures - 1, 0), MAX_DOUBLINGS)
        return min(_micros(self.first_wait) << doublings, _micros(self.max_wait))

    def _end_of_wait(self, now: Instant, wait: int, random_fraction: float, retry_after_s: int | None) -> Instant:
        wait = round(wait * (1 - JITTER + 2 * JITTER * random_fraction))
        requested = min((retry_after_s or 0) * SECOND, _micros(self.give_up_after))
        return Instant(now + max(wait, requested))

    def is_exhausted(self, now: Instant, *, queued_at: Instant, failing_since: Instant, failures: int) -> bool:
        """Return whether an event is given up whose attempt just failed because the receiver takes nothing.

        Both times must be at least `give_up_after` ago: an event that waited because no worker ran has not been
        attempted yet, and a new event for a receiver that has been down for long is still attempted for that long.
        failures: the receiver's failures in a row, including this one; must be at least `min_failures`.
        """
        return failures >= self.min_failures and max(queued_at, failing_since) <= self.give_up_before(now)

    def give_up_before(self, now: Instant) -> Instant:
        """Return the time before which an event must have been queued to be given up."""
        return Instant(now - _micros(self.give_up_after))


def _micros(duration: timedelta) -> int:
    return duration // timedelta(microseconds=1)
