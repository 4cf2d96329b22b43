"""From the answer of a publisher to stored entries, in one transaction per feed.

unchanged? ─► parse ─► which entries are new or changed? ─► prepare those ─► store, count, schedule
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping
from datetime import timedelta
from typing import Any

import structlog
from msgspec import Struct

from tidings.domain import formats, http_hints, icons, moving, scheduling
from tidings.domain.articles import Article
from tidings.domain.errors import FeedError
from tidings.domain.feeds import Edited, Feed, ParsedEntry, ParsedFeed, PublisherHints
from tidings.domain.ingestion import Intake, ReadyEntry, fingerprint, prepare
from tidings.domain.times import Instant
from tidings.domain.users import User
from tidings.net.fetch import FetchResponse
from tidings.services import identity
from tidings.storage import counters, feeds, intake, polling
from tidings.storage.database import Database, Read, Write
from tidings.storage.intake import KnownEntry

log = structlog.get_logger()

# By the hash of their entry.
ArticlesByHash = Mapping[bytes, Article]


class Stored(Struct, frozen=True):
    """What came of one answer. lost: the feed was deleted or taken over meanwhile, nothing was written."""

    parsed: bool = False
    new_ids: tuple[int, ...] = ()
    changed: int = 0
    skipped: int = 0
    next_check_at: Instant = Instant(0)
    lost: bool = False


class News(Struct, frozen=True):
    """Entries of a document that need work, oldest first. new: by hash."""

    new: dict[bytes, ParsedEntry]
    changed: list[tuple[KnownEntry, ParsedEntry]]


class Crawled(Struct, frozen=True):
    """document: as the answer of the publisher was read. articles: of its new entries, as far as there are any."""

    document: ParsedFeed
    articles: ArticlesByHash


class Selection(Struct, frozen=True):
    """News made ready. complaints: of rules that could not be followed."""

    new: list[ReadyEntry]
    changed: list[tuple[KnownEntry, ReadyEntry]]
    complaints: tuple[str, ...] = ()


def body_digest(body: bytes) -> bytes:
    return hashlib.blake2b(body, digest_size=16).digest()


def parse(response: FetchResponse, now: Instant) -> ParsedFeed:
    return formats.parse(response.body, url=response.url, charset=response.charset or None, now=now)


def is_unchanged(feed: Feed, response: FetchResponse) -> bool:
    return response.not_modified or body_digest(response.body) == feed.body_digest


def store_answer(
    database: Database,
    user: User,
    feed: Feed,
    response: FetchResponse,
    *,
    crawled: Crawled | None = None,
    worker: str | None,
    base: timedelta,
    now: Instant,
) -> Stored:
    """FeedError when the document cannot be read; the feed is then as it was.

    crawled: for a feed whose articles were fetched.
    """
    _ensure_not_another(database, feed, response)
    if is_unchanged(feed, response):
        return _store_unchanged(database, feed, response, worker=worker, base=base, now=now)
    document = crawled.document if crawled else parse(response, now)
    selection = select(database, user, feed, document, crawled.articles if crawled else {}, now=now)
    next_check_at = _next_check(document.hints, response, base, now)
    values = _after_success(feed, response, now, next_check_at) | _followed(feed, document)
    values["body_digest"] = body_digest(response.body)
    with database.writing() as db:
        if (
            not counters.hold(db, feed.user_id, [feed.id])
            or not identity.is_current(db, feed)
            or not polling.finish(db, feed.user_id, feed.id, worker, **values)
        ):
            return Stored(lost=True)
        ids = add_new(db, feed, selection.new, now=now)
        intake.change(db, feed.user_id, selection.changed, now=now)
    tell_complaints(feed.id, selection.complaints)
    return Stored(True, tuple(ids), len(selection.changed), document.skipped, next_check_at)


def news(database: Database, feed: Feed, document: ParsedFeed) -> News:
    """What is not known yet, or has changed since."""
    by_hash = identity.recognised(database, feed, document)
    with database.reading() as db:
        known = intake.known(db, feed.id, list(by_hash))
        buried = intake.buried(db, feed.id, list(by_hash.keys() - known.keys()))
    changed = ((known[hash_], entry) for hash_, entry in by_hash.items() if hash_ in known)
    return News(
        {hash_: entry for hash_, entry in by_hash.items() if hash_ not in known and hash_ not in buried},
        [(present, entry) for present, entry in changed if _is_news(feed, present, entry)],
    )


def select(
    database: Database, user: User, feed: Feed, document: ParsedFeed, articles: ArticlesByHash, *, now: Instant
) -> Selection:
    """Reads what is known, and prepares only what is not or has changed."""
    found = news(database, feed, document)
    if not found.new and not found.changed:
        return Selection([], [])
    how = Intake.of(feed, user)
    made = all_new(how, feed, found.new, articles, now=now)
    changed = [(present, prepare(entry, how, feed=feed, now=now)) for present, entry in found.changed]
    return Selection(
        made.new,
        [(present, one.entry) for present, one in changed if one.entry],
        made.complaints + tuple(complaint for _, one in changed for complaint in one.complaints),
    )


def all_new(
    how: Intake, feed: Feed, entries: Mapping[bytes, ParsedEntry], articles: ArticlesByHash, *, now: Instant
) -> Selection:
    """entries: by hash."""
    made = [prepare(entry, how, feed=feed, now=now, article=articles.get(hash_)) for hash_, entry in entries.items()]
    complaints = (complaint for one in made for complaint in one.complaints)
    return Selection([one.entry for one in made if one.entry], [], (*how.problems, *complaints))


def tell_complaints(feed_id: int, complaints: Iterable[str]) -> None:
    """Rules that did not do what their owner wanted, each once."""
    for complaint in dict.fromkeys(complaints):
        log.info("rule not followed", feed=feed_id, reason=complaint)


def add_new(db: Write, feed: Feed, new: list[ReadyEntry], *, now: Instant) -> list[int]:
    """The caller holds the feed's counters; what another check stored meanwhile is left out."""
    hashes = [entry.hash for entry in new]
    there = intake.known(db, feed.id, hashes).keys() | intake.buried(db, feed.id, hashes)
    category_id = _category(db, feed)
    return intake.add(db, feed.user_id, feed.id, category_id, [e for e in new if e.hash not in there], now=now)


