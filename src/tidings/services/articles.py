"""Whole articles: an entry's page is fetched, and what is to be read on it is found.

page ─► fetch ─► web page at all? ─► find (`extraction`) ─► rules, cleaning, reading time (`domain.ingestion`)
"""

from __future__ import annotations

import asyncio

from msgspec import Struct

from tidings.domain import articles as pages
from tidings.domain import ingestion
from tidings.domain.articles import Article, Page
from tidings.domain.entries import Edited
from tidings.domain.entry_changes import EntryEdit
from tidings.domain.errors import EmptyBody, InvalidInput, NotAPage
from tidings.domain.feeds import Feed
from tidings.domain.ingestion import USUAL, Instance, Intake, ReadArticle
from tidings.domain.users import User
from tidings.net.fetch import FetchRequest, FetchResponse
from tidings.net.targets import may_share
from tidings.services.entries import owned
from tidings.services.extraction import Extraction
from tidings.services.fetching import PoliteFetcher
from tidings.services.intake import tell_complaints
from tidings.storage import counters, entries, entry_lists, feeds
from tidings.storage.database import Database
from tidings.storage.entry_lists import EntryPage

PAGE_ACCEPT = "text/html, application/xhtml+xml, */*;q=0.1"
# Pages in our hands at the same time: a hostile one fills the size limit.
AT_ONCE = 16
# A page that does not say what it is begins with one of these, after blanks and in any letters.
_BEGINNINGS = (b"<!doctype html", b"<html")


class Fetched(Struct, frozen=True):
    """content: cleaned HTML. reading_time: minutes."""

    content: str
    reading_time: int


class Articles:
    def __init__(
        self, database: Database, fetcher: PoliteFetcher, extraction: Extraction, *, instance: Instance = USUAL
    ) -> None:
        self._database = database
        self._fetcher = fetcher
        self._extraction = extraction
        self._instance = instance
        self._places = asyncio.Semaphore(AT_ONCE)

    async def fetch(self, user: User, entry_id: int, *, store: bool) -> Fetched:
        """The article of an entry; what is stored already, when there is none on its page. FetchError.

        store: keep it from now on, as the user's own: the publisher's changes pass it by.
        """
        feed, page = await asyncio.to_thread(self._look_up, user.id, entry_id)
        entry = page.entries[0]
        article = await self.find(feed, entry.url)
        read = await asyncio.to_thread(_read, user, feed, page, article, self._instance)
        if read is None:
            return Fetched(page.contents.get(entry.id, ""), entry.reading_time)
        if store:
            await asyncio.to_thread(self._store, user.id, entry_id, read)
        return Fetched(read.content, entry.reading_time if read.reading_time is None else read.reading_time)

    async def find(self, feed: Feed, url: str) -> Article:
        """What is to be read on the page `url` of an entry of this feed. FetchError."""
        if not url:
            raise NotAPage("This entry has no address to fetch an article from.")
        async with self._places:
            response = await self._get(feed, url)
            rules = feed.scraper_rules if pages.is_same_host(url, response.url) else ""
            return await self._extraction.article(Page(response.body, response.charset, response.url, rules))

    def close(self) -> None:
        self._extraction.close()

    async def _get(self, feed: Feed, url: str) -> FetchResponse:
        try:
            response = await self._fetcher.get(_request(feed, url))
        except InvalidInput as error:
            # Of the entry or of the feed's settings; not of what was sent to us now.
            raise NotAPage(f"The page cannot be fetched. {error.message}", url=url) from error
        _ensure_page(response)
        return response

    def _look_up(self, user_id: int, entry_id: int) -> tuple[Feed, EntryPage]:
        with self._database.reading() as db:
            entry = owned(db, user_id, entry_id)
            feed = feeds.get(db, user_id, entry.feed_id)
            assert feed is not None
            return feed, entry_lists.with_bodies(db, [entry])

    def _store(self, user_id: int, entry_id: int, read: ReadArticle) -> None:
        with self._database.writing() as db:
            entry = owned(db, user_id, entry_id)
            counters.hold(db, user_id, [entry.feed_id])
            change = EntryEdit(content=read.content, reading_time=read.reading_time, edited=Edited.CONTENT)
            entries.edit(db, owned(db, user_id, entry_id), change)


def _read(user: User, feed: Feed, page: EntryPage, article: Article, instance: Instance) -> ReadArticle | None:
    """None when there is nothing to read."""
    entry = page.entries[0]
    how = Intake.of(feed, user, instance)
    read = ingestion.read_article(entry, page.enclosures.get(entry.id, []), article, how)
    tell_complaints(feed.id, (*how.problems, *read.complaints))
    return read if ingestion.is_worth_reading(read.content) else None


def _request(feed: Feed, url: str) -> FetchRequest:
    """What the feed lets its publisher know about its user is for its publisher only; its password for the feed."""
    is_home = may_share(feed.feed_url, url)
    return FetchRequest(
        url=url,
        accept=PAGE_ACCEPT,
        user_agent=feed.user_agent if is_home else "",
        cookie=feed.cookie if is_home else "",
        allow_self_signed_certificates=feed.allow_self_signed_certificates,
        proxy_url=feed.proxy_url,
        fetch_via_proxy=feed.fetch_via_proxy,
    )


def _ensure_page(response: FetchResponse) -> None:
    kind, body = response.content_type, response.body.lstrip()
    if not body:
        raise EmptyBody("There is nothing on this page. It is for the publisher to mend; try later.", url=response.url)
    if kind in pages.HTML_TYPES or (not kind and body[:20].lower().startswith(_BEGINNINGS)):
        return
    raise NotAPage(
        f"This is no web page but {kind[:60] or 'something unnamed'}: there is no article to look for.",
        url=response.url,
    )
