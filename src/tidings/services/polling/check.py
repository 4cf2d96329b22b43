"""Checks one source: the document is fetched and parsed once for all of its feeds.

fetch ─► unchanged? ─► full content ─► ingest ─► write remaining columns, release the lease ─► icons
  └─ failed? write the error and the time of the next check to every feed
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

import structlog
from msgspec import Struct

from tidings import metrics
from tidings.base.errors import LocalShortage, StoreUnavailable, TidingsError
from tidings.base.messages import msg
from tidings.base.times import SECOND, Instant
from tidings.content.errors import FeedError
from tidings.domain.feeds.feeds import Feed
from tidings.domain.polling.ingestion import DEFAULT_INSTANCE, InstanceSettings
from tidings.domain.polling.next_check import Schedule
from tidings.domain.polling.sources import SourceLease, Validators, host_of, shared_validators
from tidings.engine.database import Database
from tidings.net.errors import FetchError
from tidings.net.fetch import FetchRequest, FetchResponse
from tidings.services.batching import Batcher, write_batch
from tidings.services.clock import Clock
from tidings.services.feeds.icons import Icons
from tidings.services.listeners import CheckedDocument, Listeners
from tidings.services.polling.full_content import USER_TIMEOUT_S, WORKER_TIMEOUT_S, FullContent
from tidings.services.polling.ingest import FetchedDocument, IngestQueue, as_feed_error
from tidings.services.polling.next_check import Timing
from tidings.services.polling.outages import FailedCheck, Outages
from tidings.services.polling.store import CheckResult, FeedColumns, finish
from tidings.services.rate_limit import HostClosed, PoliteFetcher
from tidings.storage.feeds import feeds as stored_feeds

log = structlog.get_logger()


class AlreadySubscribed(FeedError):
    code = "already-subscribed"
    is_retryable = False


class CheckRun(Struct):
    """A running check.

    status: of the response, or 0. results: by feed id, without feeds whose document is unchanged. columns: columns of
    feeds to write at the end. is_lost: another worker claimed the source meanwhile. is_outage: the network is down.
    """

    lease: SourceLease
    started: Instant
    timing: Timing
    status: int = 0
    results: dict[int, CheckResult] = {}
    columns: list[FeedColumns] = []
    is_lost: bool = False
    is_outage: bool = False

    @property
    def failed(self) -> dict[int, TidingsError]:
        return {feed_id: one.error for feed_id, one in self.results.items() if one.error is not None}

    @property
    def stored(self) -> list[CheckResult]:
        return [result for result in self.results.values() if result.error is None]

    def fail(self, feeds: Sequence[Feed], error: TidingsError) -> None:
        self.results |= {feed.id: CheckResult(error) for feed in feeds}

    def log(self, *, took: int) -> None:
        """Log the check and count it in the metrics. took: microseconds."""
        stored, failed = self.stored, self.failed
        ways = {"lost": self.is_lost, "outage": self.is_outage, "stored": stored, "failed": failed}
        new = sum(len(result.new_ids) for result in stored)
        metrics.record_poll(next((way for way, is_so in ways.items() if is_so), "unchanged"), took / SECOND, new)
        about = {"source": self.lease.source_id, "feeds": len(self.lease.feeds), "took_ms": took // 1000}
        if self.is_lost:
            log.info("source claimed by another worker", **about)
            return
        # An outage of the network is logged once, not for each feed.
        write = log.debug if self.is_outage else log.warning
        for code, (count, reason) in _reasons(failed).items():
            write("feed failed", feed=self.lease.lead.id, code=code, failed=count, reason=reason, **about)
        if len(failed) < len(self.lease.feeds):
            log.info(
                "feed polled",
                feed=self.lease.lead.id,
                status=self.status,
                parsed=len(stored),
                new=new,
                changed=sum(result.changed for result in stored),
                skipped=max((result.skipped for result in stored), default=0),
                **about,
            )


class FeedChecker:
    def __init__(
        self,
        database: Database,
        fetcher: PoliteFetcher,
        clock: Clock,
        *,
        icons: Icons,
        full_content: FullContent,
        listeners: Listeners,
        schedule: Schedule,
        ingest: IngestQueue,
        instance: InstanceSettings = DEFAULT_INSTANCE,
    ) -> None:
        self._database = database
        self._fetcher = fetcher
        self._clock = clock
        self._icons = icons
        self._full_content = full_content
        self._listeners = listeners
        self._schedule = schedule
        self._ingest = ingest
        self._instance = instance
        self._outages = Outages(database, clock)
        self._finishing = Batcher(partial(write_batch, database, finish))

    async def check(self, lease: SourceLease) -> dict[int, CheckResult]:
        """Check a source and return the results by feed id. Each feed gets its next check, and the lease is released.

        Raises StoreUnavailable if nothing could be written; the lease then expires.
        """
        run = CheckRun(lease, self._clock(), Timing.draw(self._schedule, is_pushed=lease.is_pushed))
        try:
            response = await self._fetcher.get(
                request_for(lease.lead, shared_validators(lease.feeds)),
                {feed.user_id for feed in lease.feeds},
                requested_by=lease.requested_by,
                is_cleared=bool(lease.worker),
            )
        except LocalShortage:
            # As with a database that does not answer: the lease expires, and the source is checked again.
            raise
        except TidingsError as error:
            self._record_outcome(run, error)
            run.fail(lease.feeds, error)
        else:
            self._record_outcome(run, None)
            await self._process(run, response)
        await self._finish(run)
        failed = run.failed
        if not run.is_lost:
            succeeded = [feed for feed in lease.feeds if feed.id not in failed]
            await self._icons.update_due(succeeded, is_user_waiting=not lease.worker)
        return {feed.id: run.results.get(feed.id, CheckResult()) for feed in lease.feeds}

    async def _process(self, run: CheckRun, response: FetchResponse) -> None:
        run.status = response.status
        feeds = await self._accepted(run, response)
        changed = []
        for feed in feeds:
            if response.not_modified or response.digest == feed.body_digest:
                run.columns.append((feed, run.timing.after_unchanged(feed, response, run.started)))
            else:
                changed.append(feed)
        if changed:
            document = FetchedDocument(run.lease, changed, response, run.timing, instance=self._instance)
            timeout_s = WORKER_TIMEOUT_S if run.lease.worker else USER_TIMEOUT_S
            if any(feed.crawler for feed in changed):
                document.full_content = await self._full_content.of_document(document, timeout_s=timeout_s)
            run.results |= await self._ingest.add(document)
        elif feeds and response.links:
            checked = CheckedDocument(run.lease.lead, response)
            await asyncio.to_thread(self._listeners.tell_documents_checked, [checked])

    async def _accepted(self, run: CheckRun, response: FetchResponse) -> Sequence[Feed]:
        """Returns the feeds of the source, except those redirected to another feed of the same user."""
        feeds = run.lease.feeds
        if response.url == run.lease.lead.feed_url:
            return feeds
        try:
            others = await asyncio.to_thread(self._others_at, response.url, feeds)
        except Exception as error:  # noqa: BLE001 - `as_feed_error` logs unexpected errors
            run.fail(feeds, as_feed_error(error, feeds))
            return []
        for feed in feeds:
            if feed.id in others:
                run.fail([feed], _already_subscribed(response.url, others[feed.id]))
        return [feed for feed in feeds if feed.id not in others]

    def _others_at(self, url: str, feeds: Sequence[Feed]) -> dict[int, int]:
        """Returns other feeds of the same user at this URL, by feed id."""
        with self._database.reading() as db:
            others = {feed.id: stored_feeds.id_by_url(db, feed.user_id, url) for feed in feeds}
        return {feed_id: other for feed_id, other in others.items() if other not in (None, feed_id)}

    async def _finish(self, run: CheckRun) -> None:
        """Write the error and the next check of every failed feed, and the remaining columns."""
        failed = run.failed
        if unwritten := [error for error in failed.values() if isinstance(error, StoreUnavailable | LocalShortage)]:
            # The lease expires, and the source is claimed again.
            raise unwritten[0]
        unreached = self._add_failures(run, failed)
        stored = run.stored
        if len(run.lease.feeds) == 1 and stored:
            # `store` has written everything and released the lease.
            run.is_lost = stored[0].is_lost
        else:
            run.is_lost = not await self._finishing.add((run.lease, run.columns))
        run.log(took=self._clock() - run.started)
        if run.lease.worker and not run.is_lost:
            await self._outages.settle(unreached)

    def _add_failures(self, run: CheckRun, failed: Mapping[int, TidingsError]) -> list[FailedCheck]:
        """Add the columns of failed feeds to the run. Returns failures to reach a host, which an outage reverts."""
        unreached = []
        for feed in run.lease.feeds:
            error = failed.get(feed.id)
            if error is None:
                continue
            columns: dict[str, Any] = {}
            if run.lease.worker and self._outages.explains(error):
                run.is_outage = True
                columns = {"next_check_at": self._outages.retry_at()}
            elif not isinstance(error, HostClosed):
                columns = run.timing.after_failure(feed, error, self._clock())
                if isinstance(error, FetchError) and not error.was_connected:
                    unreached.append(FailedCheck(feed, columns["next_check_at"]))
            if columns:
                run.columns.append((feed, columns))
        return unreached

    def _record_outcome(self, run: CheckRun, error: TidingsError | None) -> None:
        """Pass the outcome to the detection of outages. A refresh by a user contacts too few hosts to detect any."""
        if run.lease.worker and not isinstance(error, HostClosed):
            self._outages.record(host_of(run.lease.lead.feed_url), error)


def request_for(feed: Feed, validators: Validators) -> FetchRequest:
    """Returns the request for the document of a feed, with all of its fetch options."""
    return FetchRequest(
        url=feed.feed_url,
        etag=validators.etag,
        last_modified=validators.last_modified,
        user_agent=feed.user_agent,
        cookie=feed.cookie,
        username=feed.username,
        password=feed.password,
        ignore_cache=feed.ignore_http_cache,
        allow_self_signed_certificates=feed.allow_self_signed_certificates,
        proxy_url=feed.proxy_url,
        fetch_via_proxy=feed.fetch_via_proxy,
    )


def _already_subscribed(url: str, other: int) -> AlreadySubscribed:
    return AlreadySubscribed(
        msg(
            "This address leads to {url}, which you are already subscribed to (feed {other}): delete one.",
            url=url,
            other=other,
        )
    )


def _reasons(failed: Mapping[int, TidingsError]) -> dict[str, tuple[int, str]]:
    """Returns the number of failed feeds and the message of the first one, by error code."""
    reasons: dict[str, tuple[int, str]] = {}
    for error in failed.values():
        count, reason = reasons.get(error.code, (0, error.message))
        reasons[error.code] = count + 1, reason
    return reasons
