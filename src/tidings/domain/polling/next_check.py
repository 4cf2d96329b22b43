"""When a feed is checked next.

the user's interval ─────────────────────────┐
how often it publishes ─► interval ─► jitter ─► not before what the publisher asked ─► not in hours it excludes ─► next
a failure: the interval, doubled with each one in a row, up to a day ─► not before Retry-After

Chance is an argument, from 0 up to but not including 1. Hints are heard up to a day; excluded days may make it longer.
"""

from __future__ import annotations

import math
from datetime import timedelta
from enum import StrEnum

from msgspec import Struct

from tidings.domain.feeds.feeds import PublisherHints
from tidings.domain.polling.publish_rate import USUAL_GAP_S, PublishRate
from tidings.domain.times import DAY, HOUR, MINUTE, SECOND, Instant

LONGEST = DAY
# For so long a feed is new: checked as often as one that nothing is known of, or more often.
NEW_FOR = DAY
# What a user may set; a publisher is not to be asked every other moment for one impatient reader.
SHORTEST_OWN_MINUTES = 5
LONGEST_OWN_MINUTES = 43_200
# Beyond this many failures in a row the wait has long reached a day, whatever it began with.
MOST_DOUBLINGS = 12
# With a hub that tells what is new, checks are only there for what it might leave out.
SLOWER_WHEN_PUSHED = 8
# What falls due together is pulled apart by this part of its interval, to either side.
JITTER = 0.1
# What is promised to end at a certain moment is asked for within this time after it.
AFTER_PROMISE = 30 * SECOND
# How long a network that is down is left alone: a tenth of the time it has been down, within these.
SHORTEST_OUTAGE_WAIT = MINUTE
LONGEST_OUTAGE_WAIT = 30 * MINUTE

_WEEK_HOURS = 7 * 24
# 1 January 1970 was a Thursday; days are counted from Monday.
_FIRST_WEEKDAY = 3


class Scheduler(StrEnum):
    """ADAPTIVE: the interval grows with the square root of the time between news, which gives the least waiting for a
    given number of checks. ENTRY_FREQUENCY: with that time itself. ROUND_ROBIN: it is the same for all feeds.
    """

    ADAPTIVE = "adaptive"
    ENTRY_FREQUENCY = "entry_frequency"
    ROUND_ROBIN = "round_robin"


class Schedule(Struct, frozen=True, kw_only=True):
    """What the operator set. usual: of a feed with news twice a day, or of one that nothing is known of.

    shortest, longest: of an interval that follows the feed; where they contradict each other, `shortest` counts.
    even_shortest, even_longest: of the interval that is the same for all.
    factor: how many times as often as it would be. error_limit: counted errors after which a feed is switched off, 0
    for never.
    """

    scheduler: Scheduler = Scheduler.ADAPTIVE
    usual: timedelta = timedelta(hours=1)
    shortest: timedelta = timedelta(minutes=5)
    longest: timedelta = timedelta(days=1)
    factor: int = 1
    even_shortest: timedelta = timedelta(hours=1)
    even_longest: timedelta = timedelta(days=1)
    error_limit: int = 0


class Wishes(Struct, frozen=True):
    """What the publisher asked for. hints: in its document. fresh_s, retry_after_s: in the headers of this answer."""

    hints: PublisherHints = PublisherHints()
    fresh_s: int | None = None
    retry_after_s: int | None = None


_NO_WISHES = Wishes()


def interval(schedule: Schedule, rate: PublishRate, now: Instant) -> int:
    """Microseconds between two checks of a feed with this rate, before anybody's wishes and chance."""
    shortest, longest = _bounds(schedule)
    usual = _micros(schedule.usual)
    if schedule.scheduler is Scheduler.ROUND_ROBIN or not rate.is_known:
        wanted: float = usual
    elif schedule.scheduler is Scheduler.ENTRY_FREQUENCY:
        wanted = rate.gap_now_s(now) * SECOND / schedule.factor
    else:
        wanted = usual * math.sqrt(rate.gap_now_s(now) / USUAL_GAP_S) / schedule.factor
    return max(shortest, min(round(wanted), longest))


