"""From fetched documents to stored entries: several documents at a time share one look-up and one transaction.

documents that wait ─► parse ─► identify ─► look up known entries ─► diff ─► build ─► store ─► hubs noted

A failure of one feed is its own: its result carries the reason, the other feeds get their entries.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from typing import Any, TypeAlias

import structlog
from msgspec.structs import replace

from tidings.domain import formats, icons
from tidings.domain.accounts.users import User
from tidings.domain.articles import Article
from tidings.domain.errors import FeedError, InvalidInput, TidingsError
from tidings.domain.feeds.feeds import EditedFeedField, Feed, ParsedFeed
from tidings.domain.messages import msg
from tidings.domain.polling.changes import ChangeSet, PreparedFeedUpdate, diff_entries
from tidings.domain.polling.entry_identity import IdentifiedEntry, identify_entries
from tidings.domain.polling.ingestion import DEFAULT_INSTANCE, InstanceSettings
from tidings.domain.polling.sources import SourceLease
from tidings.domain.text import normalize_for_search
from tidings.domain.times import Instant
from tidings.net.fetch import FetchResponse
from tidings.services.batching import Batcher, write_batch
from tidings.services.clock import Clock
from tidings.services.polling.entry_builder import EntryBuilder, log_rule_errors
from tidings.services.polling.next_check import Timing
from tidings.services.polling.store import CheckResult, store
from tidings.services.websub.subscriptions import CheckedDocument, WebSub
from tidings.storage.accounts import users
from tidings.storage.engine.database import Database, Read
from tidings.storage.polling import feed_store

log = structlog.get_logger()

# Bytes of documents that are ingested together: a larger one is alone.
MOST_BYTES = 2 * 2**20
# Documents at a time: about half of what a worker fetches at the same time, so that the next ones arrive meanwhile.
MOST_DOCUMENTS = 8
# Feeds that are written together: how long others wait for the database, and how much is in memory.
MOST_FEEDS = 25
# Writing the rows of an entry without text takes as long as writing so many characters of text.
ROWS_AS_CHARACTERS = 1_000


class FetchedDocument:
    """A document to ingest, for those feeds of its source that have another one so far.

    full_content: articles of new entries by feed id and entry hash. results: by feed id, filled while it is ingested.
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
        """Parse it when it is first needed; a document that cannot be parsed raises its FeedError each time."""
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
        return any(one.error is None for one in self.results.values())

    @property
    def has_news(self) -> bool:
        """Whether a feed that was checked before got new entries."""
        return any(feed.checked_at and self.results[feed.id].new_ids for feed in self.feeds if feed.id in self.results)


# A feed of a document.
Member: TypeAlias = tuple[FetchedDocument, Feed]


