"""Decides what a check changes in a feed: its columns, with the time of the next check. Everything here is pure.

Which entries are new or changed is decided in `domain.polling.changes`, and the time of a check is computed in
`domain.polling.check_times`: neither needs to know of responses, and one file for all of it would be too long.

    response ─┬─ 304 or the same body ─► after_unchanged
              ├─ a document ───────────► after_document (also columns that follow the publisher)
              └─ an error ─────────────► after_failure

`random_fraction` is drawn once for a check, so that the feeds of one source fall due together again.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any
from zlib import crc32

import msgspec
from msgspec.structs import replace

from tidings.base.errors import TidingsError
from tidings.base.messages import encode_message, join_sentences, msg
from tidings.base.text import sort_key
from tidings.base.times import DAY, SECOND, Instant
from tidings.content import icons
from tidings.content.errors import FeedError
from tidings.content.model import ParsedFeed, PublisherHints
from tidings.domain.entries.entries import ReadyEntry
from tidings.domain.errors import AccountFull
from tidings.domain.feeds.feeds import EditedFeedField, Feed
from tidings.domain.polling import check_times
from tidings.domain.polling.changes import FeedUpdate
from tidings.domain.polling.check_times import PublisherRequest, PublishRate, Schedule
from tidings.domain.polling.shared_sources import NO_VALIDATORS, SourceLease, have_same_document
from tidings.net import responses
from tidings.net.errors import FeedGone, FetchError, HttpError
from tidings.net.fetch import FetchRequest, FetchResponse
from tidings.services.publisher_requests import may_move

# After more failures in a row than this, a temporary error counts as lasting: about 15 hours at the default intervals.
MAX_TEMPORARY_FAILURES = 4
# Some permanent redirects are mistakes that the publisher corrects within a day.
CONFIRMATIONS = 3
VALIDATORS_LAST = 8 * DAY
SWITCHED_OFF = msg("The feed is not checked until you switch it on again.")


class AlreadySubscribed(FeedError):
    """The document's address is another feed of the same user."""

    code = "already-subscribed"
    is_retryable = False

    def __init__(self, url: str, other_id: int) -> None:
        super().__init__(
            msg(
                "This address leads to {url}, which you are already subscribed to (feed {other}): delete one.",
                url=url,
                other=other_id,
            )
        )


def request_for(feeds: Sequence[Feed]) -> FetchRequest:
    """Return the request for the document of feeds that share a source, with all of its fetch options.

    It is conditional only if all feeds last stored the same document: otherwise "not modified" would be true of some of
    them only. Without a digest the document has to be parsed again (NO_VALIDATORS).
    """
    feed = feeds[0]
    is_conditional = have_same_document(feeds)
    return FetchRequest(
        url=feed.feed_url,
        etag=feed.etag_header if is_conditional else "",
        last_modified=feed.last_modified_header if is_conditional else "",
        user_agent=feed.user_agent,
        cookie=feed.cookie,
        username=feed.username,
        password=feed.password,
        ignore_cache=feed.ignore_http_cache,
        allow_self_signed_certificates=feed.allow_self_signed_certificates,
        proxy_url=feed.proxy_url,
        fetch_via_proxy=feed.fetch_via_proxy,
        fetch_via_flaresolverr=feed.fetch_via_flaresolverr,
        bridges_of=feed.user_id if feed.own_bridge else 0,
    )


def is_unchanged(feed: Feed, response: FetchResponse) -> bool:
    """Return whether the feed has already read this document."""
    return response.not_modified or response.digest == feed.body_digest


def after_unchanged(
    feed: Feed,
    lease: SourceLease,
    response: FetchResponse,
    schedule: Schedule,
    now: Instant,
    *,
    random_fraction: float,
) -> dict[str, Any]:
    """Return the columns of a feed whose document is unchanged; its polling hints still apply."""
    rate = rate_of(feed)
    started: dict[str, Any] = {}
    if not rate.is_known:
        rate = check_times.default_rate(now)
        started = _rate_columns(rate)
    hints = check_times.hints_from_text(feed.publisher_hints)
    next_check_at = _next_check(feed, response, rate, hints, schedule, now, random_fraction, is_pushed=lease.is_pushed)
    columns = _after_success(feed, response, next_check_at, now) | started
    if response.not_modified:
        # A 304 may repeat the validators or leave them out; the stored ones stay good.
        columns["etag_header"] = response.etag or feed.etag_header
        columns["last_modified_header"] = response.last_modified or feed.last_modified_header
        columns |= _expired_validators(feed, now)
    return columns


