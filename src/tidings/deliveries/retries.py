"""When a failed delivery is attempted again, and when it is given up.

wait = first_wait, doubled with each failure in a row, at most max_wait; with jitter, so that deliveries that failed
together are not retried together; and not before Retry-After ends
"""

from __future__ import annotations

from datetime import timedelta

from msgspec import Struct

from tidings.base.times import SECOND, Instant

# After this many failures in a row the wait has reached its maximum.
MAX_DOUBLINGS = 20
# The part by which a wait is randomly lengthened or shortened.
JITTER = 0.2
# When this many events in a row were given up, each after its own attempt, the cause is not a single event: all
# other deliveries of the same age are given up together.
GIVE_UP_ALL_AFTER = 3


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

    def next_attempt_at(
        self, now: Instant, failures: int, *, random_fraction: float, retry_after_s: int | None = None
    ) -> Instant:
        """Returns the time of the next attempt. failures: in a row, including this one. random_fraction: from 0 to 1.

        retry_after_s: the receiver's Retry-After, honoured up to `give_up_after`. Source: RFC 9110, section 10.2.3.
        """
        wait = min(_micros(self.first_wait) * 2 ** min(max(failures - 1, 0), MAX_DOUBLINGS), _micros(self.max_wait))
        wait = round(wait * (1 - JITTER + 2 * JITTER * random_fraction))
        requested = min((retry_after_s or 0) * SECOND, _micros(self.give_up_after))
        return Instant(now + max(wait, requested))

    def is_exhausted(self, now: Instant, *, queued_at: Instant, failing_since: Instant, failures: int) -> bool:
        """Returns whether an event whose attempt just failed is given up.

        Both times must be at least `give_up_after` ago: an event that waited because no worker ran has not been
        attempted yet, and a new event for a receiver that has been down for long is still attempted for that long.
        failures: the receiver's failures in a row, including this one; must be at least `min_failures`.
        """
        return failures >= self.min_failures and max(queued_at, failing_since) <= self.give_up_before(now)

    def give_up_before(self, now: Instant) -> Instant:
        """Returns the time before which an event must have been queued to be given up."""
        return Instant(now - _micros(self.give_up_after))


def _micros(duration: timedelta) -> int:
    return duration // timedelta(microseconds=1)