class IngestQueue:
    """Documents wait here while others are ingested."""

    def __init__(self, database: Database, clock: Clock, websub: WebSub) -> None:
        self._database = database
        self._clock = clock
        self._websub = websub
        self._batcher = Batcher(
            self._ingest,
            # One thread: parsing is work for Python, and several threads would hold the database while they wait for
            # each other. Another core is another worker's.
            executor=ThreadPoolExecutor(1, thread_name_prefix="ingest"),
            weight=lambda document: max(len(document.response.body), MOST_BYTES // MOST_DOCUMENTS),
            max_weight=MOST_BYTES,
        )

    async def add(self, document: FetchedDocument) -> Mapping[int, CheckResult]:
        """Return results by feed id, once everything is written; without feeds whose user is gone."""
        return await self._batcher.add(document)

    def _ingest(self, documents: Sequence[FetchedDocument]) -> list[Mapping[int, CheckResult]]:
        for batch in _batches((document, feed) for document in documents for feed in document.feeds):
            self._ingest_batch(batch)
        now = self._clock()
        self._websub.record_offers([_checked(document, now) for document in documents if document.is_stored])
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
            known = feed_store.look_up(db, {feed_id: _hashes(some) for feed_id, some in entries.items()})
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
            if size > MOST_BYTES:
                self._store(updates)
                updates, size = [], 0
        self._store(updates)

    def _store(self, updates: Sequence[tuple[Member, PreparedFeedUpdate]]) -> None:
        if not updates:
            return
        outcomes = write_batch(self._database, store, [update for _, update in updates])
        for ((document, feed), update), outcome in zip(updates, outcomes, strict=True):
            with _failing((document, feed)):
                if isinstance(outcome, Exception):
                    raise outcome
                document.results[feed.id] = outcome
                if not outcome.is_lost:
                    log_rule_errors(feed.id, update.rule_errors)


def parse(response: FetchResponse, now: Instant) -> ParsedFeed:
    """Raises FeedError."""
    return formats.parse_feed(response.body, url=response.url, charset=response.charset or None, now=now)


def find_changes(db: Read, feed: Feed, document: ParsedFeed) -> ChangeSet:
    """Return what a document changes in one feed."""
    entries = identify_entries(feed, document)
    return diff_entries(feed, entries, feed_store.look_up(db, {feed.id: _hashes(entries)})[feed.id])


def build_update(
    user: User, feed: Feed, document: FetchedDocument, changes: ChangeSet, now: Instant
) -> PreparedFeedUpdate:
    """Return what a document brings to one feed; entries without changes are not looked at again."""
    parsed, response = document.parsed(now), document.response
    articles = document.full_content.get(feed.id)
    update = document.builder.update(user, feed, changes, now, articles=articles)
    dates = (entry.published_at for entry in update.new)
    columns = document.timing.after_document(feed, response, parsed, dates, now) | _followed(feed, parsed)
    return replace(update, lease=document.lease, values=columns | update.values, skipped=parsed.skipped)


def _followed(feed: Feed, document: ParsedFeed) -> dict[str, Any]:
    """Return columns that follow the publisher, except those that the user set."""
    edited = EditedFeedField(feed.edited)
    followed: dict[str, Any] = {"language": document.language}
    if document.title and EditedFeedField.TITLE not in edited and document.title != feed.title:
        followed |= {"title": document.title, "title_key": normalize_for_search(document.title)}
    if document.site_url and EditedFeedField.SITE_URL not in edited:
        followed["site_url"] = document.site_url
    if EditedFeedField.DESCRIPTION not in edited:
        followed["description"] = document.description
    followed["icon_url"] = icons.usable_icon_url(document.icon_url)
    if any(followed.get(name, getattr(feed, name)) != getattr(feed, name) for name in ("icon_url", "site_url")):
        followed["icon_checked_at"] = None
    return followed


def _hashes(entries: Iterable[IdentifiedEntry]) -> list[bytes]:
    return [hash_ for one in entries for hash_ in (one.hash, *one.other_hashes)]


def _size(update: PreparedFeedUpdate) -> int:
    """Characters to be written, about."""
    return sum(ROWS_AS_CHARACTERS + len(entry.content) for entry in (*update.new, *update.changed.values()))


def _checked(document: FetchedDocument, now: Instant) -> CheckedDocument:
    lease = document.lease
    return CheckedDocument(lease.lead, document.response, document.parsed(now), document.has_news, lease.has_hub)


def _batches(members: Iterable[Member]) -> Iterator[list[Member]]:
    """Yield as many members as are written together; no feed is twice in a batch."""
    batch: dict[int, Member] = {}
    for document, feed in members:
        if len(batch) == MOST_FEEDS or feed.id in batch:
            yield list(batch.values())
            batch = {}
        batch[feed.id] = document, feed
    yield list(batch.values())


@contextmanager
def _failing(*members: Member) -> Iterator[None]:
    """What is raised in here fails the checks of these feeds."""
    try:
        yield
    except Exception as error:  # noqa: BLE001 - `as_feed_error` logs what is a mistake of ours
        reason = as_feed_error(error, [feed for _, feed in members])
        for document, feed in members:
            document.results[feed.id] = CheckResult(reason)


def as_feed_error(error: Exception, feeds: Sequence[Feed]) -> TidingsError:
    """Return what the feeds show as the reason of their failure. What is no error of the feed is logged."""
    if isinstance(error, TidingsError):
        return error
    log.error("feed check crashed", feed=feeds[0].id, feeds=len(feeds), exc_info=error)
    return InvalidInput(
        msg(
            "Tidings failed on this feed ({name}); please report it with the feed's address.",
            name=type(error).__name__,
        )
    )
