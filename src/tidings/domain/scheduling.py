"""When a feed is checked next.

interval = the longest of: base, ttl, what HTTP promises   … never beyond a day
after a failure: base, doubled with each failure in a row, and not before Retry-After ends
"""

from __future__ import annotations

from datetime import timedelta

from tidings.domain.feeds import PublisherHints
from tidings.domain.times import DAY, MINUTE, SECOND, Instant

LONGEST = DAY
# Beyond this many failures in a row the wait has long reached a day, whatever the base.
MOST_DOUBLINGS = 12


def after_success(now: Instant, base: timedelta, hints: PublisherHints, freshness_s: int | None = None) -> Instant:
    """freshness_s: for how long the response's headers promise nothing new."""
    asked = [
        (hints.ttl_minutes or 0) * MINUTE,
        (hints.update_minutes or 0) * MINUTE,
        (freshness_s or 0) * SECOND,
    ]
    return Instant(now + min(max(_micros(base), *asked), LONGEST))


def after_failure(now: Instant, base: timedelta, failures: int, retry_after_s: int | None = None) -> Instant:
    """failures: in a row, this one included."""
    wait = min(_micros(base) * 2 ** min(max(failures - 1, 0), MOST_DOUBLINGS), LONGEST)
    return Instant(now + min(max(wait, (retry_after_s or 0) * SECOND), LONGEST))


def _micros(duration: timedelta) -> int:
    return duration // timedelta(microseconds=1)
