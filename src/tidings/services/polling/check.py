"""Checks sources: a document is fetched and parsed once for all of its feeds.

    claim ─► fetch ─► parse ─► decide ─► prepare ─► store ─► next check, release the lease ─► icons
    (lease)    │                                             ▲
               ├─ unchanged? only the time of the next check ┤
               └─ failed? the error, for every feed ─────────┘

From "parse" on several documents go together: they share a look-up and a transaction. If one feed fails, its result
holds the error, and the other feeds still get their entries. A failure to store anything lets the lease expire, so that
the source is claimed again.
"""

from __future__ import annotations

import asyncio
import random
from collections.abc import Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import Any

import structlog

from tidings.base.errors import LocalShortage, StoreUnavailable, TidingsError
from tidings.content.errors import FeedError, NoItems
from tidings.content.model import ParsedEntry, ParsedFeed
from tidings.domain.entries.entries import ReadyEntry
from tidings.domain.feeds.feeds import Feed
from tidings.domain.polling.changes import FeedUpdate, diff_entries, identify_entries
from tidings.domain.polling.check_times import Schedule
from tidings.domain.polling.entry_policy import DEFAULT_INSTANCE, InstanceSettings
from tidings.domain.polling.shared_sources import SourceLease
from tidings.engine.database import Database
from tidings.engine.distribution import Place, places_of
from tidings.net.errors import FetchError
from tidings.services.batching import Batcher, write_batch
from tidings.services.clock import Clock
from tidings.services.feeds.icons import Icons
from tidings.services.listeners import CheckedDocument, Listeners
from tidings.services.polling import decide
from tidings.services.polling.full_content import USER_TIMEOUT_S, WORKER_TIMEOUT_S, FullContent
from tidings.services.polling.lease import Outages
from tidings.services.polling.page_reader import PageReader, items_gone
from tidings.services.polling.run import MAX_FEEDS, CheckRun, EntryPreparer, Member, Part, batches, failing, parts
from tidings.services.polling.store import (
    CheckResult,
    FeedColumns,
    finish,
    look_up,
    other_feeds_at,
    size_of,
    store_updates,
)
from tidings.services.publisher_requests import HostClosed, PoliteFetcher
from tidings.services.rule_log import log_rule_errors
from tidings.storage.accounts import users

log = structlog.get_logger()

# Maximum number of bytes of the documents in one batch; a larger document is a batch of its own.
MAX_BYTES = 2 * 2**20
# Maximum number of documents in one batch: about half of what a worker fetches at the same time, so that the next ones
# arrive while these are stored.
MAX_DOCUMENTS = 8


