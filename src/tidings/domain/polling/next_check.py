"""Computes when a feed is checked next.

the user's interval ───────────────────┐
publishing rate ─► interval ─► jitter ─┴─► not before the publisher's hints ─► not in hours it excludes ─► next check
after a failure: the interval, doubled with each failure in a row, up to a day ─► not before Retry-After

Randomness is the argument `random_fraction`, from 0 up to but not including 1. Hints of the publisher are honoured up
to a day; hours and days that it excludes may make the wait longer.
"""

from __future__ import annotations

import math
from datetime import timedelta
from enum import StrEnum

from msgspec import Struct

from tidings.base.times import DAY, HOUR, MINUTE, SECOND, Instant
from tidings.content.model import PublisherHints
from tidings.domain.polling.publish_rate import DEFAULT_GAP_S, PublishRate

# The longest wait that failures, hints and pushes lead to.
MAX_WAIT = DAY
# A feed is new for this long after it was subscribed to; until then its interval is at most the default one.
NEW_FOR = DAY
# After this many failures in a row the wait has reached MAX_WAIT, whatever the first interval was.
MAX_DOUBLINGS = 12
# With a working hub, checks only find what it did not push: the interval is this many times as long.
PUSHED_INTERVAL_FACTOR = 8
# The part by which an interval is randomly lengthened or shortened, so that feeds do not stay due together.
JITTER = 0.1
# When a publisher asks to wait until a certain time, the check follows within this time after it.
HINT_JITTER = 30 * SECOND
# How long to wait while the network is down: a tenth of the time it has been down, within these limits.
MIN_OUTAGE_WAIT = MINUTE
MAX_OUTAGE_WAIT = 30 * MINUTE

_WEEK_HOURS = 7 * 24
# 1 January 1970 was a Thursday; days are counted from Monday.
_FIRST_WEEKDAY = 3


class Scheduler(StrEnum):
    """How the interval depends on the time between updates of the feed.

    ADAPTIVE: it grows with the square root of that time, which gives the lowest average delay of new entries for a
    given number of checks. ENTRY_FREQUENCY: it is proportional to that time. ROUND_ROBIN: it is the same for all feeds.
    """

    ADAPTIVE = "adaptive"
    ENTRY_FREQUENCY = "entry_frequency"
    ROUND_ROBIN = "round_robin"


class Schedule(Struct, frozen=True, kw_only=True):
    """The operator's settings of the scheduler.

    default_interval: of a feed that publishes twice a day, and of a feed whose rate is not known.
    min_interval, max_interval: limits on an interval that follows the feed; if they conflict, `min_interval` wins.
    round_robin_min, round_robin_max: limits on the interval that is the same for all feeds.
    factor: how many times as often feeds are checked. error_limit: number of counted errors after which a feed is
    disabled, 0 for never.
    """

    scheduler: Scheduler = Scheduler.ADAPTIVE
    default_interval: timedelta = timedelta(hours=1)
    min_interval: timedelta = timedelta(minutes=5)
    max_interval: timedelta = timedelta(days=1)
    factor: int = 1
    round_robin_min: timedelta = timedelta(hours=1)
    round_robin_max: timedelta = timedelta(days=1)
    error_limit: int = 0


class PublisherRequest(Struct, frozen=True):
    """When the publisher asks to be checked.

    hints: in its document. fresh_s, retry_after_s: in the headers of this response.
    """

    hints: PublisherHints = PublisherHints()
    fresh_s: int | None = None
    retry_after_s: int | None = None


_NO_REQUEST = PublisherRequest()


def interval(schedule: Schedule, rate: PublishRate, now: Instant) -> int:
    """Returns the microseconds between two checks of a feed with this rate, before hints and jitter."""
    shortest, longest = _limits(schedule)
    default = _micros(schedule.default_interval)
    if schedule.scheduler is Scheduler.ROUND_ROBIN or not rate.is_known:
        unlimited: float = default
    elif schedule.scheduler is Scheduler.ENTRY_FREQUENCY:
        unlimited = rate.gap_now_s(now) * SECOND / schedule.factor
    else:
        unlimited = default * math.sqrt(rate.gap_now_s(now) / DEFAULT_GAP_S) / schedule.factor
    return max(shortest, min(round(unlimited), longest))


def after_check(
    now: Instant,
    schedule: Schedule,
    rate: PublishRate,
    request: PublisherRequest = _NO_REQUEST,
    *,
    random_fraction: float,
    user_interval_minutes: int = 0,
    is_first: bool = False,
    is_new: bool = False,
    is_pushed: bool = False,
) -> Instant:
    """Returns the time of the next check after one that succeeded.

    user_interval_minutes: the interval that the user set, 0 for none; with one, only Retry-After is honoured besides.
    is_new: the user subscribed less than a day ago: the interval is at most the default one, because the dates in one
    document are a weak estimate of the rate.
    is_first: the first check with a known rate: the wait is anywhere within the interval, so that feeds that were
    imported together do not stay due together.
    is_pushed: a hub pushes new entries: the interval is longer, up to the longest that is set or a day.
    """
    retry_after = _capped_micros(request.retry_after_s)
    if user_interval_minutes:
        return Instant(now + _not_before(user_interval_minutes * MINUTE, retry_after, random_fraction))
    wait = interval(schedule, rate, now)
    if is_new:
        wait = min(wait, _micros(schedule.default_interval))
    if is_pushed:
        wait = max(wait, min(wait * PUSHED_INTERVAL_FACTOR, MAX_WAIT))
    shortest, longest = _limits(schedule)
    # The limits hold after jitter too.
    wait = max(shortest, min(_spread(wait, random_fraction) if is_first else _jittered(wait, random_fraction), longest))
    requested = max(retry_after, _capped_micros(request.fresh_s), _wait_by_document(request.hints, now))
    if requested > wait:
        wait = _not_before(requested, requested, random_fraction)
    return skip_excluded_hours(Instant(now + wait), request.hints, random_fraction)


