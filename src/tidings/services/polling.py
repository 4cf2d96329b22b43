"""Checking feeds: claimed by a worker, or because a user asked.

claim | fetch | store | schedule          a failure at any step is written on the feed, with its next check
"""

from __future__ import annotations

import asyncio
from contextlib import suppress
from datetime import timedelta
from typing import Any

import structlog
from msgspec import Struct

from tidings.domain import scheduling
from tidings.domain.errors import FeedGone, HttpError, InvalidInput, StoreUnavailable, TidingsError
from tidings.domain.feeds import Feed
from tidings.domain.times import SECOND, Instant
from tidings.domain.users import User
from tidings.net.fetch import Fetcher, FetchRequest, FetchResponse
from tidings.services import feeds as feed_service
from tidings.services.categories import owned as owned_category
from tidings.services.clock import Clock
from tidings.services.crawling import WAITING_S, WORKER_S, Crawler
from tidings.services.icons import Icons
from tidings.services.intake import Crawled, Stored, store_answer
from tidings.services.users import named
from tidings.storage import feeds, polling, users
from tidings.storage.database import Database

log = structlog.get_logger()

SWITCHED_OFF = "Until you switch the feed on again, it is not checked any more."

# A feed that was just checked is not checked again because somebody presses a button twice.
JUST_CHECKED = 30 * SECOND


class RefreshFailed(TidingsError):
    """A check that a user asked for did not succeed; the feed carries the reason."""

    code = "refresh-failed"


class Checked(Struct, frozen=True):
    """What a check came to. error: why it did not succeed, if it did not."""

    error: TidingsError | None = None
    new_entries: int = 0