def after_document(
    update: FeedUpdate[ReadyEntry],
    lease: SourceLease,
    response: FetchResponse,
    document: ParsedFeed,
    schedule: Schedule,
    *,
    random_fraction: float,
) -> FeedUpdate[ReadyEntry]:
    """Return the prepared update of a feed whose document has changed, with the feed's columns and the lease."""
    feed, now, rate = update.feed, update.now, rate_of(update.feed)
    if not rate.is_known:
        rate = check_times.rate_of_document((entry.published_at for entry in document.entries), now)
    elif update.new:
        dates = [entry.published_at for entry in update.new.values()]
        rate = check_times.update_rate(rate, dates, since=feed.checked_at, now=now)
    next_check_at = _next_check(
        feed, response, rate, document.hints, schedule, now, random_fraction, is_pushed=lease.is_pushed
    )
    columns = {
        **_after_success(feed, response, next_check_at, now),
        **document_columns(response, document),
        "parsed_at": now,
        "limits_reached": " ".join(sorted(document.limits_reached)),
        **_rate_columns(rate),
        "publisher_hints": check_times.hints_to_text(document.hints),
        **_followed(feed, document, response.url),
        **({"page_items": len(document.entries)} if feed.kind else {}),
    }
    # Columns of the preparation go last: they may clear the validators.
    columns = update.with_page_note(columns) | dict(update.columns)
    return replace(update, lease=lease, columns=columns, skipped=document.skipped)


def after_failure(
    feed: Feed, error: TidingsError, schedule: Schedule, now: Instant, *, random_fraction: float
) -> dict[str, Any]:
    """Return the columns of a feed whose check failed.

    A temporary error makes the wait longer. It counts as an error of the feed only after MAX_TEMPORARY_FAILURES
    failures in a row, and immediately if the feed was never read: its address may be wrong.
    """
    failures = feed.failed_checks + 1
    was_read = rate_of(feed).is_known
    is_temporary = isinstance(error, FetchError) and error.is_temporary and failures <= MAX_TEMPORARY_FAILURES
    is_full = isinstance(error, AccountFull)
    errors = feed.parsing_error_count + (0 if is_temporary and was_read else 1)
    if is_full:
        # Not an error of the feed: shown, but not counted.
        errors = max(1, feed.parsing_error_count)
    request = PublisherRequest(check_times.hints_from_text(feed.publisher_hints))
    if isinstance(error, HttpError):
        request = PublisherRequest(request.hints, error.fresh_s, error.retry_after_s)
    next_check_at = check_times.after_failed_check(
        now,
        schedule,
        rate_of(feed),
        request,
        failures=failures,
        random_fraction=random_fraction,
        user_interval_minutes=feed.check_interval_minutes,
    )
    columns: dict[str, Any] = {"checked_at": now, "next_check_at": next_check_at, "failed_checks": failures}
    columns["parsing_error_count"] = errors
    columns |= _expired_validators(feed, now)
    if errors and not is_full and not feed.is_failing:
        columns["is_failing"] = True
    message = error.text
    limit = schedule.error_limit
    if isinstance(error, FeedGone) or (limit and errors >= limit and not is_full):
        # The publisher removed the feed, or it failed more often than the operator allows.
        columns |= {"disabled": True, "disabled_reason": "gone" if isinstance(error, FeedGone) else "failed"}
        message = join_sentences(message, SWITCHED_OFF)
    text = message.english()
    return columns | {"parsing_error_message": text, "parsing_error_form": encode_message(message, text)}


def after_interval_change(
    feed: Feed, user_interval_minutes: int, schedule: Schedule, now: Instant, *, random_fraction: float
) -> Instant:
    """Return when the next check is due after the user set another interval."""
    return check_times.after_interval_change(
        now,
        feed.checked_at,
        schedule,
        rate_of(feed),
        check_times.hints_from_text(feed.publisher_hints),
        random_fraction=random_fraction,
        user_interval_minutes=user_interval_minutes,
    )


def after_push(feed: Feed, new: Iterable[Instant | None], now: Instant) -> dict[str, Any]:
    """Return the columns of a feed after a push: only its publish rate, since a push is not a check."""
    return _rate_columns(check_times.update_rate(rate_of(feed), tuple(new), since=feed.checked_at, now=now))


def first_columns(
    response: FetchResponse,
    document: ParsedFeed,
    schedule: Schedule,
    now: Instant,
    *,
    random_fraction: float,
    user_interval_minutes: int,
) -> dict[str, Any]:
    """Return the columns of a new feed, whose document was fetched when the user subscribed."""
    rate = check_times.rate_of_document((entry.published_at for entry in document.entries), now)
    next_check_at = check_times.after_check(
        now,
        schedule,
        rate,
        publisher_request(response, document.hints, now),
        random_fraction=random_fraction,
        user_interval_minutes=user_interval_minutes,
        is_new=True,
    )
    hints = {"publisher_hints": check_times.hints_to_text(document.hints), "took_ms": response.took_ms}
    return {"checked_at": now, "next_check_at": next_check_at} | hints | _rate_columns(rate)


