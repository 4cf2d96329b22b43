"""Detects outages of our own network: feeds do not count failures then, and those already counted are reverted.

a host is unreachable ─► were many in a row? ─┬─ no: count the failure of the feed, and remember it
                                              └─ yes: the network is down; revert remembered failures, count no more
"""

from __future__ import annotations

import asyncio
import random
from collections.abc import Iterable

import structlog
from msgspec import Struct

from tidings.base.errors import TidingsError
from tidings.base.times import DAY, SECOND, Instant
from tidings.domain.feeds.feeds import Feed
from tidings.domain.polling import next_check
from tidings.domain.polling.outage_detector import OutageDetector
from tidings.engine.database import Database
from tidings.net.errors import FetchError
from tidings.services.clock import Clock
from tidings.storage.polling import sources

log = structlog.get_logger()

# After this time failures are counted again: with few feeds, all hosts may be gone for good, and users must see that.
MAX_OUTAGE = 2 * DAY
# Most failures remembered. Few hosts make an outage, but one of them may have very many feeds.
MAX_REMEMBERED = 5_000


class FailedCheck(Struct, frozen=True):
    """A stored failure to reach a host. feed: the feed before the failure. next_check_at: as stored."""

    feed: Feed
    next_check_at: Instant


class Outages:
    """The outage detection of one worker, used only in its event loop."""

    def __init__(self, database: Database, clock: Clock) -> None:
        self._database = database
        self._clock = clock
        self._detector = OutageDetector()
        self._failed: list[FailedCheck] = []

    def record(self, host: str, error: TidingsError | None) -> None:
        """Record the outcome of a request. error: None if it succeeded."""
        now, since = self._clock(), self._detector.down_since
        if error is None or (isinstance(error, FetchError) and error.proves_network_is_up):
            self._failed.clear()
            if self._detector.record_response(host, now) and since is not None:
                log.info("network is up again", down_s=(now - since) // SECOND)
        elif isinstance(error, FetchError) and not error.was_connected and self._detector.record_unreachable(host, now):
            log.warning(
                "network is down: no host can be reached, feeds are not counted as failed", reason=error.message
            )

    def explains(self, error: TidingsError) -> bool:
        """Returns whether the network, not the feed, is the cause of an error."""
        return self._is_down and isinstance(error, FetchError) and not error.was_connected

    @property
    def _is_down(self) -> bool:
        since = self._detector.down_since
        return since is not None and self._clock() - since <= MAX_OUTAGE

    def retry_at(self) -> Instant:
        """Returns when to check a feed again during an outage."""
        now = self._clock()
        return next_check.during_outage(now, self._detector.down_since or now, random_fraction=random.random())  # noqa: S311

    async def settle(self, failed: Iterable[FailedCheck]) -> None:
        """Remember failures that were just stored; during an outage, revert all remembered ones."""
        self._failed = [*self._failed, *failed][-MAX_REMEMBERED:]
        if self._is_down and self._failed:
            reverted, self._failed = self._failed, []
            await asyncio.to_thread(self._revert, reverted)

    def _revert(self, failed: list[FailedCheck]) -> None:
        with self._database.writing() as db:
            for check in sorted(failed, key=lambda check: check.feed.id):
                sources.revert_failure(db, check.feed, written=check.next_check_at, next_check_at=self.retry_at())
