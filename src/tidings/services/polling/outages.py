"""When the network is down no feed is punished: what was written on those that failed first is taken back.

a host could not be reached ─► one of many in a row? ─► no: the feed has its failure, and it is remembered
                                      └─ yes: the network is down; failures are taken back, and no more counted
"""

from __future__ import annotations

import asyncio
import random
from collections.abc import Iterable

import structlog
from msgspec import Struct

from tidings.domain.errors import FetchError, TidingsError
from tidings.domain.feeds.feeds import Feed
from tidings.domain.polling import next_check
from tidings.domain.polling.outage_detector import OutageDetector
from tidings.domain.times import DAY, SECOND, Instant
from tidings.services.clock import Clock
from tidings.storage.engine.database import Database
from tidings.storage.polling import sources

log = structlog.get_logger()

# Then somebody should hear of it: where all of a few hosts are gone for good, nothing else ever says so.
LONGEST = 2 * DAY
# A streak ends after few hosts; one of them may have very many feeds.
MOST_FAILED = 5_000


class FailedCheck(Struct, frozen=True):
    """A failure to reach a host, as written. feed: as it was before."""

    feed: Feed
    next_check_at: Instant


class Outages:
    """Of one process that polls. Belongs to its event loop."""

    def __init__(self, database: Database, clock: Clock) -> None:
        self._database = database
        self._clock = clock
        self._detector = OutageDetector()
        self._failed: list[FailedCheck] = []

    def note(self, host: str, error: TidingsError | None) -> None:
        """What came of asking a host."""
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
        """Whether it is the network's fault rather than the feed's."""
        return self._is_to_blame and isinstance(error, FetchError) and not error.was_connected

    @property
    def _is_to_blame(self) -> bool:
        since = self._detector.down_since
        return since is not None and self._clock() - since <= LONGEST

    def try_again_at(self) -> Instant:
        now = self._clock()
        return next_check.during_outage(now, self._detector.down_since or now, random_fraction=random.random())  # noqa: S311

    async def settle(self, failed: Iterable[FailedCheck]) -> None:
        """failed: on whom a failure to reach their host was just written."""
        self._failed = [*self._failed, *failed][-MOST_FAILED:]
        if self._is_to_blame and self._failed:
            taken, self._failed = self._failed, []
            await asyncio.to_thread(self._take_back, taken)

    def _take_back(self, failed: list[FailedCheck]) -> None:
        with self._database.writing() as db:
            for one in sorted(failed, key=lambda one: one.feed.id):
                sources.revert_failure(db, one.feed, written=one.next_check_at, next_check_at=self.try_again_at())
