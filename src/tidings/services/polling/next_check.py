"""Computes the columns of a feed after a check: validators, the next check, failures."""

from __future__ import annotations

import random
from collections.abc import Iterable
from typing import Any, Self

import msgspec
from msgspec import Struct

from tidings.base.errors import TidingsError
from tidings.base.messages import encode_message, join_sentences, msg
from tidings.base.times import Instant
from tidings.content.model import ParsedFeed, PublisherHints
from tidings.domain.feeds.feeds import Feed
from tidings.domain.polling import next_check, polling_hints, publish_rate, redirects
from tidings.domain.polling.next_check import PublisherRequest, Schedule
from tidings.domain.polling.publish_rate import PublishRate
from tidings.domain.polling.sources import NO_VALIDATORS
from tidings.net import cache_headers
from tidings.net.errors import FeedGone, FetchError, HttpError
from tidings.net.fetch import FetchResponse
from tidings.services.feed_requests import may_move

# After more failures in a row than this, a temporary error counts as lasting: about 15 hours at the default intervals.
MAX_TEMPORARY_FAILURES = 4
SWITCHED_OFF = msg("The feed is not checked until you switch it on again.")


class Timing(Struct, frozen=True):
    """When the next check is due, for one check of a source.

    random_fraction: 0 to 1, drawn once for a check, so that feeds of one source fall due together again.
    is_pushed: a hub pushes new entries of the source.
    """

    schedule: Schedule
    random_fraction: float
    is_pushed: bool = False

    @classmethod
    def draw(cls, schedule: Schedule, *, is_pushed: bool = False) -> Self:
        return cls(schedule, random.random(), is_pushed)  # noqa: S311 - nothing secret about it

    def after_unchanged(self, feed: Feed, response: FetchResponse, now: Instant) -> dict[str, Any]:
        """Returns the columns of a feed whose document is unchanged; its polling hints still apply."""
        rate = rate_of(feed)
        started: dict[str, Any] = {}
        if not rate.is_known:
            rate = publish_rate.default_rate(now)
            started = _rate_columns(rate)
        hints = polling_hints.from_text(feed.publisher_hints)
        values = self._after_success(feed, response, rate, hints, now) | started
        if response.not_modified:
            # A 304 may repeat the validators or leave them out; the stored ones stay good.
            values["etag_header"] = response.etag or feed.etag_header
            values["last_modified_header"] = response.last_modified or feed.last_modified_header
        return values

    def after_document(
        self, feed: Feed, response: FetchResponse, document: ParsedFeed, new: Iterable[Instant | None], now: Instant
    ) -> dict[str, Any]:
        """Returns the columns of a feed whose document has changed.

        new: the publication times of its new entries.
        """
        rate, dates = rate_of(feed), tuple(new)
        if not rate.is_known:
            rate = publish_rate.rate_of_document((entry.published_at for entry in document.entries), now)
        elif dates:
            rate = publish_rate.update_rate(rate, dates, since=feed.checked_at, now=now)
        values = self._after_success(feed, response, rate, document.hints, now)
        values |= document_columns(response, document) | {"parsed_at": now}
        values |= {"limits_reached": " ".join(sorted(document.limits_reached))}
        return values | _rate_columns(rate) | {"publisher_hints": polling_hints.to_text(document.hints)}

    def after_failure(self, feed: Feed, error: TidingsError, now: Instant) -> dict[str, Any]:
        """Returns the columns of a feed whose check failed.

        A temporary error makes the wait longer. It counts as an error of the feed only after MAX_TEMPORARY_FAILURES
        failures in a row, and at once if the feed was never read: its address may be wrong.
        """
        failures = feed.failed_checks + 1
        was_read = rate_of(feed).is_known
        is_temporary = isinstance(error, FetchError) and error.is_temporary and failures <= MAX_TEMPORARY_FAILURES
        errors = feed.parsing_error_count + (0 if is_temporary and was_read else 1)
        request = PublisherRequest(polling_hints.from_text(feed.publisher_hints))
        if isinstance(error, HttpError):
            request = PublisherRequest(request.hints, error.fresh_s, error.retry_after_s)
        next_check_at = next_check.after_failed_check(
            now,
            self.schedule,
            rate_of(feed),
            request,
            failures=failures,
            random_fraction=self.random_fraction,
            user_interval_minutes=feed.check_interval_minutes,
        )
        values: dict[str, Any] = {"checked_at": now, "next_check_at": next_check_at, "failed_checks": failures}
        values["parsing_error_count"] = errors
        message = error.text
        limit = self.schedule.error_limit
        if isinstance(error, FeedGone) or (limit and errors >= limit):
            # The publisher removed the feed, or it failed more often than the operator allows.
            values |= {"disabled": True, "disabled_reason": "gone" if isinstance(error, FeedGone) else "failed"}
            message = join_sentences(message, SWITCHED_OFF)
        text = message.english()
        return values | {"parsing_error_message": text, "parsing_error_form": encode_message(message, text)}

    def after_change(self, feed: Feed, user_interval_minutes: int, now: Instant) -> Instant:
        """Returns when the next check is due after the user set another interval."""
        hints = polling_hints.from_text(feed.publisher_hints)
        return next_check.after_interval_change(
            now,
            feed.checked_at,
            self.schedule,
            rate_of(feed),
            hints,
            random_fraction=self.random_fraction,
            user_interval_minutes=user_interval_minutes,
        )

    def _after_success(
        self, feed: Feed, response: FetchResponse, rate: PublishRate, hints: PublisherHints, now: Instant
    ) -> dict[str, Any]:
        next_check_at = next_check.after_check(
            now,
            self.schedule,
            rate,
            publisher_request(response, hints, now),
            random_fraction=self.random_fraction,
            user_interval_minutes=feed.check_interval_minutes,
            is_first=not rate_of(feed).is_known,
            is_new=now - feed.created_at < next_check.NEW_FOR,
            is_pushed=self.is_pushed,
        )
        return {
            "checked_at": now,
            "next_check_at": next_check_at,
            "failed_checks": 0,
            "parsing_error_count": 0,
            "parsing_error_message": "",
            "parsing_error_form": "",
            "took_ms": response.took_ms,
            "etag_header": response.etag,
            "last_modified_header": response.last_modified,
            # The user refreshed a feed that was switched off because it failed: it works again.
            **({"disabled": False, "disabled_reason": ""} if feed.disabled_reason else {}),
            **_redirect_columns(feed, response.permanent_url),
        }