def _is_news(feed: Feed, present: KnownEntry, entry: ParsedEntry) -> bool:
    return not feed.ignore_entry_updates and not feed.crawler and present.fingerprint != fingerprint(entry)


def _category(db: Read, feed: Feed) -> int:
    """As it is now: the feed may have been moved while it was fetched."""
    current = feeds.get(db, feed.user_id, feed.id)
    return feed.category_id if current is None else current.category_id


def _store_unchanged(
    database: Database,
    feed: Feed,
    response: FetchResponse,
    *,
    worker: str | None,
    base: timedelta,
    now: Instant,
) -> Stored:
    next_check_at = _next_check(PublisherHints(), response, base, now)
    values = _after_success(feed, response, now, next_check_at)
    if response.not_modified:
        # A 304 may repeat the validators or leave them out; what we have stays good.
        values |= {
            "etag_header": response.etag or feed.etag_header,
            "last_modified_header": response.last_modified or feed.last_modified_header,
        }
    with database.writing() as db:
        done = polling.finish(db, feed.user_id, feed.id, worker, **values)
    return Stored(next_check_at=next_check_at, lost=not done)


def _next_check(hints: PublisherHints, response: FetchResponse, base: timedelta, now: Instant) -> Instant:
    freshness = http_hints.freshness_s(
        cache_control=response.cache_control,
        expires=response.expires,
        age=response.age,
        date=response.date,
        now=now,
    )
    retry_after = http_hints.retry_after_s(response.retry_after, now) if response.retry_after else None
    return scheduling.after_success(now, base, hints, max(freshness or 0, retry_after or 0))


def _after_success(feed: Feed, response: FetchResponse, now: Instant, next_check_at: Instant) -> dict[str, Any]:
    return moving.after_answer(feed, response.permanent_url) | {
        "checked_at": now,
        "next_check_at": next_check_at,
        "etag_header": response.etag,
        "last_modified_header": response.last_modified,
        "parsing_error_count": 0,
        "parsing_error_message": "",
    }


def _followed(feed: Feed, document: ParsedFeed) -> dict[str, Any]:
    """What follows the publisher, unless the user said otherwise."""
    edited = Edited(feed.edited)
    followed: dict[str, Any] = {"language": document.language}
    if document.title and Edited.TITLE not in edited and document.title != feed.title:
        followed |= {"title": document.title, "title_key": document.title.strip().casefold()}
    if document.site_url and Edited.SITE_URL not in edited:
        followed["site_url"] = document.site_url
    if Edited.DESCRIPTION not in edited:
        followed["description"] = document.description
    followed["icon_url"] = icons.named(document.icon_url)
    if any(followed.get(name, getattr(feed, name)) != getattr(feed, name) for name in ("icon_url", "site_url")):
        followed["icon_checked_at"] = None
    return followed


def _ensure_not_another(database: Database, feed: Feed, response: FetchResponse) -> None:
    if response.url == feed.feed_url:
        return
    with database.reading() as db:
        other = feeds.id_by_url(db, feed.user_id, response.url)
    if other not in (None, feed.id):
        raise AlreadySubscribed(
            f"This address leads to {response.url}, which you are subscribed to already (feed {other}): delete one."
        )


class AlreadySubscribed(FeedError):
    code = "already-subscribed"
    worth_retrying = False
