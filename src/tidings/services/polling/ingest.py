"""Turns fetched documents into stored entries: several documents share one look-up and one transaction.

waiting documents ─► parse ─► identify ─► look up known entries ─► diff ─► build ─► store ─► record hubs

If one feed fails, its result holds the error, and the other feeds still get their entries.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from functools import partial
from typing import Any, TypeAlias

import structlog
from msgspec.structs import replace

from tidings.base.errors import InvalidInput, LocalShortage, TidingsError
from tidings.base.messages import msg
from tidings.base.shortages import is_shortage
from tidings.base.text import normalize_for_search
from tidings.base.times import Instant
from tidings.content import formats, icons
from tidings.content.articles import Article
from tidings.content.errors import FeedError
from tidings.content.model import ParsedFeed
from tidings.domain.accounts.users import User
from tidings.domain.feeds.feeds import EditedFeedField, Feed
from tidings.domain.polling.changes import ChangeSet, KnownEntries, PreparedFeedUpdate, diff_entries
from tidings.domain.polling.entry_identity import IdentifiedEntry, identify_entries
from tidings.domain.polling.ingestion import DEFAULT_INSTANCE, InstanceSettings
from tidings.domain.polling.sources import SourceLease
from tidings.engine.database import Database, Read
from tidings.net.fetch import FetchResponse
from tidings.services.batching import Batcher, write_batch
from tidings.services.clock import Clock
from tidings.services.listeners import CheckedDocument, Listeners
from tidings.services.polling.entry_builder import EntryBuilder
from tidings.services.polling.next_check import Timing
from tidings.services.polling.store import CheckResult, store
from tidings.services.rule_log import log_rule_errors
from tidings.storage.accounts import users
from tidings.storage.polling import feed_store

log = structlog.get_logger()

# Most bytes of documents in one batch; a larger document is a batch of its own.
MAX_BYTES = 2 * 2**20
# Most documents in one batch: about half of what a worker fetches at the same time, so that the next ones arrive
# meanwhile.
MAX_DOCUMENTS = 8
# Most feeds in one transaction: limits how long others wait for the database, and the memory used.
MAX_FEEDS = 25
# Writing the rows of an entry without content takes as long as writing this many characters of content.
ENTRY_OVERHEAD_CHARACTERS = 1_000


class FetchedDocument:
    """A document to ingest, for those feeds of its source for which it has changed.

    full_content: articles of new entries by feed id and entry hash. results: by feed id, filled during ingestion.
    """

    def __init__(
        self,
        lease: SourceLease,
        feeds: Sequence[Feed],
        response: FetchResponse,
        timing: Timing,
        *,
        instance: InstanceSettings = DEFAULT_INSTANCE,
    ) -> None:
        self.lease = lease
        self.feeds = feeds
        self.response = response
        self.timing = timing
        self.builder = EntryBuilder(instance)
        self.full_content: Mapping[int, Mapping[bytes, Article]] = {}
        self.results: dict[int, CheckResult] = {}
        self._parsed: ParsedFeed | FeedError | None = None

    def parsed(self, now: Instant) -> ParsedFeed:
        """Returns the parsed document; it is parsed once. Raises FeedError, each time, if it cannot be parsed."""
        if self._parsed is None:
            try:
                self._parsed = parse(self.response, now)
            except FeedError as error:
                self._parsed = error
        if isinstance(self._parsed, FeedError):
            raise self._parsed
        return self._parsed

    @property
    def is_stored(self) -> bool:
        return any(result.error is None for result in self.results.values())

    @property
    def has_news(self) -> bool:
        """Whether a feed that was checked before got new entries."""
        return any(feed.checked_at and self.results[feed.id].new_ids for feed in self.feeds if feed.id in self.results)


# A feed of a document.
Member: TypeAlias = tuple[FetchedDocument, Feed]


class IngestQueue:
    """Ingests documents in batches: the next batch is collected while one is ingested."""

    def __init__(self, database: Database, clock: Clock, listeners: Listeners) -> None:
        self._database = database
        self._clock = clock
        self._listeners = listeners
        self._batcher = Batcher(
            self._ingest,
            # One thread: parsing needs the interpreter, and several threads would hold the database while they wait for
            # each other. Other workers use the other cores.
            executor=ThreadPoolExecutor(1, thread_name_prefix="ingest"),
            weight=lambda document: max(len(document.response.body), MAX_BYTES // MAX_DOCUMENTS),
            max_weight=MAX_BYTES,
        )

    async def add(self, document: FetchedDocument) -> Mapping[int, CheckResult]:
        """Ingest a document and return results by feed id, without feeds whose user was deleted."""
        return await self._batcher.add(document)

    def _ingest(self, documents: Sequence[FetchedDocument]) -> list[Mapping[int, CheckResult]]:
        for batch in _batches((document, feed) for document in documents for feed in document.feeds):
            self._ingest_batch(batch)
        now = self._clock()
        self._listeners.tell_documents_checked(
            [_checked(document, now) for document in documents if document.is_stored]
        )
        return [document.results for document in documents]

    def _ingest_batch(self, members: Sequence[Member]) -> None:
        entries: dict[int, list[IdentifiedEntry]] = {}
        for document, feed in members:
            with _failing((document, feed)):
                entries[feed.id] = identify_entries(feed, document.parsed(self._clock()))
        readable = [(document, feed) for document, feed in members if feed.id in entries]
        if readable:
            with _failing(*readable):
                self._ingest_entries(readable, entries)

    def _ingest_entries(self, members: Sequence[Member], entries: Mapping[int, Sequence[IdentifiedEntry]]) -> None:
        """entries: of each feed, by its id."""
        with self._database.reading() as db:
            known = _look_up(db, entries)
            owners = users.get_many(db, {feed.user_id for _, feed in members})
        updates: list[tuple[Member, PreparedFeedUpdate]] = []
        size = 0
        for document, feed in members:
            if feed.user_id not in owners:
                continue
            with _failing((document, feed)):
                changes = diff_entries(feed, entries[feed.id], known[feed.id])
                update = build_update(owners[feed.user_id], feed, document, changes, self._clock())
                updates.append(((document, feed), update))
                size += _size(update)
            if size > MAX_BYTES:
                self._store(updates)
                updates, size = [], 0
        self._store(updates)

    def _store(self, updates: Sequence[tuple[Member, PreparedFeedUpdate]]) -> None:
        if not updates:
            return
        outcomes = write_batch(
            self._database, partial(store, listeners=self._listeners), [update for _, update in updates]
        )
        for ((document, feed), update), outcome in zip(updates, outcomes, strict=True):
            with _failing((document, feed)):
                if isinstance(outcome, Exception):
                    raise outcome
                document.results[feed.id] = outcome
                if not outcome.is_lost:
                    log_rule_errors(feed.id, update.rule_errors)


def parse(response: FetchResponse, now: Instant) -> ParsedFeed:
    """Returns the parsed document of a response. Raises FeedError."""
    return formats.parse_feed(response.body, url=response.url, charset=response.charset or None, now=now)


def find_changes(db: Read, feed: Feed, document: ParsedFeed) -> ChangeSet:
    """Returns what a document changes in one feed."""
    entries = identify_entries(feed, document)
    return diff_entries(feed, entries, _look_up(db, {feed.id: entries})[feed.id])


def build_update(
    user: User, feed: Feed, document: FetchedDocument, changes: ChangeSet, now: Instant
) -> PreparedFeedUpdate:
    """Returns the update of one feed by a document, with the columns of the feed and its new and changed entries."""
    parsed, response = document.parsed(now), document.response
    articles = document.full_content.get(feed.id)
    if parsed.limits_reached:
        log.info("feed cut at a limit", feed=feed.id, limits=sorted(parsed.limits_reached))
    update = document.builder.update(user, feed, changes, now, articles=articles)
    dates = (entry.published_at for entry in update.new)
    columns = document.timing.after_document(feed, response, parsed, dates, now) | _followed(feed, parsed, response.url)
    values = update.with_page_note(columns) | update.values
    return replace(update, lease=document.lease, values=values, skipped=parsed.skipped)


def _followed(feed: Feed, document: ParsedFeed, url: str) -> dict[str, Any]:
    """Returns columns that follow the publisher, except those that the user set.

    A document without a title is named after its site, and without a site has its own URL: neither replaces a better
    one. url: of the document.
    """
    edited = EditedFeedField(feed.edited)
    followed: dict[str, Any] = {"language": document.language}
    is_better = document.title != document.site_url or feed.title == feed.site_url
    if document.title and is_better and EditedFeedField.TITLE not in edited and document.title != feed.title:
        followed |= {"title": document.title, "title_key": normalize_for_search(document.title)}
    if document.site_url not in ("", url) and EditedFeedField.SITE_URL not in edited:
        followed["site_url"] = document.site_url
    if EditedFeedField.DESCRIPTION not in edited:
        followed["description"] = document.description
    followed["icon_url"] = icons.usable_icon_url(document.icon_url)
    if any(followed.get(name, getattr(feed, name)) != getattr(feed, name) for name in ("icon_url", "site_url")):
        followed["icon_checked_at"] = None
    return followed


def _look_up(db: Read, entries: Mapping[int, Sequence[IdentifiedEntry]]) -> dict[int, KnownEntries]:
    """Returns what is stored of the entries of each feed, by feed id.

    Other hashes are looked up only for entries that are not stored under their own: usually none, or a few new ones.
    """
    known = feed_store.look_up(db, {feed_id: [entry.hash for entry in some] for feed_id, some in entries.items()})
    others = {
        feed_id: [other for entry in some if entry.hash not in known[feed_id] for other in entry.other_hashes]
        for feed_id, some in entries.items()
    }
    others = {feed_id: hashes for feed_id, hashes in others.items() if hashes}
    for feed_id, found in feed_store.look_up(db, others).items() if others else ():
        known[feed_id] |= found
    return known


def _size(update: PreparedFeedUpdate) -> int:
    """Returns the size of an update, in about the number of characters to write."""
    return sum(ENTRY_OVERHEAD_CHARACTERS + len(entry.content) for entry in (*update.new, *update.changed.values()))


def _checked(document: FetchedDocument, now: Instant) -> CheckedDocument:
    lease = document.lease
    return CheckedDocument(lease.lead, document.response, document.parsed(now), document.has_news, lease.has_hub)


def _batches(members: Iterable[Member]) -> Iterator[list[Member]]:
    """Yields batches of members for one transaction each; no feed occurs twice in a batch."""
    batch: dict[int, Member] = {}
    for document, feed in members:
        if len(batch) == MAX_FEEDS or feed.id in batch:
            yield list(batch.values())
            batch = {}
        batch[feed.id] = document, feed
    yield list(batch.values())


@contextmanager
def _failing(*members: Member) -> Iterator[None]:
    """Turn an exception into failed results of these feeds."""
    try:
        yield
    except Exception as error:  # noqa: BLE001 - `as_feed_error` logs unexpected errors
        reason = as_feed_error(error, [feed for _, feed in members])
        for document, feed in members:
            document.results[feed.id] = CheckResult(reason)


def as_feed_error(error: Exception, feeds: Sequence[Feed]) -> TidingsError:
    """Returns the error to store with the feeds. An unexpected exception is logged."""
    if isinstance(error, TidingsError):
        return error
    if is_shortage(error):
        return LocalShortage()
    log.error("feed check crashed", feed=feeds[0].id, feeds=len(feeds), exc_info=error)
    return InvalidInput(
        msg(
            "Tidings failed on this feed ({name}); please report it with the feed's address.",
            name=type(error).__name__,
        )
    )
