"""Which sources are checked: those that are due, claimed by a worker, and those a user asks for."""

from __future__ import annotations

import asyncio
from collections import defaultdict
from collections.abc import Sequence
from datetime import timedelta

from msgspec import Struct

from tidings.domain.errors import TidingsError
from tidings.domain.feeds import Feed
from tidings.domain.sources import Claim, key_of
from tidings.domain.times import SECOND, Instant
from tidings.services import feeds as feed_service
from tidings.services.categories import owned as owned_category
from tidings.services.checking import Checking
from tidings.services.clock import Clock
from tidings.services.rounds import Checked
from tidings.services.users import named
from tidings.storage import feeds, hosts, polling, users, waking
from tidings.storage.database import Database

# A feed that was just checked is not checked again because somebody presses a button twice.
JUST_CHECKED = 30 * SECOND


class RefreshFailed(TidingsError):
    """A check that a user asked for did not succeed; the feed carries the reason."""

    code = "refresh-failed"


class Politeness(Struct, frozen=True):
    """per_host: fetches from one host at the same time; gap: between two of them. For all workers of a database."""

    per_host: int = 2
    gap: timedelta = timedelta(0)


class Polling:
    """lease: how long a claim lasts unless it is renewed."""

    def __init__(
        self, database: Database, clock: Clock, checking: Checking, *, politeness: Politeness, lease: timedelta
    ) -> None:
        self._database = database
        self._clock = clock
        self._checking = checking
        self._politeness = politeness
        self._lease = lease // timedelta(microseconds=1)

    @property
    def lease_s(self) -> float:
        return self._lease / SECOND

    def claim(self, worker: str, limit: int, *, is_more: bool = False) -> list[Claim]:
        """The longest overdue sources, held by the worker until it checks them or its lease ends.

        is_more: whether there were more than were claimed just now; else it is asked first, which takes no lock.
        """
        now = self._clock()
        if not is_more:
            with self._database.reading() as db:
                if not polling.any_due(db, now):
                    return []
        with self._database.writing() as db:
            return polling.claim_due(
                db,
                worker,
                now=now,
                until=Instant(now + self._lease),
                limit=limit,
                per_host=self._politeness.per_host,
                gap=self._politeness.gap // timedelta(microseconds=1),
            )

    def renew(self, worker: str, source_ids: Sequence[int]) -> set[int]:
        """Those that the worker still holds; the others are somebody else's by now."""
        with self._database.writing() as db:
            return polling.renew(db, worker, source_ids, Instant(self._clock() + self._lease))

    def release_all(self, worker: str) -> int:
        with self._database.writing() as db:
            return polling.release_all(db, worker)

    def forget_hosts(self) -> int:
        """Those that need not be left alone any more; how many."""
        with self._database.writing() as db:
            return hosts.forget(db, self._clock())

    async def check(self, claim: Claim, *, worker: str | None = None) -> dict[int, Checked]:
        """See `Checking.check`."""
        return await self._checking.check(claim, worker=worker)

    async def refresh_now(self, user_id: int, feed_id: int) -> None:
        """Whatever its schedule, its errors, or whether it is disabled. RefreshFailed when it did not succeed."""
        feed = await asyncio.to_thread(self._owned_feed, user_id, feed_id)
        checked = await self._checking.check(Claim(0, [feed]))
        if (error := checked[feed.id].error) is not None:
            raise RefreshFailed(error.message) from error

    def request_all(self, user_id: int) -> int:
        """Enabled feeds become due now; a worker takes them within a second. How many."""
        return self._request(user_id)

    def request_category(self, user_id: int, category_id: int) -> int:
        with self._database.reading() as db:
            owned_category(db, user_id, category_id)
        return self._request(user_id, category_id)

    def request_some(self, user_id: int, feed_ids: Sequence[int]) -> int:
        """Those of the user's; what is switched off or was checked just now is passed over."""
        return self._request(user_id, feed_ids=feed_ids)

    def enabled(self, username: str | None = None) -> list[Claim]:
        """Sources of one user's enabled feeds, or of all, for a check without a claim. NotFound for an unknown name."""
        with self._database.reading() as db:
            owners = users.listed(db) if username is None else [named(db, username)]
            found = [feed for owner in owners for feed in feeds.listed(db, owner.id) if not feed.disabled]
        by_source: defaultdict[bytes, list[Feed]] = defaultdict(list)
        for feed in found:
            by_source[key_of(feed)].append(feed)
        return [Claim(0, members) for members in by_source.values()]

    def _request(self, user_id: int, category_id: int | None = None, *, feed_ids: Sequence[int] | None = None) -> int:
        now = self._clock()
        before = Instant(now - JUST_CHECKED)
        with self._database.writing() as db:
            count = polling.make_due(
                db, user_id, now=now, checked_before=before, category_id=category_id, feed_ids=feed_ids
            )
            if count:
                waking.ring(db, waking.FEEDS)
            return count

    def _owned_feed(self, user_id: int, feed_id: int) -> Feed:
        with self._database.reading() as db:
            return feed_service.owned(db, user_id, feed_id)
