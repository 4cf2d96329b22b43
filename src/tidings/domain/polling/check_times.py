"""When a feed is checked next: how often it publishes, and when its publisher asks to be checked.

the user's interval ───────────────────┐
publishing rate ─► interval ─► jitter ─┴─► not before the publisher's hints ─► not in hours it excludes ─► next check
after a failure: the interval, doubled with each failure in a row, up to a day ─► not before Retry-After

Randomness is the argument `random_fraction`, from 0 up to but not including 1. Hints of the publisher are honoured up
to a day; hours and days that it excludes may make the wait longer.

The publishing rate is two numbers a feed, which each check with new entries updates. It counts updates, not entries:
twenty entries that appear together are one update. The weight of an update decays exponentially with its age, so that
the rate of a feed that stops publishing falls without a write to the database.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from datetime import timedelta
from enum import StrEnum

import msgspec
from msgspec import Struct

from tidings.base.times import DAY, HOUR, MINUTE, SECOND, Instant
from tidings.content.model import PublisherHints

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
# The time constant of the decay: an update of this age has 1/e of its weight. Long enough to average out weekends.
DECAY_TIME = 21 * DAY
# Entries published within this time are one update.
SAME_UPDATE_WITHIN = 5 * MINUTE
# The gap of a feed whose rate is not known.
DEFAULT_GAP_S = 12 * HOUR // SECOND
# Ten years.
MAX_GAP_S = 315_360_000
_MAX_EXPONENT = 15.0


class Scheduler(StrEnum):
    """How the interval depends on the time between updates of the feed."""

    ADAPTIVE = "adaptive"
    """Grows with the square root of that time: the lowest average delay of new entries for a number of checks."""
    ENTRY_FREQUENCY = "entry_frequency"
    """Proportional to that time."""
    ROUND_ROBIN = "round_robin"
    """The same for all feeds."""


class Schedule(Struct, frozen=True, kw_only=True):
    """The operator's settings of the scheduler."""

    scheduler: Scheduler = Scheduler.ADAPTIVE
    default_interval: timedelta = timedelta(hours=1)
    """For a feed that publishes twice a day, and for a feed whose rate is not known."""
    min_interval: timedelta = timedelta(minutes=5)
    """Limits an interval that follows the feed; wins over `max_interval` if they conflict."""
    max_interval: timedelta = timedelta(days=1)
    factor: int = 1
    """How many times as often feeds are checked."""
    round_robin_min: timedelta = timedelta(hours=1)
    """Limits the interval that is the same for all feeds, as does `round_robin_max`."""
    round_robin_max: timedelta = timedelta(days=1)
    error_limit: int = 0
    """Number of counted errors after which a feed is disabled, 0 for never."""


class PublisherRequest(Struct, frozen=True):
    """When the publisher asks to be checked."""

    hints: PublisherHints = PublisherHints()
    """As its document says."""
    fresh_s: int | None = None
    """As the headers of the response say, like `retry_after_s`."""
    retry_after_s: int | None = None


_NO_REQUEST = PublisherRequest()


def interval(schedule: Schedule, rate: PublishRate, now: Instant) -> int:
    """Return the microseconds between two checks of a feed with this rate, before hints and jitter."""
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
    """Return the time of the next check after one that succeeded.

    user_interval_minutes: the interval that the user set, 0 for none; with one, only Retry-After is honoured.
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
    """Return the most microseconds between a check and the next one of a feed that follows its publisher.

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
    """Return the time of the next check after one that failed. failures: in a row, this one included.

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
    """Return the time of the next check after the user set another interval.

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
    """Return the time of the next check of a feed that could not be reached because the network is down."""
    wait = max(MIN_OUTAGE_WAIT, min((now - down_since) // 10, MAX_OUTAGE_WAIT))
    return Instant(now + round(wait * (0.5 + random_fraction)))


def skip_excluded_hours(at: Instant, hints: PublisherHints, random_fraction: float) -> Instant:
    """Return `at`, or a time in the next hour that `skipHours` and `skipDays` do not exclude.

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


class PublishRate(Struct, frozen=True):
    """How often a feed publishes."""

    gap_s: int = 0
    """Average seconds between two updates, as of `news_at`; 0 while the rate is not known."""
    news_at: Instant | None = None
    """When the last update was found."""

    @property
    def is_known(self) -> bool:
        return self.gap_s > 0 and self.news_at is not None

    def gap_now_s(self, now: Instant) -> float:
        """Return the average seconds between two updates, which grow as long as there is none."""
        if self.gap_s <= 0 or self.news_at is None:
            return DEFAULT_GAP_S
        return min(self.gap_s * math.exp(min(max(0, now - self.news_at) / DECAY_TIME, _MAX_EXPONENT)), MAX_GAP_S)


def default_rate(now: Instant) -> PublishRate:
    """Return the rate that is assumed for a feed whose documents have no dates."""
    return PublishRate(DEFAULT_GAP_S, now)


def rate_of_document(published: Iterable[Instant | None], now: Instant) -> PublishRate:
    """Return the rate by the dates of a whole document, for a feed whose rate is not known yet.

    A document holds only the last entries: the rate is the one in the time they span. Without dates it is the default.
    """
    updates = _updates((date for date in published if date is not None), now)
    if not updates:
        return default_rate(now)
    newest, span = updates[-1], updates[-1] - updates[0]
    if span == 0:
        return PublishRate(DECAY_TIME // SECOND, newest)
    weight = sum(math.exp(-(newest - update) / DECAY_TIME) for update in updates[:-1])
    observed_part = -math.expm1(-span / DECAY_TIME)
    return PublishRate(_gap_s(weight / DECAY_TIME / observed_part), newest)


def update_rate(
    known: PublishRate, published: Iterable[Instant | None], *, since: Instant, now: Instant
) -> PublishRate:
    """Return the rate after a check that found new entries. published: their dates. since: the check before.

    An entry without a date, or with one before `since`, counts as published now.
    """
    if not known.is_known:
        return rate_of_document(published, now)
    dates = [date if date is not None and date > since else now for date in published]
    rate = 1 / (known.gap_now_s(now) * SECOND) + len(_updates(dates, now)) / DECAY_TIME
    return PublishRate(_gap_s(rate), now)


def _updates(dates: Iterable[Instant], now: Instant) -> list[Instant]:
    """Return the times of the updates, in order: the first of dates that are close to each other."""
    updates: list[Instant] = []
    for date in sorted(min(date, now) for date in dates):
        if not updates or date - updates[-1] >= SAME_UPDATE_WITHIN:
            updates.append(date)
    return updates


def _gap_s(per_microsecond: float) -> int:
    return MAX_GAP_S if per_microsecond <= 0 else round(min(max(1 / per_microsecond / SECOND, 1), MAX_GAP_S))


_NO_HINTS = PublisherHints()
_hints_decoder = msgspec.json.Decoder(PublisherHints)


def hints_to_text(hints: PublisherHints) -> str:
    """Return a document's hints as JSON, to store with the feed; "" if there are none.

    They still apply when later checks find the document unchanged.
    """
    return "" if hints == _NO_HINTS else msgspec.json.encode(hints, order="deterministic").decode()


def hints_from_text(text: str) -> PublisherHints:
    """Return the stored hints; none if another version of Tidings wrote them in a form that cannot be read."""
    if not text:
        return _NO_HINTS
    try:
        return _hints_decoder.decode(text)
    except msgspec.MsgspecError:
        return _NO_HINTS
