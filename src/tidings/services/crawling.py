"""Feeds that fetch whole articles: the pages of their new entries, before these are stored.

which entries are new? ─► which may come in, and where are their pages? ─► a few at a time ─► articles by entry

What cannot be had, or not in time, is left to the feed: its entries come in with what the feed says.
"""

from __future__ import annotations

import asyncio

import structlog

from tidings.domain.articles import Article
from tidings.domain.errors import TidingsError
from tidings.domain.feeds import Feed, ParsedEntry, ParsedFeed
from tidings.domain.ingestion import USUAL, Instance, Intake, page_to_fetch
from tidings.domain.users import User
from tidings.net.fetch import FetchResponse
from tidings.services import intake
from tidings.services.articles import Articles
from tidings.services.clock import Clock
from tidings.services.intake import Crawled
from tidings.storage import users
from tidings.storage.database import Database

log = structlog.get_logger()

# Pages of one feed at the same time: they lie on one host as a rule.
AT_ONCE = 4
# For all pages of a feed: when a worker polls, and when somebody waits for the answer.
WORKER_S = 60.0
WAITING_S = 20.0


class Crawler:
    def __init__(self, database: Database, articles: Articles, clock: Clock, *, instance: Instance = USUAL) -> None:
        self._instance = instance
        self._database = database
        self._articles = articles
        self._clock = clock

    async def look(self, feed: Feed, response: FetchResponse, *, within_s: float) -> Crawled | None:
        """The articles of entries that a check of the feed found. None when there are none, whatever the reason."""
        try:
            found = await asyncio.to_thread(self._news, feed, response)
        except Exception as error:  # noqa: BLE001 - storing meets it again, and knows what to do
            log.debug("no articles looked for", feed=feed.id, reason=str(error))
            return None
        if found is None:
            return None
        user, document, entries = found
        return Crawled(document, await self.articles(user, feed, entries, within_s=within_s))

    async def articles(
        self, user: User, feed: Feed, entries: dict[bytes, ParsedEntry], *, within_s: float
    ) -> dict[bytes, Article]:
        """entries: by hash, oldest first. The newest are fetched first, and left out last."""
        pages = await asyncio.to_thread(self._pages, user, feed, entries)
        if not pages:
            return {}
        places = asyncio.Semaphore(AT_ONCE)
        tasks = {hash_: asyncio.create_task(self._find(feed, url, places)) for hash_, url in pages.items()}
        try:
            await asyncio.wait(tasks.values(), timeout=within_s)
        finally:
            for task in tasks.values():
                task.cancel()
            outcomes = await asyncio.gather(*tasks.values(), return_exceptions=True)
        found = {hash_: one for hash_, one in zip(tasks, outcomes, strict=True) if isinstance(one, Article)}
        late = sum(isinstance(one, asyncio.CancelledError) for one in outcomes)
        log.info(
            "articles fetched", feed=feed.id or None, found=len(found), failed=len(tasks) - len(found) - late, late=late
        )
        return found

    async def _find(self, feed: Feed, url: str, places: asyncio.Semaphore) -> Article | None:
        async with places:
            try:
                return await self._articles.find(feed, url)
            except TidingsError as error:
                log.info("article not fetched", feed=feed.id or None, code=error.code, reason=error.message)
            except Exception:
                log.exception("article made us fail", feed=feed.id)
            return None

    def _news(self, feed: Feed, response: FetchResponse) -> tuple[User, ParsedFeed, dict[bytes, ParsedEntry]] | None:
        """The feed's user, its document, and the entries of it that are new."""
        if intake.is_unchanged(feed, response):
            return None
        document = intake.parse(response, self._clock())
        with self._database.reading() as db:
            user = users.get(db, feed.user_id)
        if user is None:
            return None
        return user, document, intake.news(self._database, feed, document).new

    def _pages(self, user: User, feed: Feed, entries: dict[bytes, ParsedEntry]) -> dict[bytes, str]:
        how, now = Intake.of(feed, user, self._instance), self._clock()
        newest_first = reversed(entries.items())
        pages = {hash_: page_to_fetch(entry, how, now=now) for hash_, entry in newest_first}
        return {hash_: url for hash_, url in pages.items() if url}
