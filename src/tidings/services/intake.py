"""From the answer of a publisher to stored entries: what a document brings, and how that is written.

unchanged? ─► parse ─► which entries are new or changed? ─► prepare those ─► store, count, schedule

Many documents go this way side by side: what is known of their entries is one look, what they bring one transaction.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import structlog
from msgspec import Struct

from tidings.domain import formats, icons, moving
from tidings.domain.articles import Article
from tidings.domain.errors import FeedError
from tidings.domain.feeds import Edited, Feed, ParsedEntry, ParsedFeed
from tidings.domain.ingestion import Intake, ReadyEntry, fingerprint
from tidings.domain.times import Instant
from tidings.domain.users import User
from tidings.net.fetch import FetchResponse
from tidings.services import identity
from tidings.services.preparing import READ_AGAIN, Preparing, as_many_as_fit
from tidings.services.timing import Timing
from tidings.storage import feeds, intake
from tidings.storage.database import Database
from tidings.storage.intake import KnownEntry, Met
from tidings.storage.polling import Current

log = structlog.get_logger()

# As long as writing so many characters of text takes writing an entry without any.
ROWS = 1_000

# By the hash of their entry.
ArticlesByHash = Mapping[bytes, Article]


class Held(Struct, frozen=True):
    """A source that a worker holds, or once held. is_last: nothing else of this check is left to write."""

    id: int
    worker: str
    is_last: bool = False

    def is_held(self, current: Current) -> bool:
        return (current.source_id, current.claimed_by) == (self.id, self.worker)


class News(Struct, frozen=True):
    """Entries of a document that need work, oldest first. new: by hash. buried: hashes of those that must not come.

    same: fingerprints of the others, by hash.
    """

    new: dict[bytes, ParsedEntry]
    changed: list[tuple[KnownEntry, ParsedEntry]]
    buried: frozenset[bytes] = frozenset()
    same: Mapping[bytes, bytes] = {}


class Crawled(Struct, frozen=True):
    """document: as the answer of the publisher was read. articles: of its new entries, as far as there are any."""

    document: ParsedFeed
    articles: ArticlesByHash


class Selection(Struct, frozen=True):
    """News made ready. complaints: of rules that could not be followed. buried: as in `News`.

    is_all: False when there is more news than fits into memory: the rest is for the next check.
    """

    new: list[ReadyEntry]
    changed: list[tuple[KnownEntry, ReadyEntry]]
    complaints: tuple[str, ...] = ()
    buried: frozenset[bytes] = frozenset()
    is_all: bool = True

    @property
    def size(self) -> int:
        """Characters to be written, about: an entry without any text is some rows as well."""
        return sum(ROWS + len(entry.content) for entry in self.entries)

    @property
    def entries(self) -> Iterator[ReadyEntry]:
        yield from self.new
        yield from (entry for _, entry in self.changed)


def parse(response: FetchResponse, now: Instant) -> ParsedFeed:
    return formats.parse(response.body, url=response.url, charset=response.charset or None, now=now)


def is_unchanged(feed: Feed, response: FetchResponse) -> bool:
    return response.not_modified or response.digest == feed.body_digest


class Brought(Struct, frozen=True):
    """What a document brings to one feed, made ready to be written.

    values: of columns of the feed. now: when it was read. source: who holds it, for a check that needs a claim.
    skipped: entries that were more than are read. pieces: what is to be remembered of the source's document.
    """

    user: User
    feed: Feed
    selection: Selection
    values: dict[str, Any]
    now: Instant
    source: Held | None = None
    skipped: int = 0
    pieces: bytes | None = None


def bring(
    user: User,
    feed: Feed,
    response: FetchResponse,
    document: ParsedFeed,
    found: News,
    *,
    how: Preparing,
    articles: ArticlesByHash | None = None,
    source: Held | None = None,
    timing: Timing,
    now: Instant,
) -> Brought:
    """What a changed document brings to one feed.

    how: makes entries ready, alike for all feeds of the document that want them alike. articles: of its new entries,
    for a feed that fetches them.
    """
    selection = select(user, feed, found, articles or {}, how=how, now=now)
    dates = (entry.published_at for entry in selection.new)
    schedule = timing.with_document(feed, response, document, dates, now)
    values = _after_success(feed, response) | schedule | _followed(feed, document)
    values |= {"body_digest": response.digest, "parsed_at": now}
    values |= {} if selection.is_all else READ_AGAIN
    return Brought(user, feed, selection, values, now, source, document.skipped)


def unchanged(feed: Feed, response: FetchResponse, *, timing: Timing, now: Instant) -> dict[str, Any]:
    """What to write on a feed whose document is as it was."""
    values = _after_success(feed, response) | timing.as_before(feed, response, now)
    if response.not_modified:
        # A 304 may repeat the validators or leave them out; what we have stays good.
        values |= {
            "etag_header": response.etag or feed.etag_header,
            "last_modified_header": response.last_modified or feed.last_modified_header,
        }
    return values


def news(database: Database, feed: Feed, document: ParsedFeed) -> News:
    """What is not known yet, or has changed since."""
    by_hash = identity.recognised(database, feed, document)
    with database.reading() as db:
        return told_apart(feed, by_hash, intake.met_by(db, feed.id, by_hash))


def told_apart(feed: Feed, entries: Mapping[bytes, ParsedEntry], met: Met) -> News:
    """entries: by hash. met: what is known of them."""
    known = [(met.known[hash_], entry) for hash_, entry in entries.items() if hash_ in met.known]
    changed = [(present, entry) for present, entry in known if _is_news(feed, present, entry)]
    others = {present.hash for present, _ in changed}
    return News(
        {hash_: entry for hash_, entry in entries.items() if hash_ not in met},
        changed,
        met.buried,
        {one.hash: one.fingerprint for one, _ in known if one.fingerprint and one.hash not in others},
    )


def select(user: User, feed: Feed, found: News, articles: ArticlesByHash, *, how: Preparing, now: Instant) -> Selection:
    """Prepares what is not known or has changed, nothing else."""
    if not found.new and not found.changed:
        return Selection([], [], buried=found.buried)
    ways = how.way(feed, user)
    made = all_new(ways, feed, found.new, articles, how=how, now=now)
    changed = as_many_as_fit(how(entry, ways, feed=feed, now=now) for _, entry in found.changed)
    return Selection(
        made.new,
        [(present, one.entry) for (present, _), one in zip(found.changed, changed, strict=False) if one.entry],
        made.complaints + tuple(complaint for one in changed for complaint in one.complaints),
        found.buried,
        made.is_all and len(changed) == len(found.changed),
    )


def all_new(
    ways: Intake,
    feed: Feed,
    entries: Mapping[bytes, ParsedEntry],
    articles: ArticlesByHash,
    *,
    how: Preparing,
    now: Instant,
) -> Selection:
    """entries: by hash."""
    made = as_many_as_fit(
        how(entry, ways, feed=feed, now=now, article=articles.get(hash_)) for hash_, entry in entries.items()
    )
    complaints = (complaint for one in made for complaint in one.complaints)
    new = [one.entry for one in made if one.entry]
    return Selection(new, [], (*ways.problems, *complaints), is_all=len(made) == len(entries))


def tell_complaints(feed_id: int, complaints: Iterable[str]) -> None:
    """Rules that did not do what their owner wanted, each once."""
    for complaint in dict.fromkeys(complaints):
        log.info("rule not followed", feed=feed_id, reason=complaint)


def _is_news(feed: Feed, present: KnownEntry, entry: ParsedEntry) -> bool:
    return not feed.ignore_entry_updates and not feed.crawler and present.fingerprint != fingerprint(entry)


def _after_success(feed: Feed, response: FetchResponse) -> dict[str, Any]:
    return moving.after_answer(feed, response.permanent_url) | {
        "etag_header": response.etag,
        "last_modified_header": response.last_modified,
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


def ensure_not_another(database: Database, feed: Feed, response: FetchResponse) -> None:
    """A redirect may lead to what the user is subscribed to already."""
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
