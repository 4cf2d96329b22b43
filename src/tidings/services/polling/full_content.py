"""Fetches articles of new entries, before they are stored, for feeds with the option for full content.

new entries ─► those that filters keep, with the URLs of their pages ─► fetch a few at a time ─► articles by entry

If an article cannot be fetched in time, the entry keeps the content of the feed. If this machine lacks files, memory
or threads for it, LocalShortage is raised and nothing is stored: the next check finds the same new entries.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Mapping

import structlog

from tidings.base.errors import LocalShortage, TidingsError
from tidings.base.shortages import is_shortage
from tidings.content.articles import Article
from tidings.content.model import ParsedEntry
from tidings.domain.accounts.users import User
from tidings.domain.feeds.feeds import Feed
from tidings.domain.polling.changes import FeedUpdate
from tidings.domain.polling.entry_policy import DEFAULT_INSTANCE, EntryPolicy, InstanceSettings, pages_to_fetch
from tidings.engine.database import Database
from tidings.services.clock import Clock
from tidings.services.entries.fetch_content import ArticleFetcher
from tidings.services.listeners import Listeners
from tidings.services.polling.run import CheckRun
from tidings.services.polling.store import find_changes
from tidings.storage.accounts import users

log = structlog.get_logger()

# Pages of one feed fetched at the same time: they are usually on one host.
MAX_CONCURRENT_PER_FEED = 4
# Timeouts for all pages of a feed: in a worker, and while a user waits for the response.
WORKER_TIMEOUT_S = 60.0
USER_TIMEOUT_S = 20.0


class FullContent:
    """Fetches the articles of new entries."""

    def __init__(
        self,
        database: Database,
        articles: ArticleFetcher,
        clock: Clock,
        *,
        instance: InstanceSettings = DEFAULT_INSTANCE,
    ) -> None:
        self._instance = instance
        self._database = database
        self._articles = articles
        self._clock = clock

    async def of_document(self, run: CheckRun, *, timeout_s: float) -> dict[int, Mapping[bytes, Article]]:
        """Return articles of new entries by feed id and entry hash, for the feeds with the option."""
        feeds = [feed for feed in run.changed if feed.crawler]
        new_entries = await asyncio.to_thread(self._new_entries, run, feeds)
        fetches = [self.articles(user, feed, entries, timeout_s=timeout_s) for user, feed, entries in new_entries]
        articles = await asyncio.gather(*fetches)
        return {feed.id: one for (_, feed, _), one in zip(new_entries, articles, strict=True)}

    async def durations(self, run: CheckRun, listeners: Listeners, *, timeout_s: float) -> dict[str, int]:
        """Return the minutes that films and recordings last, by the URL of a new or changed entry."""
        urls = await asyncio.to_thread(self._changed_urls, run)
        return await listeners.durations(run.lease.lead, urls, timeout_s=timeout_s)

    async def articles(
        self, user: User, feed: Feed, entries: Mapping[bytes, ParsedEntry], *, timeout_s: float
    ) -> dict[bytes, Article]:
        """Return articles by entry hash, of as many entries as possible in `timeout_s`, the newest first.

        entries: by hash, oldest first. Raises LocalShortage.
        """
        pages = await asyncio.to_thread(self._pages, user, feed, entries)
        if not pages:
            return {}
        slots = asyncio.Semaphore(MAX_CONCURRENT_PER_FEED)
        tasks = {hash_: asyncio.create_task(self._find(feed, url, slots)) for hash_, url in pages.items()}
        try:
            await asyncio.wait(tasks.values(), timeout=timeout_s)
        finally:
            for task in tasks.values():
                task.cancel()
            outcomes = await asyncio.gather(*tasks.values(), return_exceptions=True)
        if shortage := next((one for one in outcomes if isinstance(one, LocalShortage)), None):
            raise shortage
        articles = {hash_: one for hash_, one in zip(tasks, outcomes, strict=True) if isinstance(one, Article)}
        late = sum(isinstance(outcome, asyncio.CancelledError) for outcome in outcomes)
        log.info(
            "articles fetched",
            feed=feed.id or None,
            found=len(articles),
            failed=len(tasks) - len(articles) - late,
            late=late,
        )
        return articles

    async def _find(self, feed: Feed, url: str, slots: asyncio.Semaphore) -> Article | None:
        async with slots:
            try:
                return await self._articles.find(feed, url)
            except LocalShortage:
                raise
            except TidingsError as error:
                log.info("article not fetched", feed=feed.id or None, code=error.code, reason=error.message)
            except Exception as error:
                if is_shortage(error):
                    raise LocalShortage from error
                log.exception("article extraction crashed", feed=feed.id)
            return None

    def _new_entries(
        self, run: CheckRun, feeds: Iterable[Feed]
    ) -> list[tuple[User, Feed, Mapping[bytes, ParsedEntry]]]:
        """Return users, feeds and new entries by hash; without feeds for which that fails."""
        return [(user, feed, update.new) for user, feed, update in self._changes(run, feeds)]

    def _changed_urls(self, run: CheckRun) -> list[str]:
        """Return the URLs of new and changed entries of all feeds of the document, each once."""
        updates = [update for _, _, update in self._changes(run, run.changed)]
        return list(dict.fromkeys(entry.url for one in updates for entry in (*one.new.values(), *one.changed.values())))

    def _changes(self, run: CheckRun, feeds: Iterable[Feed]) -> list[tuple[User, Feed, FeedUpdate[ParsedEntry]]]:
        """Return users, feeds and what the document changes in them; without feeds for which that fails."""
        changes = []
        for feed in feeds:
            try:
                now = self._clock()
                parsed = run.parsed(now)
                with self._database.reading() as db:
                    user = users.get(db, feed.user_id)
                    if user is not None:
                        changes.append((user, feed, find_changes(db, user, feed, parsed, now=now)))
            except Exception as error:  # noqa: BLE001 - ingesting fails in the same way, and stores the error
                log.debug("new entries not looked up", feed=feed.id, reason=str(error))
        return changes

    def _pages(self, user: User, feed: Feed, entries: Mapping[bytes, ParsedEntry]) -> dict[bytes, str]:
        policy, now = EntryPolicy.for_feed(feed, user, self._instance), self._clock()
        newest_first = dict(reversed(list(entries.items())))
        return pages_to_fetch(newest_first, policy, now=now)
