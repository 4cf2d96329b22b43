"""Fetches the pages of entries and extracts their articles.

fetch ─► is it HTML? ─► extract (`article_extraction`) ─► rules, cleaning, reading time (`domain.polling.entry_policy`)
"""

from __future__ import annotations

import asyncio
import re
from codecs import BOM_UTF8

import structlog
from msgspec import Struct
from msgspec.structs import replace

from tidings.base.errors import InvalidInput, LocalShortage, TidingsError
from tidings.base.messages import msg
from tidings.content import cleaning
from tidings.content.articles import HTML_TYPES, TEXT_TYPES, Article, WebPage, is_same_host
from tidings.content.articles.page_joining import MAX_PAGES, is_repeated
from tidings.domain.accounts.users import User
from tidings.domain.entries.entries import EditedEntryField
from tidings.domain.entries.entry_changes import EntryEdit
from tidings.domain.errors import NotAPage
from tidings.domain.feeds.feeds import Feed
from tidings.domain.polling import entry_policy
from tidings.domain.polling.entry_policy import DEFAULT_INSTANCE, EntryPolicy, InstanceSettings, PreparedArticle
from tidings.engine.database import Database
from tidings.net.errors import EmptyBody
from tidings.net.fetch import FetchResponse
from tidings.services.entries.article_extraction import ArticleExtractor
from tidings.services.entries.entries import owned_entry, unknown_entry
from tidings.services.publisher_requests import PoliteFetcher, linked_request
from tidings.services.rule_log import log_rule_errors
from tidings.storage.entries import contents, counters, entries, entry_lists, page_addresses
from tidings.storage.entries.entry_lists import EntryPage
from tidings.storage.feeds import feeds

log = structlog.get_logger()

PAGE_ACCEPT = "text/html, application/xhtml+xml, */*;q=0.1"
# Pages in memory at the same time; each may be as large as the size limit.
MAX_CONCURRENT = 16
# For all further pages of an article.
NEXT_PAGES_TIMEOUT_S = 15.0
# A page without a content type begins with one of these, in any case, after whitespace.
_HTML_STARTS = (b"<!doctype html", b"<html")
# What may be before the root element of a feed, which some servers send as text/html.
_FEED_START = re.compile(rb"(?:<\?[^>]*>|<!--.*?-->|\s)*+<(?:rss|feed|rdf:rdf)\b", re.IGNORECASE | re.DOTALL)
_PROLOGUE_BYTES = 2_000


class FetchedArticle(Struct, frozen=True):
    """What a request for the article of an entry returns."""

    content: str
    """Cleaned HTML."""
    reading_time: int
    """In minutes."""
    is_found: bool = True
    """Whether it is the article of the page.

    Otherwise it is the stored content, because the page has no article, or far less text.
    """