class FeedChecker:
    """Takes a claimed source through all steps."""

    def __init__(
        self,
        database: Database,
        fetcher: PoliteFetcher,
        clock: Clock,
        *,
        icons: Icons,
        full_content: FullContent,
        pages: PageReader,
        listeners: Listeners,
        schedule: Schedule,
        instance: InstanceSettings = DEFAULT_INSTANCE,
    ) -> None:
        self._database = database
        self._fetcher = fetcher
        self._clock = clock
        self._icons = icons
        self._full_content = full_content
        self._pages = pages
        self._listeners = listeners
        self._schedule = schedule
        self._instance = instance
        self._outages = Outages(database, clock)
        # The next batch is collected while one is stored.
        self._documents: Batcher[Part, None] = Batcher(
            self.store_documents,
            # One thread: parsing needs the interpreter, and several threads would hold the database while they wait for
            # each other. Other workers use the other cores.
            executor=ThreadPoolExecutor(1, thread_name_prefix="ingest"),
            weight=lambda part: max(len(part.run.response.body), MAX_BYTES // MAX_DOCUMENTS),
            max_weight=MAX_BYTES,
        )
        self._finishing = Batcher(partial(write_batch, database, partial(finish, listeners=listeners)))
        # Number of documents with several parts that are being stored.
        self._in_parts = 0

    @property
    def is_storing_parts(self) -> bool:
        """Whether entries are being stored for more feeds of a source than one transaction takes."""
        return self._in_parts > 0

    async def check(self, lease: SourceLease) -> dict[int, CheckResult]:
        """Check a source and return the results by feed id. Each feed gets its next check, and the lease is released.

        Raises StoreUnavailable or LocalShortage if nothing could be written; the lease then expires.
        """
        run = self.start(lease)
        try:
            run.response = await self._fetcher.get(
                decide.request_for(lease.feeds),
                {feed.user_id for feed in lease.feeds},
                requested_by=lease.requested_by,
                is_cleared=bool(lease.worker),
            )
        except LocalShortage:
            raise
        except TidingsError as error:
            self._outages.record(lease, error)
            run.fail(lease.feeds, error)
        else:
            self._outages.record(lease, None)
            await self._read(run)
        await self._finish(run)
        if not run.is_lost:
            succeeded = [feed for feed in lease.feeds if feed.id not in run.failed]
            await self._icons.update_due(succeeded, is_user_waiting=not lease.worker)
        return {feed.id: run.results.get(feed.id, CheckResult()) for feed in lease.feeds}

    def start(self, lease: SourceLease) -> CheckRun:
        """Return a check of a source, which has not fetched anything yet."""
        return CheckRun(lease, self._clock(), random.random(), EntryPreparer(self._instance))  # noqa: S311 - no secret

    async def _read(self, run: CheckRun) -> None:
        """Send the document through the remaining steps for the feeds for which it has changed."""
        feeds, response = await self._accepted(run), run.response
        for feed in feeds:
            if decide.is_unchanged(feed, response):
                columns = decide.after_unchanged(
                    feed, run.lease, response, self._schedule, run.started, random_fraction=run.random_fraction
                )
                run.columns.append((feed, columns))
            else:
                run.changed.append(feed)
        if run.changed and run.lease.lead.kind:
            await self._read_page(run)
        if any(feed.crawler for feed in run.changed):
            timeout_s = WORKER_TIMEOUT_S if run.lease.worker else USER_TIMEOUT_S
            run.articles = await self._full_content.of_document(run, timeout_s=timeout_s)
        if run.changed and self._listeners.wants_durations(run.response.body):
            timeout_s = WORKER_TIMEOUT_S if run.lease.worker else USER_TIMEOUT_S
            run.preparer.durations = await self._full_content.durations(run, self._listeners, timeout_s=timeout_s)
        if run.changed:
            await self._store_parts(run)
        elif feeds and response.links:
            unread = CheckedDocument(run.lease.lead, response)
            await asyncio.to_thread(self._listeners.tell_documents_checked, [unread])

    async def _store_parts(self, run: CheckRun) -> None:
        """Store the entries of a document, one part after the other: other documents are stored in between."""
        has_parts = len(run.changed) > MAX_FEEDS
        self._in_parts += has_parts
        try:
            for part in parts(run, await asyncio.to_thread(self._places, run.changed) if has_parts else {}):
                await self._documents.add(part)
        finally:
            self._in_parts -= has_parts

    async def _read_page(self, run: CheckRun) -> None:
        """Read the page of a feed that is made from one: the later steps find it parsed."""
        feed = run.lease.lead
        try:
            reading = await self._pages.read(feed.kind, feed.selectors, run.response, self._clock())
            run.document = reading.feed
        except NoItems as error:
            run.document = items_gone(error, max(feed.page_items for feed in run.lease.feeds))
        except FeedError as error:
            run.document = error
        except Exception as error:  # noqa: BLE001 - `CheckRun.fail` logs unexpected errors
            run.fail(run.changed, error)
            run.changed = []

    async def _accepted(self, run: CheckRun) -> Sequence[Feed]:
        """Return the feeds of the source, except those redirected to another feed of the same user."""
        feeds, url = run.lease.feeds, run.response.url
        if url == run.lease.lead.feed_url:
            return feeds
        try:
            others = await asyncio.to_thread(other_feeds_at, self._database, url, feeds)
        except Exception as error:  # noqa: BLE001 - `CheckRun.fail` logs unexpected errors
            run.fail(feeds, error)
            return []
        for feed_id, other in others.items():
            run.fail([feed for feed in feeds if feed.id == feed_id], decide.AlreadySubscribed(url, other))
        return [feed for feed in feeds if feed.id not in others]

    def store_documents(self, stored: Sequence[Part]) -> list[None]:
        """Parse documents and store their entries; the results are in the runs."""
        members = [(part.run, feed) for part in stored for feed in part.feeds]
        places = self._places([feed for _, feed in members]) if len(members) > MAX_FEEDS else {}
        for batch in batches(members, places):
            documents: dict[int, ParsedFeed] = {}
            for run, feed in batch:
                with failing((run, feed)):
                    documents[feed.id] = identify_entries(feed, run.parsed(self._clock()))
            if readable := [(run, feed) for run, feed in batch if feed.id in documents]:
                with failing(*readable):
                    self._store_entries(readable, documents)
        now, done = self._clock(), [part.run for part in stored if part.is_last]
        self._listeners.tell_documents_checked([run.checked(now) for run in done if run.stored])
        for run in done:
            run.free()
        return [None] * len(stored)

    def _places(self, feeds: Iterable[Feed]) -> Mapping[int, Place]:
        """Return where the rows of the feeds' users are; {} if the database is not distributed."""
        if not self._database.is_distributed:
            return {}
        with self._database.reading() as db:
            return places_of(db, {feed.user_id for feed in feeds})

    def _store_entries(self, members: Sequence[Member], documents: Mapping[int, ParsedFeed]) -> None:
        """documents: by feed id."""
        with self._database.reading() as db:
            known = look_up(db, documents, {feed.id: feed.user_id for _, feed in members})
            owners = users.get_many(db, {feed.user_id for _, feed in members})
            full = self._listeners.full(db, owners)
        updates: list[tuple[Member, FeedUpdate[ReadyEntry]]] = []
        # The same for all, so that feeds of one source get the same columns.
        size, now = 0, self._clock()
        for run, feed in members:
            if feed.user_id not in owners:
                continue
            with failing((run, feed)):
                decided = diff_entries(owners[feed.user_id], feed, documents[feed.id], known[feed.id], now=now)
                if decided.new and feed.user_id in full:
                    # As after any failure the validators stay: a later check gets the entries, when there is room.
                    raise full[feed.user_id]
                update = self._prepare(run, decided)
                updates.append(((run, feed), update))
                size += size_of(update)
            if size > MAX_BYTES:
                self._store(updates)
                updates, size = [], 0
        if updates:
            self._store(updates)

    def _prepare(self, run: CheckRun, decided: FeedUpdate[ParsedEntry]) -> FeedUpdate[ReadyEntry]:
        """Return the update of one feed with its entries prepared and with the feed's columns."""
        document = run.parsed(decided.now)
        if document.limits_reached:
            log.info("feed cut at a limit", feed=decided.feed.id, limits=sorted(document.limits_reached))
        ready = run.preparer.prepare(decided, articles=run.articles.get(decided.feed.id))
        return decide.after_document(
            ready, run.lease, run.response, document, self._schedule, random_fraction=run.random_fraction
        )

    def _store(self, updates: Sequence[tuple[Member, FeedUpdate[ReadyEntry]]]) -> None:
        write = partial(store_updates, listeners=self._listeners)
        outcomes = write_batch(self._database, write, [update for _, update in updates])
        for ((run, feed), update), outcome in zip(updates, outcomes, strict=True):
            with failing((run, feed)):
                if isinstance(outcome, Exception):
                    raise outcome
                run.results[feed.id] = outcome
                if outcome.left_out:
                    log.info("entries left out: the account is full", feed=feed.id, entries=outcome.left_out)
                if not outcome.is_lost:
                    log_rule_errors(feed.id, update.rule_errors)

    async def _finish(self, run: CheckRun) -> None:
        """Write the error and the next check of every failed feed, and the remaining columns."""
        for error in run.failed.values():
            if isinstance(error, StoreUnavailable | LocalShortage):
                raise error
        unreached = self._add_failures(run)
        if len(run.lease.feeds) == 1 and run.stored:
            # `store_updates` has written everything and released the lease.
            run.is_lost = run.stored[0].is_lost
        else:
            run.is_lost = not await self._finishing.add((run.lease, run.columns))
        run.log(took=self._clock() - run.started)
        if run.lease.worker and not run.is_lost:
            await self._outages.settle(unreached)

    def _add_failures(self, run: CheckRun) -> list[FeedColumns]:
        """Add the columns of failed feeds to the run. Return failures to reach a host, which an outage reverts."""
        unreached: list[FeedColumns] = []
        failed = run.failed
        for feed in (feed for feed in run.lease.feeds if feed.id in failed):
            error = failed[feed.id]
            columns: dict[str, Any] = {}
            if run.lease.worker and self._outages.explains(error):
                run.is_outage = True
                columns = {"next_check_at": self._outages.retry_at()}
            elif not isinstance(error, HostClosed):
                columns = decide.after_failure(
                    feed, error, self._schedule, self._clock(), random_fraction=run.random_fraction
                )
                if isinstance(error, FetchError) and not error.was_connected:
                    unreached.append((feed, columns))
            if columns:
                run.columns.append((feed, columns))
        return unreached
