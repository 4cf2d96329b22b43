"""A check on its way through the steps of `check`: its document, its prepared entries, and its results.

Entries are prepared once for all feeds with the same rules, within a limit of memory:

decided update ─► filter ─► rewrite ─► clean (`domain.polling.entry_policy`) ─► update that is ready to be stored
"""

from __future__ import annotations

import sys
from collections.abc import Hashable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, Final, TypeAlias, TypeVar, cast

import structlog
from msgspec import Struct
from msgspec.structs import replace

from tidings import metrics
from tidings.base.errors import InvalidInput, LocalShortage, TidingsError
from tidings.base.messages import msg
from tidings.base.shortages import is_shortage
from tidings.base.times import SECOND, Instant
from tidings.content import formats
from tidings.content.articles import Article
from tidings.content.errors import FeedError
from tidings.content.model import ParsedEntry, ParsedFeed
from tidings.content.rules.evaluation import MAX_CHECK_S, RuleBudget
from tidings.domain.entries.entries import ReadyEntry
from tidings.domain.feeds.feeds import Feed
from tidings.domain.polling.changes import FeedUpdate
from tidings.domain.polling.entry_policy import (
    DEFAULT_INSTANCE,
    EntryPolicy,
    InstanceSettings,
    PreparationResult,
    prepare,
)
from tidings.domain.polling.shared_sources import NO_VALIDATORS, SourceLease
from tidings.engine.distribution import Place
from tidings.net.fetch import FetchResponse
from tidings.services.listeners import CheckedDocument
from tidings.services.polling.store import CheckResult, FeedColumns

log = structlog.get_logger()

# Maximum number of feeds in one transaction: limits how long others wait for the database, and the memory used.
MAX_FEEDS = 25
# Bytes of cleaned content. The largest of 200 real feeds needs a tenth of it.
MAX_CONTENT_BYTES: Final = 64 * 2**20

Key = TypeVar("Key")


class EntryPreparer:
    """Prepares the entries of one document, and reuses prepared entries for feeds with the same rules and settings."""

    def __init__(self, instance: InstanceSettings = DEFAULT_INSTANCE) -> None:
        self.durations: Mapping[str, int] = {}
        """Minutes that films and recordings last, by the URL of their entry, where the document does not say it."""
        self._instance = instance
        self._prepared: dict[tuple[Hashable, str], PreparationResult] = {}
        self._size = 0

    def prepare(
        self, update: FeedUpdate[ParsedEntry], *, articles: Mapping[bytes, Article] | None = None
    ) -> FeedUpdate[ReadyEntry]:
        """Return the update with its new and changed entries prepared, without those that a filter removes.

        articles: full content of new entries, by hash. If not all entries fit into memory, the columns of the update
        clear the validators, so that the next check reads the document again.
        """
        # The type of the entries changes: `replace` cannot say so.
        decided = cast("Any", update)
        if not update.new and not update.changed:
            empty: FeedUpdate[ReadyEntry] = decided
            return empty
        policy = EntryPolicy.for_feed(update.feed, update.user, self._instance)
        # A document has up to 10,000 entries: what one of them may use is too much for all of them.
        budget = RuleBudget(MAX_CHECK_S)
        new = self._all(policy, update, update.new, budget, articles)
        changed = self._all(policy, update, update.changed, budget)
        is_complete = len(new) == len(update.new) and len(changed) == len(update.changed)
        worse_pages = sum(one.is_page_worse for one in new.values())
        if worse_pages:
            log.info("pages have less text than the feed", feed=update.feed.id or None, pages=worse_pages)
        ready: FeedUpdate[ReadyEntry] = replace(
            decided,
            new=_dated(update, _kept(new)),
            changed=_kept(changed),
            columns={} if is_complete else dict(NO_VALIDATORS),
            rule_errors=[
                *policy.rule_errors,
                *(warning for one in (*new.values(), *changed.values()) for warning in one.warnings),
            ],
            worse_pages=worse_pages if articles else None,
        )
        return ready

    def _all(
        self,
        policy: EntryPolicy,
        update: FeedUpdate[ParsedEntry],
        entries: Mapping[Key, ParsedEntry],
        budget: RuleBudget,
        articles: Mapping[Key, Article] | None = None,
    ) -> dict[Key, PreparationResult]:
        """Return the first entries, prepared, that fit into memory; at least one.

        entries: by hash or by id. budget: what the rules may use for all of them.
        """
        results: dict[Key, PreparationResult] = {}
        size = 0
        for key, entry in entries.items():
            result = self._one(entry, policy, update, budget, articles.get(key) if articles else None)
            results[key] = result
            size += sys.getsizeof(result.entry.content) if result.entry else 0
            if size > MAX_CONTENT_BYTES:
                break
        return results

    def _one(
        self,
        entry: ParsedEntry,
        policy: EntryPolicy,
        update: FeedUpdate[ParsedEntry],
        budget: RuleBudget,
        article: Article | None,
    ) -> PreparationResult:
        feed, now = update.feed, update.now
        if article is not None:
            prepared = prepare(entry, policy, feed=feed, now=now, article=article, budget=budget.for_entry())
            return self._with_duration(prepared, entry)
        key = policy.key, entry.hash
        result = self._prepared.get(key)
        if result is None:
            result = prepare(entry, policy, feed=feed, now=now, budget=budget.for_entry())
            result = self._with_duration(result, entry)
            self._size += sys.getsizeof(result.entry.content) if result.entry else 0
            if self._size <= MAX_CONTENT_BYTES:
                self._prepared[key] = result
        return result

    def _with_duration(self, result: PreparationResult, entry: ParsedEntry) -> PreparationResult:
        minutes = 0 if entry.duration_minutes else self.durations.get(entry.url, 0)
        if result.entry is None or not minutes:
            return result
        return replace(result, entry=replace(result.entry, reading_time=minutes))