def after_check(
    now: Instant,
    schedule: Schedule,
    rate: PublishRate,
    wishes: Wishes = _NO_WISHES,
    *,
    chance: float,
    own_minutes: int = 0,
    is_first: bool = False,
    is_new: bool = False,
    is_pushed: bool = False,
) -> Instant:
    """own_minutes: what the user set, 0 for nothing; then only Retry-After is heard besides.

    is_new: somebody subscribed less than a day ago; dates in a document say less than what will be seen.

    is_first: of feeds that came together and shall not stay together; anywhere within the interval.
    is_pushed: a hub tells what is new; the interval is stretched, up to the longest that is set or a day.
    """
    retry_after = _heard(wishes.retry_after_s)
    if own_minutes:
        return Instant(now + _not_before(own_minutes * MINUTE, retry_after, chance))
    wait = interval(schedule, rate, now)
    if is_new:
        wait = min(wait, _micros(schedule.usual))
    if is_pushed:
        wait = max(wait, min(wait * SLOWER_WHEN_PUSHED, LONGEST))
    shortest, longest = _bounds(schedule)
    # Where an interval is cut off at either end, so is its jitter.
    wait = max(shortest, min(_spread_out(wait, chance) if is_first else _jittered(wait, chance), longest))
    asked = max(retry_after, _heard(wishes.fresh_s), _asked_by_document(wishes.hints, now))
    if asked > wait:
        wait = _not_before(asked, asked, chance)
    return outside_excluded(Instant(now + wait), wishes.hints, chance)


def after_failed_check(
    now: Instant,
    schedule: Schedule,
    rate: PublishRate,
    wishes: Wishes = _NO_WISHES,
    *,
    failures: int,
    chance: float,
    own_minutes: int = 0,
) -> Instant:
    """failures: in a row, this one included. Begins with the feed's interval, or the usual one if that is shorter."""
    first = own_minutes * MINUTE or min(interval(schedule, rate, now), _micros(schedule.usual))
    most = max(first, LONGEST)
    wait = min(_jittered(min(first * 2 ** min(max(failures - 1, 0), MOST_DOUBLINGS), most), chance), most)
    asked = _heard(wishes.retry_after_s)
    if not own_minutes:
        asked = max(asked, _heard(wishes.fresh_s))
    at = Instant(now + (_not_before(asked, asked, chance) if asked > wait else wait))
    return at if own_minutes else outside_excluded(at, wishes.hints, chance)


def after_change(
    now: Instant,
    checked_at: Instant,
    schedule: Schedule,
    rate: PublishRate,
    hints: PublisherHints,
    *,
    chance: float,
    own_minutes: int,
) -> Instant:
    """When the user set another interval: as though it had been in force at the last check already."""
    following = after_check(checked_at, schedule, rate, Wishes(hints), chance=chance, own_minutes=own_minutes)
    return max(now, following)


def while_down(now: Instant, down_since: Instant, *, chance: float) -> Instant:
    """When the network is down: the feed is not to blame, and is tried again soon."""
    wait = max(SHORTEST_OUTAGE_WAIT, min((now - down_since) // 10, LONGEST_OUTAGE_WAIT))
    return Instant(now + round(wait * (0.5 + chance)))


def outside_excluded(at: Instant, hints: PublisherHints, chance: float) -> Instant:
    """The same moment, or one in the next hour that `skipHours` and `skipDays` leave open.

    A publisher that leaves no hour open cannot mean it. Source: RSS 2.0, "skipHours" and "skipDays" (UTC).
    """
    if not hints.skip_hours and not hints.skip_days:
        return at
    hour = at // HOUR
    for following in range(hour, hour + _WEEK_HOURS + 1):
        days, hour_of_day = divmod(following, 24)
        if hour_of_day not in hints.skip_hours and (days + _FIRST_WEEKDAY) % 7 not in hints.skip_days:
            # All that was held back would come in the first second otherwise.
            return at if following == hour else Instant(following * HOUR + int(chance * HOUR))
    return at


def _asked_by_document(hints: PublisherHints, now: Instant) -> int:
    asked = (hints.ttl_minutes or 0) * MINUTE
    if hints.update_minutes:
        period = hints.update_minutes * MINUTE
        # With a base, publishing happens at base + n periods: the next of these is what is worth waiting for.
        elapsed = 0 if hints.update_base is None else (now - hints.update_base) % period
        asked = max(asked, period - elapsed)
    return min(asked, LONGEST)


def _heard(seconds: int | None) -> int:
    return min((seconds or 0) * SECOND, LONGEST)


def _not_before(wait: int, asked: int, chance: float) -> int:
    return max(wait, asked) + int(chance * AFTER_PROMISE)


def _jittered(wait: int, chance: float) -> int:
    return round(wait * (1 - JITTER + 2 * JITTER * chance))


def _spread_out(wait: int, chance: float) -> int:
    return round(wait * (JITTER + (1 - JITTER) * chance))


def _bounds(schedule: Schedule) -> tuple[int, int]:
    is_even = schedule.scheduler is Scheduler.ROUND_ROBIN
    # Whoever wants feeds checked every minute did not mean that the shortest interval is longer.
    shortest = min(_micros(schedule.even_shortest if is_even else schedule.shortest), _micros(schedule.usual))
    return shortest, max(shortest, _micros(schedule.even_longest if is_even else schedule.longest))


def _micros(duration: timedelta) -> int:
    return duration // timedelta(microseconds=1)