class Polling:
    """base: minutes between two checks of a feed that gives no hint. lease: how long a claim lasts."""

    def __init__(
        self,
        database: Database,
        fetcher: Fetcher,
        clock: Clock,
        *,
        icons: Icons,
        crawler: Crawler,
        base: timedelta,
        lease: timedelta,
    ) -> None:
        self._database = database
        self._fetcher = fetcher
        self._clock = clock
        self._icons = icons
        self._crawler = crawler
        self._base = base
        self._lease = lease // timedelta(microseconds=1)

    @property
    def lease_s(self) -> float:
        return self._lease / SECOND

    def claim(self, worker: str, limit: int) -> list[Feed]:
        now = self._clock()
        with self._database.writing() as db:
            return polling.claim_due(db, worker, now=now, until=Instant(now + self._lease), limit=limit)

    def renew(self, worker: str, feed_id: int) -> bool:
        with self._database.writing() as db:
            return polling.renew(db, worker, feed_id, Instant(self._clock() + self._lease))

    def release_all(self, worker: str) -> int:
        with self._database.writing() as db:
            return polling.release_all(db, worker)

    async def check(self, feed: Feed, *, worker: str | None = None) -> Checked:
        """Fetch and store. However it ends, the feed has its next check."""
        started = self._clock()
        try:
            response = await self._fetcher.get(request_for(feed))
        except TidingsError as error:
            return await asyncio.to_thread(self._fail, feed, worker, started, error)
        crawled = await self._crawl(feed, response, worker) if feed.crawler else None
        checked = await asyncio.to_thread(self._store, feed, response, crawled, worker, started)
        if checked.error is None:
            await self._icons.look_if_due(feed, is_awaited=worker is None)
        return checked

    async def refresh_now(self, user_id: int, feed_id: int) -> None:
        """Whatever its schedule, its errors, or whether it is disabled. RefreshFailed when it did not succeed."""
        feed = await asyncio.to_thread(self._owned_feed, user_id, feed_id)
        checked = await self.check(feed)
        if checked.error is not None:
            raise RefreshFailed(checked.error.message) from checked.error

    def request_all(self, user_id: int) -> int:
        """Enabled feeds become due now; a worker takes them within a second or so. How many."""
        now = self._clock()
        with self._database.writing() as db:
            return polling.make_due(db, user_id, now=now, checked_before=Instant(now - JUST_CHECKED))

    def request_category(self, user_id: int, category_id: int) -> int:
        now = self._clock()
        with self._database.writing() as db:
            owned_category(db, user_id, category_id)
            before = Instant(now - JUST_CHECKED)
            return polling.make_due(db, user_id, now=now, checked_before=before, category_id=category_id)

    def enabled_feeds(self, username: str | None = None) -> list[Feed]:
        """Of one user, or of all. NotFound for a name that nobody has."""
        with self._database.reading() as db:
            owners = users.listed(db) if username is None else [named(db, username)]
            return [feed for owner in owners for feed in feeds.listed(db, owner.id) if not feed.disabled]

    def _owned_feed(self, user_id: int, feed_id: int) -> Feed:
        with self._database.reading() as db:
            return feed_service.owned(db, user_id, feed_id)

    async def _crawl(self, feed: Feed, response: FetchResponse, worker: str | None) -> Crawled | None:
        if worker is None:
            return await self._crawler.look(feed, response, within_s=WAITING_S)
        keeping = asyncio.create_task(self._keep(worker, feed.id))
        try:
            return await self._crawler.look(feed, response, within_s=WORKER_S)
        finally:
            keeping.cancel()

    async def _keep(self, worker: str, feed_id: int) -> None:
        """Hold on to a claim whose feed takes longer than a claim was made for."""
        with suppress(StoreUnavailable):
            while True:
                if not await asyncio.to_thread(self.renew, worker, feed_id):
                    return
                await asyncio.sleep(self.lease_s / 3)

    def _store(
        self, feed: Feed, response: FetchResponse, crawled: Crawled | None, worker: str | None, started: Instant
    ) -> Checked:
        try:
            stored = self._try_to_store(feed, response, crawled, worker)
        except StoreUnavailable as error:
            # Nothing can be written about it now: the claim runs out, and the feed is taken again.
            log.error("feed not stored", feed=feed.id, reason=error.message)  # noqa: TRY400 - the message says it all
            return Checked(error)
        except TidingsError as error:
            return self._fail(feed, worker, started, error)
        except Exception as error:
            log.exception("feed made us fail", feed=feed.id)
            return self._fail(feed, worker, started, _our_fault(error))
        if stored.lost:
            log.info("feed gone or taken over", feed=feed.id)
            return Checked()
        log.info(
            "feed polled",
            feed=feed.id,
            status=response.status,
            parsed=stored.parsed,
            new=len(stored.new_ids),
            changed=stored.changed,
            skipped=stored.skipped,
            took_ms=(self._clock() - started) // 1000,
            next_check_s=(stored.next_check_at - self._clock()) // SECOND,
        )
        return Checked(new_entries=len(stored.new_ids))

    def _try_to_store(self, feed: Feed, response: FetchResponse, crawled: Crawled | None, worker: str | None) -> Stored:
        user = self._owner(feed)
        if user is None:
            return Stored(lost=True)
        return store_answer(
            self._database,
            user,
            feed,
            response,
            crawled=crawled,
            worker=worker,
            base=self._base,
            now=self._clock(),
        )

    def _owner(self, feed: Feed) -> User | None:
        with self._database.reading() as db:
            return users.get(db, feed.user_id)

    def _fail(self, feed: Feed, worker: str | None, started: Instant, error: TidingsError) -> Checked:
        now, failures = self._clock(), feed.parsing_error_count + 1
        retry_after_s = error.retry_after_s if isinstance(error, HttpError) else None
        next_check_at = scheduling.after_failure(now, self._base, failures, retry_after_s)
        values: dict[str, Any] = {"checked_at": now, "next_check_at": next_check_at}
        values |= {"parsing_error_count": failures, "parsing_error_message": error.message}
        if isinstance(error, FeedGone):
            # The publisher asks not to be asked again. Whoever knows better switches the feed on again.
            values |= {"disabled": True, "parsing_error_message": f"{error.message} {SWITCHED_OFF}"}
        with self._database.writing() as db:
            polling.finish(db, feed.user_id, feed.id, worker, **values)
        log.warning(
            "feed failed",
            feed=feed.id,
            code=error.code,
            failures=failures,
            reason=error.message,
            took_ms=(now - started) // 1000,
            next_check_s=(next_check_at - now) // SECOND,
        )
        return Checked(error)


def _our_fault(error: Exception) -> TidingsError:
    """Shown on the feed: what it is has gone to the log."""
    return InvalidInput(
        f"Tidings failed on this feed ({type(error).__name__}); please report it with the feed's address."
    )


def request_for(feed: Feed) -> FetchRequest:
    return FetchRequest(
        url=feed.feed_url,
        etag=feed.etag_header,
        last_modified=feed.last_modified_header,
        user_agent=feed.user_agent,
        cookie=feed.cookie,
        username=feed.username,
        password=feed.password,
        ignore_cache=feed.ignore_http_cache,
        allow_self_signed_certificates=feed.allow_self_signed_certificates,
        proxy_url=feed.proxy_url,
    )