def _kept(results: Mapping[Key, PreparationResult]) -> dict[Key, ReadyEntry]:
    return {key: result.entry for key, result in results.items() if result.entry is not None}


def _dated(update: FeedUpdate[ParsedEntry], ready: Mapping[bytes, ReadyEntry]) -> Mapping[bytes, ReadyEntry]:
    """Return new entries with `undated_at` where they have no date. It differs between feeds of a source."""
    if update.undated_at is None:
        return ready
    return {
        hash_: entry if update.new[hash_].published_at else replace(entry, published_at=update.undated_at)
        for hash_, entry in ready.items()
    }


class CheckRun(Struct, eq=False):
    """A running check of one source: what the steps so far have found out, for all feeds of the source."""

    lease: SourceLease
    started: Instant
    random_fraction: float
    """0 to 1, drawn once for the check, so that the feeds of the source fall due together again."""
    preparer: EntryPreparer
    response: FetchResponse = FetchResponse(status=0, url="", body=b"")
    """With status 0 until there is one."""
    document: ParsedFeed | FeedError | None = None
    """The parsed document, or why it cannot be parsed; None until `parsed` is called. A page is read before."""
    changed: list[Feed] = []
    """The feeds for which the document has changed."""
    articles: Mapping[int, Mapping[bytes, Article]] = {}
    """Full content of new entries, by feed id and entry hash."""
    results: dict[int, CheckResult] = {}
    """By feed id, without feeds whose document is unchanged."""
    columns: list[FeedColumns] = []
    """Columns of feeds to write at the end."""
    is_lost: bool = False
    """Another worker claimed the source during the check."""
    is_outage: bool = False
    """Our own network is down."""

    @property
    def failed(self) -> dict[int, TidingsError]:
        """The errors of failed feeds by feed id."""
        return {feed_id: one.error for feed_id, one in self.results.items() if one.error is not None}

    @property
    def stored(self) -> list[CheckResult]:
        """The results of feeds whose entries were stored."""
        return [result for result in self.results.values() if result.error is None]

    def fail(self, feeds: Sequence[Feed], error: Exception) -> None:
        """Record that the check of these feeds failed."""
        reason = as_feed_error(error, feeds)
        self.results |= {feed.id: CheckResult(reason) for feed in feeds}

    def parsed(self, now: Instant) -> ParsedFeed:
        """Return the parsed document; it is parsed once. Raises FeedError, each time, if it cannot be parsed."""
        if self.document is None:
            try:
                self.document = parse(self.response, now)
            except FeedError as error:
                self.document = error
        if isinstance(self.document, FeedError):
            raise self.document
        return self.document

    def checked(self, now: Instant) -> CheckedDocument:
        """Return what listeners get to know of the document after its entries were stored."""
        # A feed that was never checked gets its first entries, which are not news.
        has_news = any(
            feed.checked_at and self.results[feed.id].new_ids for feed in self.changed if feed.id in self.results
        )
        return CheckedDocument(self.lease.lead, self.response, self.parsed(now), has_news, self.lease.has_hub)

    def free(self) -> None:
        """Free the memory of what only the steps until storing need."""
        self.document, self.articles, self.preparer = None, {}, EntryPreparer()

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
                status=self.response.status,
                parsed=len(stored),
                new=new,
                changed=sum(result.changed for result in stored),
                skipped=max((result.skipped for result in stored), default=0),
                **about,
            )


