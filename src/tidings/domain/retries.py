"""When a delivery that failed is tried again, and when it is given up.

wait = first, doubled with each failure in a row, settling at longest; a little more or less, so that many that failed
together do not come back together; and not before Retry-After ends
"""

from __future__ import annotations

from datetime import timedelta

from msgspec import Struct

from tidings.domain.times import SECOND, Instant

# Beyond this many failures in a row the wait has long settled.
MOST_DOUBLINGS = 20
# A wait may turn out this part longer or shorter.
JITTER = 0.2
# So many events in a row that were given up, each after a try of its own: then it is not the event, and what else is
# as old goes with them.
GIVE_UP_ALL_AFTER = 3


class Patience(Struct, frozen=True, kw_only=True):
    """first, longest: waits between two tries. a_day: how long an event is tried for, at least."""

    first: timedelta = timedelta(seconds=10)
    longest: timedelta = timedelta(hours=1)
    a_day: timedelta = timedelta(days=1)

    def next_try(self, now: Instant, failures: int, *, chance: float, retry_after_s: int | None = None) -> Instant:
        """failures: in a row, this one included. chance: from 0 to 1, made anew for each wait.

        retry_after_s: what the receiver asked for, heard for as long as an event is tried.
        """
        wait = min(_micros(self.first) * 2 ** min(max(failures - 1, 0), MOST_DOUBLINGS), _micros(self.longest))
        wait = round(wait * (1 - JITTER + 2 * JITTER * chance))
        asked = min((retry_after_s or 0) * SECOND, _micros(self.a_day))
        return Instant(now + max(wait, asked))

    def is_over(self, now: Instant, *, queued_at: Instant, failing_since: Instant) -> bool:
        """Whether an event that just failed has been tried for long enough.

        Both have to be old: an event that waited because no worker ran has not been tried, and one that just came to a
        receiver that has long been down has its day before it.
        """
        return max(queued_at, failing_since) <= self.given_up_before(now)

    def given_up_before(self, now: Instant) -> Instant:
        return Instant(now - _micros(self.a_day))


def _micros(duration: timedelta) -> int:
    return duration // timedelta(microseconds=1)