def longest_wait(schedule: Schedule) -> int:
    """Returns the most microseconds between a check and the next one of a feed that follows its publisher.

    Days that the publisher excludes come on top.
    """
    _, longest = _limits(schedule)
    return max(longest, _micros(schedule.default_interval), MAX_WAIT) + HINT_JITTER


def after_failed_check(
    now: Instant,
    schedule: Schedule,
    rate: PublishRate,
    request: PublisherRequest = _NO_REQUEST,
    *,
    failures: int,
    random_fraction: float,
    user_interval_minutes: int = 0,
) -> Instant:
    """Returns the time of the next check after one that failed. failures: in a row, this one included.

    The first wait is the feed's interval, or the default interval if that is shorter.
    """
    first = user_interval_minutes * MINUTE or min(interval(schedule, rate, now), _micros(schedule.default_interval))
    limit = max(first, MAX_WAIT)
    wait = min(_jittered(min(first * 2 ** min(max(failures - 1, 0), MAX_DOUBLINGS), limit), random_fraction), limit)
    requested = _capped_micros(request.retry_after_s)
    if not user_interval_minutes:
        requested = max(requested, _capped_micros(request.fresh_s))
    at = Instant(now + (_not_before(requested, requested, random_fraction) if requested > wait else wait))
    return at if user_interval_minutes else skip_excluded_hours(at, request.hints, random_fraction)


def after_interval_change(
    now: Instant,
    checked_at: Instant,
    schedule: Schedule,
    rate: PublishRate,
    hints: PublisherHints,
    *,
    random_fraction: float,
    user_interval_minutes: int,
) -> Instant:
    """Returns the time of the next check after the user set another interval.

    It is the time that would apply if the new interval had been set before the last check, but not before `now`.
    """
    following = after_check(
        checked_at,
        schedule,
        rate,
        PublisherRequest(hints),
        random_fraction=random_fraction,
        user_interval_minutes=user_interval_minutes,
    )
    return max(now, following)


def during_outage(now: Instant, down_since: Instant, *, random_fraction: float) -> Instant:
    """Returns the time of the next check of a feed that could not be reached because the network is down."""
    wait = max(MIN_OUTAGE_WAIT, min((now - down_since) // 10, MAX_OUTAGE_WAIT))
    return Instant(now + round(wait * (0.5 + random_fraction)))


def skip_excluded_hours(at: Instant, hints: PublisherHints, random_fraction: float) -> Instant:
    """Returns `at`, or a time in the next hour that `skipHours` and `skipDays` do not exclude.

    If they exclude every hour they are taken for a mistake and ignored. Source: RSS 2.0, "skipHours" and "skipDays"
    (UTC).
    """
    if not hints.skip_hours and not hints.skip_days:
        return at
    hour = at // HOUR
    for following in range(hour, hour + _WEEK_HOURS + 1):
        days, hour_of_day = divmod(following, 24)
        if hour_of_day not in hints.skip_hours and (days + _FIRST_WEEKDAY) % 7 not in hints.skip_days:
            # Anywhere in that hour: otherwise all delayed feeds would be due in its first second.
            return at if following == hour else Instant(following * HOUR + int(random_fraction * HOUR))
    return at


def _wait_by_document(hints: PublisherHints, now: Instant) -> int:
    requested = (hints.ttl_minutes or 0) * MINUTE
    if hints.update_minutes:
        period = hints.update_minutes * MINUTE
        # With a base, the publisher updates at base + n periods: wait for the next of these times.
        elapsed = 0 if hints.update_base is None else (now - hints.update_base) % period
        requested = max(requested, period - elapsed)
    return min(requested, MAX_WAIT)


def _capped_micros(seconds: int | None) -> int:
    return min((seconds or 0) * SECOND, MAX_WAIT)


def _not_before(wait: int, requested: int, random_fraction: float) -> int:
    return max(wait, requested) + int(random_fraction * HINT_JITTER)


def _jittered(wait: int, random_fraction: float) -> int:
    return round(wait * (1 - JITTER + 2 * JITTER * random_fraction))


def _spread(wait: int, random_fraction: float) -> int:
    return round(wait * (JITTER + (1 - JITTER) * random_fraction))


def _limits(schedule: Schedule) -> tuple[int, int]:
    is_round_robin = schedule.scheduler is Scheduler.ROUND_ROBIN
    # An operator who sets only a short default interval wants it to apply: it lowers the minimum.
    shortest = min(
        _micros(schedule.round_robin_min if is_round_robin else schedule.min_interval),
        _micros(schedule.default_interval),
    )
    return shortest, max(shortest, _micros(schedule.round_robin_max if is_round_robin else schedule.max_interval))


def _micros(duration: timedelta) -> int:
    return duration // timedelta(microseconds=1)