class Part(Struct, frozen=True):
    """Feeds of a check whose entries are stored together, in one transaction or with those of other checks."""

    run: CheckRun
    feeds: Sequence[Feed]
    is_last: bool
    """Nothing of the document is stored afterwards."""


def parts(run: CheckRun, places: Mapping[int, Place]) -> Iterator[Part]:
    """Yield the feeds for which the document of a check has changed, MAX_FEEDS at a time. places: as of `batches`."""
    feeds = sorted(run.changed, key=lambda feed: places[feed.user_id]) if places else run.changed
    for start in range(0, len(feeds), MAX_FEEDS):
        end = start + MAX_FEEDS
        yield Part(run, feeds[start:end], end >= len(feeds))


# One feed of a check.
Member: TypeAlias = tuple[CheckRun, Feed]


def batches(members: Sequence[Member], places: Mapping[int, Place]) -> Iterator[list[Member]]:
    """Yield batches of members for one transaction each; no feed occurs twice in a batch.

    places: where the rows of the feeds' users are, if the database is distributed. A transaction with those of few
    servers and shards takes a fraction of the time.
    """
    batch: dict[int, Member] = {}
    for run, feed in sorted(members, key=lambda member: places[member[1].user_id]) if places else members:
        if len(batch) == MAX_FEEDS or feed.id in batch:
            yield list(batch.values())
            batch = {}
        batch[feed.id] = run, feed
    yield list(batch.values())


@contextmanager
def failing(*members: Member) -> Iterator[None]:
    """Turn an exception into failed results of these feeds, so that the other feeds of a batch go on."""
    try:
        yield
    except Exception as error:  # noqa: BLE001 - `as_feed_error` logs unexpected errors
        reason = as_feed_error(error, [feed for _, feed in members])
        for run, feed in members:
            run.fail([feed], reason)


def as_feed_error(error: Exception, feeds: Sequence[Feed]) -> TidingsError:
    """Return the error to store with the feeds. An unexpected exception is logged."""
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


def parse(response: FetchResponse, now: Instant) -> ParsedFeed:
    """Return the parsed document of a response. Raises FeedError."""
    return formats.parse_feed(response.body, url=response.url, charset=response.charset or None, now=now)


def _reasons(failed: Mapping[int, TidingsError]) -> dict[str, tuple[int, str]]:
    """Return the number of failed feeds and the message of the first one, by error code."""
    reasons: dict[str, tuple[int, str]] = {}
    for error in failed.values():
        count, reason = reasons.get(error.code, (0, error.message))
        reasons[error.code] = count + 1, reason
    return reasons