def document_columns(response: FetchResponse, document: ParsedFeed) -> dict[str, Any]:
    """Return the columns by which the next check sees whether the document has changed.

    There are none for a document that was cut off: its validators may be the complete document's, which a 304 would
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
    """Return when the publisher asks to be checked, by the document's hints and by the headers of the response."""
    fresh_s = responses.freshness_s(
        cache_control=response.cache_control,
        expires=response.expires,
        age=response.age,
        date=response.date,
        now=now,
    )
    retry_after_s = responses.retry_after_s(response.retry_after, now) if response.retry_after else None
    return PublisherRequest(hints, fresh_s, retry_after_s)


def rate_of(feed: Feed) -> PublishRate:
    """Return how often the feed publishes, as its columns say."""
    return PublishRate(feed.news_gap_s, feed.news_at)


def redirect_columns(feed: Feed, permanent_url: str | None, *, may_move: bool = True) -> dict[str, Any]:
    """Return the changed columns of a feed: those that count redirects, or its new URL; {} if nothing changes.

    The URL of a feed changes after CONFIRMATIONS checks in a row that redirect to the same one.
    permanent_url: the URL of the response, if every redirect that led there was permanent (301, 308: RFC 9110,
    section 15.4).
    may_move: False keeps the URL; `moved_times` then stays at CONFIRMATIONS, and the owner is told. A feed with a
    cookie, credentials or a user agent of its own keeps its URL if the redirects lead to another host: with the new URL
    these would go there, and the one who redirects is not always the one who was trusted with them.
    """
    if permanent_url is None or permanent_url == feed.feed_url:
        return {"moved_to": "", "moved_times": 0} if feed.moved_times else {}
    times = min(feed.moved_times + 1, CONFIRMATIONS) if permanent_url == feed.moved_to else 1
    if times < CONFIRMATIONS or not may_move:
        return {"moved_to": permanent_url, "moved_times": times}
    return {"feed_url": permanent_url, "moved_to": "", "moved_times": 0}


def _next_check(
    feed: Feed,
    response: FetchResponse,
    rate: PublishRate,
    hints: PublisherHints,
    schedule: Schedule,
    now: Instant,
    random_fraction: float,
    *,
    is_pushed: bool,
) -> Instant:
    return check_times.after_check(
        now,
        schedule,
        rate,
        publisher_request(response, hints, now),
        random_fraction=random_fraction,
        user_interval_minutes=feed.check_interval_minutes,
        is_first=not rate_of(feed).is_known,
        is_new=now - feed.created_at < check_times.NEW_FOR,
        is_pushed=is_pushed,
    )


def _after_success(feed: Feed, response: FetchResponse, next_check_at: Instant, now: Instant) -> dict[str, Any]:
    permanent_url = response.permanent_url
    is_moving = permanent_url is not None and may_move(msgspec.structs.asdict(feed), permanent_url)
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
        **({"is_failing": False} if feed.is_failing else {}),
        # The user refreshed a feed that was switched off because it failed: it works again.
        **({"disabled": False, "disabled_reason": ""} if feed.disabled_reason else {}),
        **redirect_columns(feed, permanent_url, may_move=is_moving),
    }


def _followed(feed: Feed, document: ParsedFeed, url: str) -> Mapping[str, Any]:
    """Return columns that follow the publisher, except those that the user set.

    A document without a title is named after its site, and without a site has its own URL: neither replaces a better
    one. url: the document's.
    """
    edited = EditedFeedField(feed.edited)
    followed: dict[str, Any] = {"language": document.language}
    is_better = document.title != document.site_url or feed.title == feed.site_url
    if document.title and is_better and EditedFeedField.TITLE not in edited and document.title != feed.title:
        followed |= {"title": document.title, "title_key": sort_key(document.title)}
    if document.site_url not in ("", url) and EditedFeedField.SITE_URL not in edited:
        followed["site_url"] = document.site_url
    if EditedFeedField.DESCRIPTION not in edited:
        followed["description"] = document.description
    followed["icon_url"] = icons.usable_icon_url(document.icon_url)
    if any(followed.get(name, getattr(feed, name)) != getattr(feed, name) for name in ("icon_url", "site_url")):
        followed["icon_checked_at"] = None
    return followed


def _expired_validators(feed: Feed, now: Instant) -> dict[str, Any]:
    """Return empty validators once in VALIDATORS_LAST, so that the next request gets the whole document; else {}.

    Some servers answer 304 for ever, because of a broken cache. The digest stays: an unchanged document is not parsed.
    The periods are counted from a moment that depends on the address: feeds of one source lose their validators
    together, different sources do not.
    """
    start = crc32(feed.feed_url.encode()) * SECOND
    is_same_period = (now + start) // VALIDATORS_LAST == (feed.checked_at + start) // VALIDATORS_LAST
    return {} if is_same_period else {"etag_header": "", "last_modified_header": ""}


def _rate_columns(rate: PublishRate) -> dict[str, Any]:
    return {"news_gap_s": rate.gap_s, "news_at": rate.news_at}
