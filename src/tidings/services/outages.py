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

from tidings.domain import scheduling
from tidings.domain.errors import FetchError, TidingsError
from tidings.domain.feeds import Feed
from tidings.domain.network_watch import NetworkWatch
from tidings.domain.times import DAY, SECOND, Instant
from tidings.services.clock import Clock
from tidings.storage import polling
from tidings.storage.database import Database

log = structlog.get_logger()

# Then somebody should hear of it: where all of a few hosts are gone for good, nothing else ever says so.
LONGEST = 2 * DAY
# A streak ends after few hosts; one of them may have very many feeds.
MOST_BLAMED = 5_000


class Blamed(Struct, frozen=True):
    """feed: as it was before. next_check_at: as it was written with the failure."""

    feed: Feed
    next_check_at: Instant


class Outages:
    """Of one process that polls. Belongs to its event loop."""

    def __init__(self, database: Database, clock: Clock) -> None:
        self._database = database
        self._clock = clock
        self._watch = NetworkWatch()
        self._blamed: list[Blamed] = []

    def note(self, host: str, error: TidingsError | None) -> None:
        """What came of asking a host."""
        now, since = self._clock(), self._watch.down_since
        if error is None or (isinstance(error, FetchError) and error.says_network_is_up):
            self._blamed.clear()
            if self._watch.answered(host, now) and since is not None:
                log.info("network is up again", down_s=(now - since) // SECOND)
        elif isinstance(error, FetchError) and not error.was_reached and self._watch.unreached(host, now):
            log.warning(
                "network is down: no host can be reached, feeds are not counted as failed", reason=error.message
            )

    def explains(self, error: TidingsError) -> bool:
        """Whether it is the network's fault rather than the feed's."""
        return self._is_to_blame and isinstance(error, FetchError) and not error.was_reached

    @property
    def _is_to_blame(self) -> bool:
        since = self._watch.down_since
        return since is not None and self._clock() - since <= LONGEST

    def try_again_at(self) -> Instant:
        now = self._clock()
        return scheduling.while_down(now, self._watch.down_since or now, chance=random.random())  # noqa: S311

    async def settle(self, blamed: Iterable[Blamed]) -> None:
        """blamed: on whom a failure to reach their host was just written."""
        self._blamed = [*self._blamed, *blamed][-MOST_BLAMED:]
        if self._is_to_blame and self._blamed:
            taken, self._blamed = self._blamed, []
            await asyncio.to_thread(self._take_back, taken)

    def _take_back(self, blamed: list[Blamed]) -> None:
        with self._database.writing() as db:
            for one in sorted(blamed, key=lambda one: one.feed.id):
                polling.take_back(db, one.feed, written=one.next_check_at, next_check_at=self.try_again_at())
