"""Selects the sources to check: due sources, each leased to one worker, and sources that a user refreshes.

due sources ─► within the limits of each host ─► claim (`storage.polling.sources`) ─► SourceLease ─► `check`
                                                                           renewed while the check runs ─┘

When a worker dies its leases expire, and other workers check the sources. Between claims a worker waits for a
`WakeupEvent`, which is set when feeds become due.

While our own network is down (`Outages`), feeds do not count failures, and those already counted are reverted:

a host is unreachable ─► were many in a row? ─┬─ no: count the failure of the feed, and remember it
                                              └─ yes: the network is down; revert remembered failures, count no more

An outage is assumed after a streak: several different hosts that could not be reached one after the other, without any
response between them. A response of any host, even an error, ends it.
"""

from __future__ import annotations

import asyncio
import random
import threading
from collections import defaultdict
from collections.abc import Iterable, Sequence
from datetime import timedelta
from typing import Protocol

import structlog
from msgspec.structs import replace

from tidings.base.errors import TidingsError
from tidings.base.times import DAY, SECOND, Instant
from tidings.domain.feeds.feeds import Feed, is_fetched
from tidings.domain.polling import check_times
from tidings.domain.polling.shared_sources import SourceLease, feed_fetch_key, host_with_port
from tidings.engine.database import Database
from tidings.engine.notify import FEEDS, Listener, notify
from tidings.net.errors import FetchError
from tidings.services.accounts.users import by_name
from tidings.services.clock import Clock
from tidings.services.feeds.categories import owned_category
from tidings.services.feeds.feeds import owned_feed
from tidings.services.listeners import Listeners
from tidings.services.polling.store import CheckResult, FeedColumns
from tidings.services.publisher_requests import HostClosed
from tidings.storage.accounts import users
from tidings.storage.feeds import feeds
from tidings.storage.polling import host_limits, sources

log = structlog.get_logger()

# A refresh skips feeds that were checked within this time: users press the button twice.
JUST_CHECKED = 30 * SECOND


class RefreshFailed(TidingsError):
    """A check requested by a user failed. The reason is stored with the feed."""

    code = "refresh-failed"


class SourceChecker(Protocol):
    """What claims need of `check.FeedChecker`, which itself needs the outages of this module."""

    @property
    def is_storing_parts(self) -> bool:
        """Whether entries are being stored for more feeds of a source than one transaction takes."""

    async def check(self, lease: SourceLease) -> dict[int, CheckResult]:
        """Check a source and return the results by feed id."""


