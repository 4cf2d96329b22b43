"""Saves web pages that no feed brought, as unread, starred entries of a feed that is never checked.

URL ─► fetch and extract (`fetch_content`) ─► the user's feed of saved pages, made on first use ─► import as an entry
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import Any

from tidings.base.errors import InvalidField, InvalidInput
from tidings.base.messages import msg
from tidings.base.times import Instant
from tidings.content.articles import Article
from tidings.content.articles.next_page import with_absolute_urls
from tidings.domain.accounts.users import User
from tidings.domain.errors import NotAPage
from tidings.domain.feeds import feed_changes
from tidings.domain.feeds.feeds import SAVED_PAGES_URL, Feed
from tidings.domain.polling.entry_policy import is_worth_reading
from tidings.engine.database import Database
from tidings.net.guard import parse_target
from tidings.services.clock import Clock
from tidings.services.entries.entries import Entries
from tidings.services.entries.fetch_content import ArticleFetcher
from tidings.storage.feeds import categories, feeds

FEED_TITLE = "Saved pages"


class SavedPages:
    def __init__(self, database: Database, articles: ArticleFetcher, entries: Entries, clock: Clock) -> None:
        self._database = database
        self._articles = articles
        self._entries = entries
        self._clock = clock

    async def save(
        self, user: User, url: str, options: Mapping[str, Any] | None = None, *, feed_title: str = FEED_TITLE
    ) -> tuple[int, bool]:
        """Return the id of the entry, and whether it is new; a page saved before is unread and starred again.

        options: how to fetch the page, as fields of feeds of the API. feed_title: the feed's title, if it is created.
        Raises InvalidInput for an invalid URL or option and for what is not a web page, and FetchError if the page
        cannot be fetched or has no article. Nothing is stored then.
        """
        if not url:
            raise InvalidField("url", msg("give the address of a page."))
        # The server does not get the fragment: a page and a part of it are one document.
        url = url.strip().partition("#")[0]
        parse_target(url)
        now = self._clock()
        # The options of the feed of saved pages are not used: they do not belong to an unrelated page.
        checked = feed_changes.validate(options or {})
        # The page is for this user alone, so that a bridge of their own may fetch it.
        feed = Feed(0, user.id, 0, url, feed_title, checked_at=now, next_check_at=now, own_bridge=True, **checked)
        try:
            article = await self._articles.find(feed, url, requested_by=user.id)
        except NotAPage as error:
            # The site did what it was asked: the address is the wrong one.
            raise InvalidField("url", error.text) from error
        return await asyncio.to_thread(self._store, user, url, article, feed_title, now)

    def _store(self, user: User, url: str, article: Article, feed_title: str, now: Instant) -> tuple[int, bool]:
        content = with_absolute_urls(article.content, article.base_url)
        if not is_worth_reading(content):
            raise NotAPage(msg("No article was found on this page, so nothing was saved."), url=url)
        feed_id = self._feed_id(user.id, feed_title, now)
        fields = {"url": url, "title": article.title, "content": content, "starred": True, "status": "unread"}
        return self._entries.import_one(user, feed_id, fields, restores_deleted=True)

    def _feed_id(self, user_id: int, title: str, now: Instant) -> int:
        """Return the id of the feed of saved pages, which is created if there is none."""
        with self._database.writing() as db:
            known = feeds.id_by_url(db, user_id, SAVED_PAGES_URL)
            if known is not None:
                return known
            category = categories.first(db, user_id)
            if category is None:
                raise InvalidInput(msg("You have no category for saved pages: create one first."))
            times = {"created_at": now, "checked_at": now, "next_check_at": now}
            return feeds.add(
                db, user_id, category_id=category.id, feed_url=SAVED_PAGES_URL, title=title, disabled=True, **times
            )
