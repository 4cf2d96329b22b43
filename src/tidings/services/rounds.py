"""A check under way: what was read, what it has come to so far, and how that is told."""

from __future__ import annotations

from typing import Any

import structlog
from msgspec import Struct
from msgspec.structs import replace

from tidings import metrics
from tidings.domain.errors import FeedError, TidingsError
from tidings.domain.feeds import Feed, ParsedFeed
from tidings.domain.ingestion import Instance
from tidings.domain.sources import Claim
from tidings.domain.times import SECOND, Instant
from tidings.net.fetch import FetchResponse
from tidings.services import intake
from tidings.services.intake import Brought, Held, News
from tidings.services.preparing import Preparing
from tidings.services.shortening import Shortened
from tidings.services.storing import Stored
from tidings.services.timing import Timing
from tidings.storage.polling import Result

log = structlog.get_logger()


class Checked(Struct, frozen=True):
    """What a check came to, for one feed. error: why it did not succeed, if it did not."""

    error: TidingsError | None = None
    new_entries: int = 0


class Reading:
    """An answer, read when the first feed needs it: a document that nobody can read fails each of them.

    shortened: when what its feed knows may be left out.
    """

    def __init__(
        self, response: FetchResponse, now: Instant, instance: Instance, shortened: Shortened | None = None
    ) -> None:
        self.response = response
        self.preparing = Preparing(instance)
        self.shortened = shortened
        self._now = now
        self._document: ParsedFeed | FeedError | None = None

    @property
    def document(self) -> ParsedFeed:
        if self._document is None:
            try:
                self._document = self._read()
            except FeedError as error:
                self._document = error
        if isinstance(self._document, FeedError):
            raise self._document
        return self._document

    def with_known(self, found: News) -> News:
        """With what was left out because it is buried: it still stands in the document."""
        buried = self.shortened.buried if self.shortened else frozenset()
        return replace(found, buried=found.buried | buried) if buried else found

    def with_pieces(self, brought: Brought, found: News) -> Brought:
        """With what is to be remembered of the document. found: what was new in it."""
        if self.shortened is None:
            return brought
        written = {entry.hash: entry.fingerprint for entry in brought.selection.entries}
        return replace(brought, pieces=self.shortened.to_remember(self.document, {**found.same, **written}))

    def _read(self) -> ParsedFeed:
        if self.shortened is not None and self.shortened.known:
            if (found := self.shortened.read(self.response, self._now)) is not None:
                return found
            self.shortened = Shortened(self.shortened.document)
        return intake.parse(self.response, self._now)


class Round(Struct):
    """A check under way, and what it has come to so far, by feed id.

    worker: who holds the source; None when somebody waits for the check and none is needed. results: to be written.
    """

    claim: Claim
    worker: str | None
    started: Instant
    timing: Timing
    status: int = 0
    failed: dict[int, TidingsError] = {}
    stored: dict[int, Stored] = {}
    results: list[Result] = []
    is_lost: bool = False
    is_outage: bool = False

    @property
    def held(self) -> Held | None:
        if self.worker is None:
            return None
        return Held(self.claim.source_id, self.worker, is_last=len(self.claim.feeds) == 1)

    def as_before(self, feed: Feed, response: FetchResponse) -> dict[str, Any]:
        """What to write on a feed whose document is the one it had."""
        return intake.unchanged(feed, response, timing=self.timing, now=self.started)

    @property
    def had_news(self) -> bool:
        """Of a document that was seen before."""
        before = {feed.id for feed in self.claim.feeds if feed.checked_at}
        return any(one.new_ids and feed_id in before for feed_id, one in self.stored.items())

    def checked(self, feed_id: int) -> Checked:
        stored = self.stored.get(feed_id)
        return Checked(self.failed.get(feed_id), 0 if stored is None else len(stored.new_ids))

    @property
    def outcome(self) -> str:
        ways = {"lost": self.is_lost, "outage": self.is_outage, "stored": self.stored, "failed": self.failed}
        return next((way for way, is_so in ways.items() if is_so), "unchanged")

    def tell(self, *, took: int) -> None:
        new = sum(len(one.new_ids) for one in self.stored.values())
        metrics.polled(self.outcome, took / SECOND, new)
        about: dict[str, Any] = {"source": self.claim.source_id, "feeds": len(self.claim.feeds)}
        about["took_ms"] = took // 1000
        if self.is_lost:
            log.info("source taken over", **about)
            return
        # A network that is down is told once, not once for each feed.
        tell = log.debug if self.is_outage else log.warning
        for code, (count, reason) in self._reasons().items():
            tell("feed failed", feed=self.claim.lead.id, code=code, failed=count, reason=reason, **about)
        if len(self.failed) < len(self.claim.feeds):
            log.info(
                "feed polled",
                feed=self.claim.lead.id,
                status=self.status,
                parsed=len(self.stored),
                new=new,
                changed=sum(one.changed for one in self.stored.values()),
                skipped=max((one.skipped for one in self.stored.values()), default=0),
                **about,
            )

    def _reasons(self) -> dict[str, tuple[int, str]]:
        found: dict[str, tuple[int, str]] = {}
        for error in self.failed.values():
            count, reason = found.get(error.code, (0, error.message))
            found[error.code] = count + 1, reason
        return found