class ArticleFetcher:
    def __init__(
        self,
        database: Database,
        fetcher: PoliteFetcher,
        extraction: ArticleExtractor,
        *,
        instance: InstanceSettings = DEFAULT_INSTANCE,
    ) -> None:
        self._database = database
        self._fetcher = fetcher
        self._extraction = extraction
        self._instance = instance
        self._slots = asyncio.Semaphore(MAX_CONCURRENT)

    async def fetch(self, user: User, entry_id: int, *, store: bool) -> FetchedArticle:
        """Return the article of an entry's page, or the stored content if the page has none or far less text.

        store: replace the content of the entry; later changes by the publisher do not replace it.
        Raises NotFound, and FetchError if the page cannot be fetched.
        """
        feed, page, other = await asyncio.to_thread(self._look_up, user.id, entry_id)
        entry = page.entries[0]
        article = await self.find(feed, entry.url, requested_by=user.id)
        read = await asyncio.to_thread(_read, user, feed, page, other, article, self._instance)
        if read is None:
            return FetchedArticle(page.contents.get(entry.id, ""), entry.reading_time, is_found=False)
        if store:
            await asyncio.to_thread(self._store, user.id, entry_id, read, article.page_url)
        return FetchedArticle(read.content, read.reading_time)

    async def find(self, feed: Feed, url: str, *, requested_by: int = 0) -> Article:
        """Return the article of the page `url` of an entry of this feed. Raises FetchError.

        requested_by: the user who requested this article manually, or 0.
        """
        if not url:
            raise NotAPage(msg("This entry has no address to fetch an article from."))
        async with self._slots:
            response = await self._get(feed, url, requested_by)
            rules = feed.scraper_rules if is_same_host(url, response.url) else ""
            is_text = response.content_type in TEXT_TYPES
            page = WebPage(response.body, response.charset, response.url, rules, is_text=is_text)
            first = await self._extraction.article(page)
            return await self._with_next_pages(feed, first, response.url, rules) if first.next_url else first

    async def _with_next_pages(self, feed: Feed, first: Article, url: str, rules: str) -> Article:
        """Return the article with its next pages, as many as can be fetched in time."""
        contents, next_url, seen = [first.content], first.next_url, {url}
        try:
            async with asyncio.timeout(NEXT_PAGES_TIMEOUT_S):
                while next_url not in seen and len(contents) < MAX_PAGES and is_same_host(next_url, url):
                    response = await self._get(feed, next_url, 0)
                    if response.url in seen or not is_same_host(response.url, url):
                        break
                    if response.content_type in TEXT_TYPES:
                        break
                    page = WebPage(response.body, response.charset, response.url, rules, is_continuation=True)
                    article = await self._extraction.article(page)
                    if is_repeated(article.content, contents):
                        break
                    contents.append(article.content)
                    seen |= {next_url, response.url}
                    next_url = article.next_url
        except LocalShortage:
            raise
        except (TidingsError, TimeoutError) as error:
            log.info("next page not fetched", feed=feed.id or None, pages=len(contents), reason=str(error) or "timeout")
        return replace(first, content="".join(contents), next_url="")

    def close(self) -> None:
        self._extraction.close()

    async def _get(self, feed: Feed, url: str, requested_by: int) -> FetchResponse:
        try:
            request = linked_request(feed, url, accept=PAGE_ACCEPT)
            response = await self._fetcher.get(request, [feed.user_id], requested_by=requested_by)
        except InvalidInput as error:
            # The URL of the entry or a setting of the feed is invalid, not the request of the user.
            raise NotAPage(msg("The page cannot be fetched. {problem}", problem=error.text), url=url) from error
        _ensure_page(response)
        return response

    def _look_up(self, user_id: int, entry_id: int) -> tuple[Feed, EntryPage, str]:
        """Return the feed, the entry with its content, and the content that the user can switch to."""
        with self._database.reading() as db:
            entry = owned_entry(db, user_id, entry_id)
            feed = feeds.get(db, user_id, entry.feed_id)
            if feed is None:  # deleted with its entries since the entry was read
                raise unknown_entry(entry_id)
            other = contents.extras(db, user_id, entry_id).other_content or ""
            return feed, entry_lists.with_bodies(db, [entry]), other

    def _store(self, user_id: int, entry_id: int, read: PreparedArticle, page_url: str) -> None:
        with self._database.writing() as db:
            entry = owned_entry(db, user_id, entry_id)
            counters.lock(db, user_id, [entry.feed_id])
            entry, extras = owned_entry(db, user_id, entry_id), contents.extras(db, user_id, entry_id)
            # The content of the feed is kept, so that the user can switch back to it.
            stored = (
                None if extras.is_whole_article else entry_lists.bodies(db, [user_id], [entry_id]).get(entry_id, "")
            )
            change = EntryEdit(
                content=read.content,
                reading_time=read.reading_time,
                other_content=extras.other_content if stored is None else stored,
                edited=EditedEntryField.CONTENT,
            )
            entries.edit(db, entry, change)
            page_addresses.put(db, user_id, entry_id, entry.url, page_url)


def _read(
    user: User, feed: Feed, page: EntryPage, other: str, article: Article, instance: InstanceSettings
) -> PreparedArticle | None:
    """Return the cleaned article, or None if it has no text, or far less than what is stored.

    other: what the user can switch to, which is the text of the feed if an article was stored before.
    """
    entry = page.entries[0]
    policy = EntryPolicy.for_feed(feed, user, instance)
    read = entry_policy.prepare_article(entry, page.enclosures.get(entry.id, []), article, policy)
    log_rule_errors(feed.id, (*policy.rule_errors, *read.warnings))
    if not article.is_scraped:
        found = cleaning.clean(article.content, base_url=article.base_url, policy=policy.cleaning_policy)
        if entry_policy.is_far_shorter(found, [page.contents.get(entry.id, ""), other]):
            return None
    return read if entry_policy.is_worth_reading(read.content) else None


def _ensure_page(response: FetchResponse) -> None:
    kind, body = response.content_type, response.body.lstrip()
    if not body:
        raise EmptyBody(msg("This page is empty. Only its publisher can fix that; try again later."), url=response.url)
    if _FEED_START.match(body[:_PROLOGUE_BYTES].removeprefix(BOM_UTF8)):
        raise NotAPage(msg("This is not a web page but a feed: subscribe to it instead."), url=response.url)
    looks_like_html = body[:20].lower().startswith(_HTML_STARTS)
    if kind in HTML_TYPES or (not kind and looks_like_html):
        return
    # Browsers show the source of a page that is sent as text, which is not an article.
    if kind in TEXT_TYPES and not looks_like_html:
        return
    message = (
        msg("This is not a web page but {kind}: there is no article to look for.", kind=kind[:60])
        if kind
        else msg("This is not a web page, and its kind is not named: there is no article to look for.")
    )
    raise NotAPage(message, url=response.url)
