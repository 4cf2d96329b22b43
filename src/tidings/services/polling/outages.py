"""Detects outages of our own network: feeds do not count failures then, and those already counted are reverted.

a host is unreachable ─► were many in a row? ─┬─ no: count the failure of the feed, and remember it
                                              └─ yes: the network is down; revert remembered failures, count no more

An outage is assumed after a streak: several different hosts that could not be reached one after the other, without any
response between them. A response of any host, even an error, ends it.
"""

from __future__ import annotations

import asyncio
import random
from collections.abc import Iterable

import structlog

from tidings.base.errors import TidingsError
from tidings.base.times import DAY, SECOND, Instant
from tidings.domain.polling import check_times
from tidings.domain.polling.shared_sources import SourceLease, host_with_port
from tidings.engine.database import Database
from tidings.net.errors import FetchError
from tidings.services.clock import Clock
from tidings.services.polling.store import FeedColumns
from tidings.services.publisher_requests import HostClosed
from tidings.storage.polling import sources

log = structlog.get_logger()

# A streak of this many different hosts is not a coincidence, even if one host in twenty is dead.
MAX_STREAK_HOSTS = 8
# An instance with feeds on fewer hosts needs a streak of all its hosts, but of at least this many.
MIN_STREAK_HOSTS = 3
FORGET_AFTER = DAY
# After this time failures are counted again: with few feeds, all hosts may be gone permanently, and users must see it.
MAX_OUTAGE = 2 * DAY
# Maximum number of failures remembered. Few hosts make an outage, but one of them may have very many feeds.
MAX_REMEMBERED = 5_000


class OutageDetector:
    """Recognises, from the outcomes of one process's requests, whether the local network is down."""

    def __init__(self) -> None:
        self._unreached: dict[str, Instant] = {}
        # The last hosts that were tried, at most MAX_STREAK_HOSTS, the latest last.
        self._tried: dict[str, Instant] = {}
        self.down_since: Instant | None = None
        """The first failure of the streak; None while the network is up."""

    def record_response(self, host: str, now: Instant) -> bool:
        """Record that the host responded. Return whether this ends an outage."""
        self._remember(host, now)
        self._unreached.clear()
        was_down, self.down_since = self.down_since is not None, None
        return was_down

    def record_unreachable(self, host: str, now: Instant) -> bool:
        """Record that the host could not be reached. Return whether an outage begins."""
        self._remember(host, now)
        # During an outage further hosts change nothing: the streak does not grow without limit.
        if self.down_since is not None:
            return False
        self._unreached[host] = now
        self._unreached = _recent(self._unreached, now)
        if len(self._unreached) < max(MIN_STREAK_HOSTS, min(len(self._tried), MAX_STREAK_HOSTS)):
            return False
        self.down_since = min(self._unreached.values())
        return True

    def _remember(self, host: str, now: Instant) -> None:
        self._tried.pop(host, None)
        self._tried[host] = now
        if len(self._tried) > MAX_STREAK_HOSTS:
            del self._tried[next(iter(self._tried))]
        self._tried = _recent(self._tried, now)


def _recent(hosts: dict[str, Instant], now: Instant) -> dict[str, Instant]:
    return {host: at for host, at in hosts.items() if now - at < FORGET_AFTER}


class Outages:
    """The outage detection of one worker, used only in its event loop."""

    def __init__(self, database: Database, clock: Clock) -> None:
        self._database = database
        self._clock = clock
        self._detector = OutageDetector()
        self._failed: list[FeedColumns] = []

    def record(self, lease: SourceLease, error: TidingsError | None) -> None:
        """Record the outcome of a request. error: None if it succeeded.

        A refresh by a user contacts too few hosts to detect an outage.
        """
        if not lease.worker or isinstance(error, HostClosed):
            return
        host = host_with_port(lease.lead.feed_url)
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
        """Return whether the network, not the feed, is the cause of an error."""
        return self._is_down and isinstance(error, FetchError) and not error.was_connected

    @property
    def _is_down(self) -> bool:
        since = self._detector.down_since
        return since is not None and self._clock() - since <= MAX_OUTAGE

    def retry_at(self) -> Instant:
        """Return when to check a feed again during an outage."""
        now = self._clock()
        return check_times.during_outage(now, self._detector.down_since or now, random_fraction=random.random())  # noqa: S311

    async def settle(self, failed: Iterable[FeedColumns]) -> None:
        """Remember failures that were just stored; during an outage, revert all remembered ones.

        failed: feeds as they were before the failure, with the columns that were stored.
        """
        self._failed = [*self._failed, *failed][-MAX_REMEMBERED:]
        if self._is_down and self._failed:
            reverted, self._failed = self._failed, []
            await asyncio.to_thread(self._revert, reverted)

    def _revert(self, failed: list[FeedColumns]) -> None:
        with self._database.writing() as db:
            for feed, columns in sorted(failed, key=lambda failure: failure[0].id):
                sources.revert_failure(db, feed, written=columns["next_check_at"], next_check_at=self.retry_at())
