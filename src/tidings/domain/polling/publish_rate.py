"""How often a feed publishes: two numbers a feed, kept true by what comes in anyway.

What counts is moments with news, not entries: twenty that appear at once are no reason to come back twenty times.
News counts less the older it is, so that a feed that falls silent becomes a quiet one by itself, without a write.
"""

from __future__ import annotations

import math
from collections.abc import Iterable

from msgspec import Struct

from tidings.domain.times import DAY, HOUR, MINUTE, SECOND, Instant

# How long ago news counts for a third of what it counts today: long enough for nights and weekends to even out.
MEMORY = 21 * DAY
# What appears within this time is one moment.
ONE_MOMENT = 5 * MINUTE
# What nothing is known of is taken for a feed like many others.
USUAL_GAP_S = 12 * HOUR // SECOND
# Ten years: beyond, a feed is as silent as it will ever be.
LONGEST_GAP_S = 315_360_000
_FURTHEST = 15.0


class PublishRate(Struct, frozen=True):
    """gap_s: seconds between two moments with news, on average, as of `news_at`; 0 while nothing is known.

    news_at: when there was news last.
    """

    gap_s: int = 0
    news_at: Instant | None = None

    @property
    def is_known(self) -> bool:
        return self.gap_s > 0 and self.news_at is not None

    def gap_now_s(self, now: Instant) -> float:
        """Grows for as long as there is no news."""
        if self.gap_s <= 0 or self.news_at is None:
            return USUAL_GAP_S
        return min(self.gap_s * math.exp(min(max(0, now - self.news_at) / MEMORY, _FURTHEST)), LONGEST_GAP_S)


def usual(now: Instant) -> PublishRate:
    """Of a feed that says nothing about itself."""
    return PublishRate(USUAL_GAP_S, now)


def of_document(published: Iterable[Instant | None], now: Instant) -> PublishRate:
    """From the dates of a whole document, which is mostly all that a new subscription knows.

    A document shows a few of many entries: their rate is that of the time they span. Without dates, the usual.
    """
    moments = _moments((date for date in published if date is not None), now)
    if not moments:
        return usual(now)
    newest, span = moments[-1], moments[-1] - moments[0]
    if span == 0:
        return PublishRate(MEMORY // SECOND, newest)
    weight = sum(math.exp(-(newest - moment) / MEMORY) for moment in moments[:-1])
    seen = -math.expm1(-span / MEMORY)
    return PublishRate(_gap_s(weight / MEMORY / seen), newest)


def after_news(known: PublishRate, published: Iterable[Instant | None], *, since: Instant, now: Instant) -> PublishRate:
    """With new entries, by the dates they carry. since: the check before this one.

    What is dated before that, or not at all, appeared just now, whatever it says.
    """
    if not known.is_known:
        return of_document(published, now)
    dates = [date if date is not None and date > since else now for date in published]
    rate = 1 / (known.gap_now_s(now) * SECOND) + len(_moments(dates, now)) / MEMORY
    return PublishRate(_gap_s(rate), now)


def _moments(dates: Iterable[Instant], now: Instant) -> list[Instant]:
    """In order; of those close to each other, the first."""
    found: list[Instant] = []
    for date in sorted(min(date, now) for date in dates):
        if not found or date - found[-1] >= ONE_MOMENT:
            found.append(date)
    return found


def _gap_s(per_microsecond: float) -> int:
    return LONGEST_GAP_S if per_microsecond <= 0 else round(min(max(1 / per_microsecond / SECOND, 1), LONGEST_GAP_S))
