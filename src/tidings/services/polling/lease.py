"""Selects the sources to check: due sources, each leased to one worker, and sources that a user refreshes.

due sources ─► within the limits of each host ─► claim (`storage.polling.claims`) ─► SourceLease ─► `check`
                                                                                         └─ renewed while the check runs

When a worker dies its leases expire, and other workers check the sources.
"""

from __future__ import annotations

import asyncio
from collections import defaultdict
from collections.abc import Sequence
from datetime import timedelta

from msgspec.structs import replace

from tidings.base.errors import TidingsError
from tidings.base.times import SECOND, Instant
from tidings.domain.feeds.feeds import Feed
from tidings.domain.polling.shared_sources import SourceLease, feed_fetch_key
from tidings.engine import notify
from tidings.engine.database import Database
from tidings.services.accounts.users import by_name
from tidings.services.clock import Clock
from tidings.services.entries.saved_pages import SAVED_PAGES_URL
from tidings.services.feeds.categories import owned_category
from tidings.services.feeds.feeds import owned_feed
from tidings.services.listeners import Listeners
from tidings.services.polling.check import FeedChecker
from tidings.services.polling.store import CheckResult
from tidings.storage.accounts import users
from tidings.storage.feeds import feeds
from tidings.storage.polling import claims, host_limits, sources

# A refresh skips feeds that were checked within this time: users press the button twice.
JUST_CHECKED = 30 * SECOND


class RefreshFailed(TidingsError):
    """A check requested by a user failed. The reason is stored with the feed."""

    code = "refresh-failed"


class SourceClaims:
    """Claims due sources for workers, and makes sources due or checks them when a user refreshes feeds."""

    def __init__(
        self,
        database: Database,
        clock: Clock,
        checker: FeedChecker,
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

    def claim(self, worker: str, limit: int, *, is_more: bool = False) -> list[SourceLease]:
        """Claim up to `limit` due sources for the worker, the longest overdue first, and return them.

        is_more: due sources are known to exist, so skip the check that finds out without a lock.
        """
        now = self._clock()
        if not is_more:
            with self._database.reading() as db:
                if not claims.any_due(db, now):
                    return []
        with self._database.writing() as db:
            leases = claims.claim_due(
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
            return claims.renew(db, worker, source_ids, Instant(self._clock() + self._lease))

    def release_all(self, worker: str) -> int:
        """Release all sources that the worker holds. Return their number."""
        with self._database.writing() as db:
            return claims.release_all(db, worker)

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
        if feed.feed_url == SAVED_PAGES_URL:
            return
        results = await self._checker.check(SourceLease(0, [feed], requested_by=user_id))
        if (error := results[feed.id].error) is not None:
            raise RefreshFailed(error.text) from error

    def refresh_all(self, user_id: int) -> int:
        """Make all enabled feeds of the user due now. Return their number; a worker claims them within a second."""
        return self._make_due(user_id)

    def refresh_category(self, user_id: int, category_id: int) -> int:
        """Make the enabled feeds of a category due now. Return their number. Raises NotFound."""
        with self._database.reading() as db:
            owned_category(db, user_id, category_id)
        return self._make_due(user_id, category_id)

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

    def _make_due(self, user_id: int, category_id: int | None = None, *, feed_ids: Sequence[int] | None = None) -> int:
        now = self._clock()
        before = Instant(now - JUST_CHECKED)
        with self._database.writing() as db:
            count = sources.make_due(
                db, user_id, now=now, checked_before=before, category_id=category_id, feed_ids=feed_ids
            )
            if count:
                notify.notify(db, notify.FEEDS)
            return count

    def _owned_feed(self, user_id: int, feed_id: int) -> Feed:
        with self._database.reading() as db:
            return owned_feed(db, user_id, feed_id)
