"""What a check says about the next one: columns of a feed, to be written together with what the check brought."""

from __future__ import annotations

import random
from collections.abc import Iterable
from typing import Any, Self

from msgspec import Struct

from tidings.domain import habits, http_hints, publisher_hints, scheduling
from tidings.domain.errors import FeedGone, FetchError, HttpError, TidingsError
from tidings.domain.feeds import Feed, ParsedFeed, PublisherHints
from tidings.domain.habits import Habit
from tidings.domain.scheduling import Schedule, Wishes
from tidings.domain.times import Instant
from tidings.domain.wording import Words
from tidings.net.fetch import FetchResponse

# So many failures in a row are no passing trouble any more: about a day at the usual pace.
PASSING_FAILURES = 4
SWITCHED_OFF: Words = "Until you switch the feed on again, it is not checked any more."


class Timing(Struct, frozen=True):
    """Of one check: chance (0 to 1) is drawn once for it, so that feeds of one source fall due together again.

    is_pushed: a hub tells what is new in the source.
    """

    schedule: Schedule
    chance: float
    is_pushed: bool = False

    @classmethod
    def draw(cls, schedule: Schedule, *, is_pushed: bool = False) -> Self:
        return cls(schedule, random.random(), is_pushed)  # noqa: S311 - nothing secret about it

    def as_before(self, feed: Feed, response: FetchResponse, now: Instant) -> dict[str, Any]:
        """The document is the one we know: what it asked for still holds."""
        habit = habit_of(feed)
        started: dict[str, Any] = {}
        if not habit.is_known:
            habit = habits.usual(now)
            started = _habit_columns(habit)
        hints = publisher_hints.from_text(feed.publisher_hints)
        return self._success(feed, response, habit, hints, now) | started

    def with_document(
        self, feed: Feed, response: FetchResponse, document: ParsedFeed, new: Iterable[Instant | None], now: Instant
    ) -> dict[str, Any]:
        """new: when the entries that are about to be stored were published."""
        habit, dates = habit_of(feed), tuple(new)
        if not habit.is_known:
            habit = habits.of_document((entry.published_at for entry in document.entries), now)
        elif dates:
            habit = habits.after_news(habit, dates, since=feed.checked_at, now=now)
        values = self._success(feed, response, habit, document.hints, now)
        return values | _habit_columns(habit) | {"publisher_hints": publisher_hints.to_text(document.hints)}

    def after_failure(self, feed: Feed, error: TidingsError, now: Instant) -> dict[str, Any]:
        """Passing trouble makes the wait longer, but counts as an error of the feed only when it does not pass."""
        failures = feed.failed_checks + 1
        is_passing = isinstance(error, FetchError) and error.is_passing and failures <= PASSING_FAILURES
        errors = feed.parsing_error_count + (0 if is_passing else 1)
        wishes = Wishes(publisher_hints.from_text(feed.publisher_hints))
        if isinstance(error, HttpError):
            wishes = Wishes(wishes.hints, error.fresh_s, error.retry_after_s)
        next_check_at = scheduling.after_failed_check(
            now,
            self.schedule,
            habit_of(feed),
            wishes,
            failures=failures,
            chance=self.chance,
            own_minutes=feed.check_interval_minutes,
        )
        values: dict[str, Any] = {"checked_at": now, "next_check_at": next_check_at, "failed_checks": failures}
        values |= {"parsing_error_count": errors, "parsing_error_message": error.message}
        limit = self.schedule.error_limit
        if isinstance(error, FeedGone) or (limit and errors >= limit):
            # The publisher, or the operator, wants an end of it. Whoever knows better switches the feed on again.
            values |= {"disabled": True, "parsing_error_message": f"{error.message} {SWITCHED_OFF}"}
        return values

    def after_change(self, feed: Feed, own_minutes: int, now: Instant) -> Instant:
        """When the user has set another interval."""
        hints = publisher_hints.from_text(feed.publisher_hints)
        return scheduling.after_change(
            now,
            feed.checked_at,
            self.schedule,
            habit_of(feed),
            hints,
            chance=self.chance,
            own_minutes=own_minutes,
        )

    def _success(
        self, feed: Feed, response: FetchResponse, habit: Habit, hints: PublisherHints, now: Instant
    ) -> dict[str, Any]:
        next_check_at = scheduling.after_check(
            now,
            self.schedule,
            habit,
            wishes_of(response, hints, now),
            chance=self.chance,
            own_minutes=feed.check_interval_minutes,
            is_first=not habit_of(feed).is_known,
            is_new=now - feed.created_at < scheduling.NEW_FOR,
            is_pushed=self.is_pushed,
        )
        return {
            "checked_at": now,
            "next_check_at": next_check_at,
            "failed_checks": 0,
            "parsing_error_count": 0,
            "parsing_error_message": "",
            "took_ms": response.took_ms,
        }


def after_push(feed: Feed, new: Iterable[Instant | None], now: Instant) -> dict[str, Any]:
    """As `Timing.with_document`, without a check: what is pushed shows how lively the feed is, too."""
    return _habit_columns(habits.after_news(habit_of(feed), tuple(new), since=feed.checked_at, now=now))


def habit_of(feed: Feed) -> Habit:
    return Habit(feed.news_gap_s, feed.news_at)


def first_columns(
    timing: Timing, response: FetchResponse, document: ParsedFeed, own_minutes: int, now: Instant
) -> dict[str, Any]:
    """Of a feed that somebody just subscribed to, and that was fetched for it."""
    habit = habits.of_document((entry.published_at for entry in document.entries), now)
    next_check_at = scheduling.after_check(
        now,
        timing.schedule,
        habit,
        wishes_of(response, document.hints, now),
        chance=timing.chance,
        own_minutes=own_minutes,
        is_new=True,
    )
    told = {"publisher_hints": publisher_hints.to_text(document.hints), "took_ms": response.took_ms}
    return {"checked_at": now, "next_check_at": next_check_at} | told | _habit_columns(habit)


def wishes_of(response: FetchResponse, hints: PublisherHints, now: Instant) -> Wishes:
    fresh_s = http_hints.freshness_s(
        cache_control=response.cache_control,
        expires=response.expires,
        age=response.age,
        date=response.date,
        now=now,
    )
    retry_after_s = http_hints.retry_after_s(response.retry_after, now) if response.retry_after else None
    return Wishes(hints, fresh_s, retry_after_s)


def _habit_columns(habit: Habit) -> dict[str, Any]:
    return {"news_gap_s": habit.gap_s, "news_at": habit.news_at}
