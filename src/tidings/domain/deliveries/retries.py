"""When a delivery that failed is tried again, and when it is given up.

wait = first, doubled with each failure in a row, settling at longest; a little more or less, so that many that failed
together do not come back together; and not before Retry-After ends
"""

from __future__ import annotations

from datetime import timedelta

from msgspec import Struct

from tidings.domain.times import SECOND, Instant

# Beyond this many failures in a row the wait has long settled.
MAX_DOUBLINGS = 20
# A wait may turn out this part longer or shorter.
JITTER = 0.2
# So many events in a row that were given up, each after a try of its own: then it is not the event, and what else is
# as old goes with them.
GIVE_UP_ALL_AFTER = 3


class RetryPolicy(Struct, frozen=True, kw_only=True):
    """first_wait, max_wait: between two attempts. give_up_after: how long an event is tried for, at least."""

    first_wait: timedelta = timedelta(seconds=10)
    max_wait: timedelta = timedelta(hours=1)
    give_up_after: timedelta = timedelta(days=1)

    def next_attempt_at(
        self, now: Instant, failures: int, *, random_fraction: float, retry_after_s: int | None = None
    ) -> Instant:
        """Return when to try again. failures: in a row, this one included. random_fraction: from 0 to 1.

        retry_after_s: the receiver's Retry-After, honoured up to `give_up_after`. Source: RFC 9110, section 10.2.3.
        """
        wait = min(_micros(self.first_wait) * 2 ** min(max(failures - 1, 0), MAX_DOUBLINGS), _micros(self.max_wait))
        wait = round(wait * (1 - JITTER + 2 * JITTER * random_fraction))
        asked = min((retry_after_s or 0) * SECOND, _micros(self.give_up_after))
        return Instant(now + max(wait, asked))

    def is_exhausted(self, now: Instant, *, queued_at: Instant, failing_since: Instant) -> bool:
        """Return whether an event whose attempt just failed is given up.

        Both have to be old: an event that waited because no worker ran has not been tried, and one that just came to a
        receiver that has long been down has its day before it.
        """
        return max(queued_at, failing_since) <= self.give_up_before(now)

    def give_up_before(self, now: Instant) -> Instant:
        return Instant(now - _micros(self.give_up_after))


def _micros(duration: timedelta) -> int:
    return duration // timedelta(microseconds=1)