def _redirect_columns(feed: Feed, permanent_url: str | None) -> dict[str, Any]:
    is_moving = permanent_url is not None and may_move(msgspec.structs.asdict(feed), permanent_url)
    return redirects.redirect_columns(feed, permanent_url, may_move=is_moving)


def after_push(feed: Feed, new: Iterable[Instant | None], now: Instant) -> dict[str, Any]:
    """Returns the columns of a feed after a push: only its publish rate, since a push is no check."""
    return _rate_columns(publish_rate.update_rate(rate_of(feed), tuple(new), since=feed.checked_at, now=now))


def rate_of(feed: Feed) -> PublishRate:
    return PublishRate(feed.news_gap_s, feed.news_at)


def first_columns(
    timing: Timing, response: FetchResponse, document: ParsedFeed, user_interval_minutes: int, now: Instant
) -> dict[str, Any]:
    """Returns the columns of a new feed, whose document was fetched when the user subscribed."""
    rate = publish_rate.rate_of_document((entry.published_at for entry in document.entries), now)
    next_check_at = next_check.after_check(
        now,
        timing.schedule,
        rate,
        publisher_request(response, document.hints, now),
        random_fraction=timing.random_fraction,
        user_interval_minutes=user_interval_minutes,
        is_new=True,
    )
    hints = {"publisher_hints": polling_hints.to_text(document.hints), "took_ms": response.took_ms}
    return {"checked_at": now, "next_check_at": next_check_at} | hints | _rate_columns(rate)


def document_columns(response: FetchResponse, document: ParsedFeed) -> dict[str, Any]:
    """Returns the columns by which the next check sees whether the document has changed.

    There are none for a document that was cut off: its validators may be those of the complete one, which a 304 would
    keep back.
    """
    if document.is_cut_off:
        return dict(NO_VALIDATORS)
    return {
        "body_digest": response.digest,
        "etag_header": response.etag,
        "last_modified_header": response.last_modified,
    }


def publisher_request(response: FetchResponse, hints: PublisherHints, now: Instant) -> PublisherRequest:
    fresh_s = cache_headers.freshness_s(
        cache_control=response.cache_control,
        expires=response.expires,
        age=response.age,
        date=response.date,
        now=now,
    )
    retry_after_s = cache_headers.retry_after_s(response.retry_after, now) if response.retry_after else None
    return PublisherRequest(hints, fresh_s, retry_after_s)


def _rate_columns(rate: PublishRate) -> dict[str, Any]:
    return {"news_gap_s": rate.gap_s, "news_at": rate.news_at}
