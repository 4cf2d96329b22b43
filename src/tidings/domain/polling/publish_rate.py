"""Estimates how often a feed publishes, as two numbers a feed, which each check with new entries updates.

Counted are updates, not entries: twenty entries that appear at once are one update. The weight of an update decays
exponentially with its age, so that the rate of a feed that stops publishing falls without a write to the database.
"""

from __future__ import annotations

import math
from collections.abc import Iterable

from msgspec import Struct

from tidings.base.times import DAY, HOUR, MINUTE, SECOND, Instant

# The time constant of the decay: an update of this age has 1/e of its weight. Long enough to average out weekends.
DECAY_TIME = 21 * DAY
# Entries published within this time are one update.
SAME_UPDATE_WITHIN = 5 * MINUTE
# The gap of a feed whose rate is not known.
DEFAULT_GAP_S = 12 * HOUR // SECOND
# Ten years.
MAX_GAP_S = 315_360_000
_MAX_EXPONENT = 15.0


class PublishRate(Struct, frozen=True):
    """gap_s: average seconds between two updates, as of `news_at`; 0 while the rate is not known.

    news_at: when the last update was found.
    """

    gap_s: int = 0
    news_at: Instant | None = None

    @property
    def is_known(self) -> bool:
        return self.gap_s > 0 and self.news_at is not None

    def gap_now_s(self, now: Instant) -> float:
        """Returns the average seconds between two updates, which grow as long as there is none."""
        if self.gap_s <= 0 or self.news_at is None:
            return DEFAULT_GAP_S
        return min(self.gap_s * math.exp(min(max(0, now - self.news_at) / DECAY_TIME, _MAX_EXPONENT)), MAX_GAP_S)


def default_rate(now: Instant) -> PublishRate:
    """Returns the rate that is assumed for a feed whose documents have no dates."""
    return PublishRate(DEFAULT_GAP_S, now)


def rate_of_document(published: Iterable[Instant | None], now: Instant) -> PublishRate:
    """Returns the rate by the dates of a whole document, for a feed whose rate is not known yet.

    A document holds only the last entries: the rate is that of the time they span. Without dates it is the default.
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
    """Returns the rate after a check that found new entries. published: their dates. since: the check before.

    An entry without a date, or with one before `since`, counts as published now.
    """
    if not known.is_known:
        return rate_of_document(published, now)
    dates = [date if date is not None and date > since else now for date in published]
    rate = 1 / (known.gap_now_s(now) * SECOND) + len(_updates(dates, now)) / DECAY_TIME
    return PublishRate(_gap_s(rate), now)


def _updates(dates: Iterable[Instant], now: Instant) -> list[Instant]:
    """Returns the times of the updates, in order: the first of dates that are close to each other."""
    updates: list[Instant] = []
    for date in sorted(min(date, now) for date in dates):
        if not updates or date - updates[-1] >= SAME_UPDATE_WITHIN:
            updates.append(date)
    return updates


def _gap_s(per_microsecond: float) -> int:
    return MAX_GAP_S if per_microsecond <= 0 else round(min(max(1 / per_microsecond / SECOND, 1), MAX_GAP_S))