class SourceClaims:
    """Claims due sources for workers, and makes sources due or checks them when a user refreshes feeds."""

    def __init__(
        self,
        database: Database,
        clock: Clock,
        checker: SourceChecker,
        listeners: Listeners,
        *,
        per_host: int,
        gap: timedelta,
        lease: timedelta,
    ) -> None:
        """Limits on hosts hold for all workers of a database together.

        per_host: number of fetches from one host at the same time. gap: time between the starts of two fetches from one
        host. lease: how long a claim lasts unless it is renewed.
        """
        self._database = database
        self._clock = clock
        self._checker = checker
        self._listeners = listeners
        self._per_host = per_host
        self._gap = gap // timedelta(microseconds=1)
        self._lease = lease // timedelta(microseconds=1)

    @property
    def lease_s(self) -> float:
        """How long a claim lasts unless it is renewed."""
        return self._lease / SECOND

    @property
    def is_storing_parts(self) -> bool:
        """As that of `FeedChecker`."""
        return self._checker.is_storing_parts

    def claim(self, worker: str, limit: int, *, is_more: bool = False) -> list[SourceLease]:
        """Claim up to `limit` due sources for the worker, the longest overdue first, and return them.

        is_more: due sources are known to exist, so skip the check that finds out without a lock.
        """
        now = self._clock()
        if not is_more:
            with self._database.reading() as db:
                if not sources.any_due(db, now):
                    return []
        with self._database.writing() as db:
            leases = sources.claim_due(
                db,
                worker,
                now=now,
                until=Instant(now + self._lease),
                limit=limit,
                per_host=self._per_host,
                gap=self._gap,
            )
            hubs = self._listeners.hubs_of(db, [lease.source_id for lease in leases], now)
        return [
            replace(lease, is_pushed=hubs.get(lease.source_id, False), has_hub=lease.source_id in hubs)
            for lease in leases
        ]

    def renew(self, worker: str, source_ids: Sequence[int]) -> set[int]:
        """Renew leases. Return the ids of the sources that the worker still holds."""
        with self._database.writing() as db:
            return sources.renew(db, worker, source_ids, Instant(self._clock() + self._lease))

    def release_all(self, worker: str) -> int:
        """Release all sources that the worker holds. Return their number."""
        with self._database.writing() as db:
            return sources.release_all(db, worker)

    def forget_hosts(self) -> int:
        """Delete hosts whose pause has ended. Return their number."""
        with self._database.writing() as db:
            return host_limits.remove_expired(db, self._clock())

    async def check(self, lease: SourceLease) -> dict[int, CheckResult]:
        """Check a source and return results by feed id, as `FeedChecker.check` does."""
        return await self._checker.check(lease)

    async def refresh_now(self, user_id: int, feed_id: int) -> None:
        """Check a feed immediately, even if it is not due or disabled.

        Raises NotFound for a feed that is not the user's, and RefreshFailed if the check failed.
        """
        feed = await asyncio.to_thread(self._owned_feed, user_id, feed_id)
        if not is_fetched(feed.feed_url):
            return
        results = await self._checker.check(SourceLease(0, [feed], requested_by=user_id))
        if (error := results[feed.id].error) is not None:
            raise RefreshFailed(error.text) from error

    def refresh_all(self, user_id: int) -> int:
        """Make all enabled feeds of the user due now. Return their number; a worker claims them within a second."""
        return self._make_due(user_id)

    def refresh_category(self, user_id: int, category_id: int) -> int:
        """Make the enabled feeds of a category and of those below it due now. Return their number. Raises NotFound."""
        with self._database.reading() as db:
            owned_category(db, user_id, category_id)
            feed_ids = feeds.ids_of_category(db, user_id, category_id)
        return self._make_due(user_id, feed_ids=feed_ids)

    def refresh_feeds(self, user_id: int, feed_ids: Sequence[int]) -> int:
        """Make these feeds of the user due now, except disabled and just checked ones. Return their number."""
        return self._make_due(user_id, feed_ids=feed_ids)

    def enabled(self, username: str | None = None) -> list[SourceLease]:
        """Return the sources of one user's enabled feeds, or of all users', for checks without a claim.

        Raises NotFound for an unknown username.
        """
        with self._database.reading() as db:
            owners = users.list_all(db) if username is None else [by_name(db, username)]
            enabled_feeds = [feed for owner in owners for feed in feeds.list_all(db, owner.id) if not feed.disabled]
        by_source: defaultdict[bytes, list[Feed]] = defaultdict(list)
        for feed in enabled_feeds:
            by_source[feed_fetch_key(feed)].append(feed)
        return [SourceLease(0, members) for members in by_source.values()]

    def _make_due(self, user_id: int, *, feed_ids: Sequence[int] | None = None) -> int:
        now = self._clock()
        before = Instant(now - JUST_CHECKED)
        with self._database.writing() as db:
            count = sources.make_due(db, user_id, now=now, checked_before=before, feed_ids=feed_ids)
            if count:
                notify(db, FEEDS)
            return count

    def _owned_feed(self, user_id: int, feed_id: int) -> Feed:
        with self._database.reading() as db:
            return owned_feed(db, user_id, feed_id)


# Waiting for due sources


class WakeupEvent:
    """An event that notifications on one channel set; it may also be set without one. Belongs to one event loop.

    name: the name of the channel, such as FEEDS.
    """

    def __init__(self, database: Database, name: str) -> None:
        self._listener = Listener(database, name)
        self._event = asyncio.Event()
        self._thread: threading.Thread | None = None

    async def wait(self) -> None:
        """Wait for the next notification."""
        if self._thread is None:
            loop = asyncio.get_running_loop()
            self._thread = threading.Thread(target=self._listen, args=(loop,), name="wakeup", daemon=True)
            self._thread.start()
        await self._event.wait()
        self._event.clear()

    async def close(self) -> None:
        self._listener.close()
        if self._thread is not None:
            await asyncio.to_thread(self._thread.join)

    def _listen(self, loop: asyncio.AbstractEventLoop) -> None:
        while not self._listener.is_closed:
            if self._listener.wait() and not self._listener.is_closed:
                loop.call_soon_threadsafe(self._event.set)
        self._listener.disconnect()


# Outages

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
