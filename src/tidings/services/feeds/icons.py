"""Finding the icons of feeds and keeping them fresh.

named by the feed ─► declared by its site, the best first ─► declared by the root page ─► /favicon.ico
"""

from __future__ import annotations

import asyncio
import hashlib
import secrets
from collections import OrderedDict
from collections.abc import AsyncIterator, Callable, Iterable
from contextlib import nullcontext
from typing import Any, Self

import structlog
from msgspec import Struct

from tidings.domain import icons as rules
from tidings.domain.discovery import page_links
from tidings.domain.errors import FetchError, InvalidInput, StoreUnavailable
from tidings.domain.feeds.feeds import Feed
from tidings.domain.icons import IconImage
from tidings.domain.times import Instant
from tidings.net.fetch import FetchRequest, FetchResponse
from tidings.services.clock import Clock
from tidings.services.feed_requests import request_for
from tidings.services.polling.rate_limit import PoliteFetcher
from tidings.storage.engine.database import Database
from tidings.storage.feeds import feeds, icons

log = structlog.get_logger()

# Somebody who subscribes waits no longer than this for an icon.
WHILE_SUBSCRIBING_S = 6.0
WHILE_POLLING_S = 15.0
ONE_FETCH_S = 5.0
# Feeds of one source that get their icons at the same time, which is found once for all of them.
AT_ONCE = 8
# Covers of podcasts are among them.
LARGEST_PICTURE = 5 * 2**20
LARGEST_PAGE = 5 * 2**20
MOST_DECLARED = 4
SHARED_S = 600.0
MOST_SHARED = 500

_PICTURE_ACCEPT = "image/png, image/svg+xml, image/webp, image/*;q=0.9, */*;q=0.5"
_PAGE_ACCEPT = "text/html, application/xhtml+xml, */*;q=0.5"


class Icons:
    """A feed without an icon is a feed all the same: nothing here fails because of one."""

    def __init__(self, database: Database, fetcher: PoliteFetcher, clock: Clock) -> None:
        self._database = database
        self._fetcher = fetcher
        self._clock = clock
        self._shared = _Documents(fetcher)

    async def look_for_new(self, user_id: int, feed_id: int) -> None:
        """Of a feed that was just stored. What takes too long now is left to its next check."""
        with _Documents(self._fetcher) as documents:
            await self._look(user_id, feed_id, documents, limit_s=WHILE_SUBSCRIBING_S, is_last_word=False)

    async def look_if_due(self, checked: Iterable[Feed], *, is_awaited: bool) -> None:
        """Of feeds of one source that were just checked. checked: as they were before.

        is_awaited: somebody asked for this check. Nobody did: then feeds of one site share what is fetched.
        """
        now, places = self._clock(), asyncio.Semaphore(AT_ONCE)

        async def look(feed: Feed, documents: _Documents) -> None:
            async with places:
                await self._look(feed.user_id, feed.id, documents, limit_s=WHILE_POLLING_S, is_last_word=True)

        due = [feed for feed in checked if _is_due(feed, now)]
        if due:
            with _Documents(self._fetcher) if is_awaited else nullcontext(self._shared) as documents:
                await asyncio.gather(*(look(feed, documents) for feed in due))

    async def _look(
        self, user_id: int, feed_id: int, documents: _Documents, *, limit_s: float, is_last_word: bool
    ) -> None:
        """is_last_word: what was not found within the limit counts as not there."""
        try:
            feed = await asyncio.to_thread(self._feed, user_id, feed_id)
            if feed is None:
                return
            picture = None
            try:
                async with asyncio.timeout(limit_s):
                    picture = await _find(feed, documents)
            except TimeoutError:
                if not is_last_word:
                    return
            await asyncio.to_thread(self._store, feed, picture)
            log.debug("icon looked for", feed=feed_id, found=picture is not None)
        except StoreUnavailable as error:
            log.warning("icon not stored", feed=feed_id, reason=error.message)
        except Exception:
            log.exception("icon made us fail", feed=feed_id)

    def _feed(self, user_id: int, feed_id: int) -> Feed | None:
        with self._database.reading() as db:
            return feeds.get(db, user_id, feed_id)

    def _store(self, feed: Feed, picture: IconImage | None) -> None:
        try:
            self._write(feed, picture)
        except InvalidInput:
            # Another feed came with the same picture at the same moment; by now it is there.
            self._write(feed, picture)

    def _write(self, feed: Feed, picture: IconImage | None) -> None:
        with self._database.writing() as db:
            icon_id = None
            if picture is not None:
                icon_id = icons.add(db, picture, digest=_digest(picture), external_id=secrets.token_hex(20))
            feeds.set_icon(db, feed.user_id, feed.id, icon_id=icon_id, checked_at=self._clock())


def _is_due(feed: Feed, now: Instant) -> bool:
    return rules.is_due(feed.icon_checked_at, has_icon=feed.icon_id is not None, now=now)


async def _find(feed: Feed, documents: _Documents) -> IconImage | None:
    tried: set[str] = set()
    async for url in _places(feed, documents):
        if url not in tried:
            tried.add(url)
            if picture := await _picture(feed, url, documents):
                return picture
    return None


async def _places(feed: Feed, documents: _Documents) -> AsyncIterator[str]:
    """Pages are only fetched when nothing before them had an icon."""
    if feed.icon_url:
        yield feed.icon_url
    found_at = feed.site_url
    for page_url in rules.icon_pages(feed.site_url, feed.feed_url):
        page = await documents.page(
            request_for(feed, page_url, accept=_PAGE_ACCEPT, max_body_size=LARGEST_PAGE, timeout_s=ONE_FETCH_S)
        )
        if page is not None:
            found_at = page.url
            for url in page.icons:
                yield url
    for site_url in (found_at, feed.site_url or feed.feed_url):
        if favicon := rules.favicon_url(site_url):
            yield favicon


async def _picture(feed: Feed, url: str, documents: _Documents) -> IconImage | None:
    if url.startswith("data:"):
        return await asyncio.to_thread(lambda: rules.read_icon(rules.decode_data_url(url)))
    request = request_for(feed, url, accept=_PICTURE_ACCEPT, max_body_size=LARGEST_PICTURE, timeout_s=ONE_FETCH_S)
    return await documents.picture(request)


class _Page(Struct, frozen=True):
    """url: where it was found in the end. icons: that it declares, the best first."""

    url: str
    icons: list[str]


class _Documents:
    """Pages and pictures, each fetched once for all who ask within some minutes.

    After an import, a hundred feeds of one site want the same page and the same picture at the same time.
    """

    def __init__(self, fetcher: PoliteFetcher) -> None:
        self._fetcher = fetcher
        self._asked: OrderedDict[FetchRequest, tuple[float, asyncio.Task[Any]]] = OrderedDict()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_raised: object) -> None:
        """Nobody waits any more."""
        for _, task in self._asked.values():
            task.cancel()

    async def page(self, request: FetchRequest) -> _Page | None:
        """None when it cannot be had."""
        found: _Page | None = await self._once(request, _read_page)
        return found

    async def picture(self, request: FetchRequest) -> IconImage | None:
        """None when it cannot be had, or is none."""
        found: IconImage | None = await self._once(request, _read_picture)
        return found

    async def _once(self, request: FetchRequest, read: Callable[[FetchResponse], object]) -> Any:
        now = asyncio.get_running_loop().time()
        while self._asked and (len(self._asked) > MOST_SHARED or next(iter(self._asked.values()))[0] <= now):
            self._asked.popitem(last=False)
        if request not in self._asked:
            self._asked[request] = now + SHARED_S, asyncio.create_task(self._fetch(request, read))
        # Who gives up waiting leaves the others their answer.
        return await asyncio.shield(self._asked[request][1])

    async def _fetch(self, request: FetchRequest, read: Callable[[FetchResponse], object]) -> object:
        try:
            response = await self._fetcher.get(request)
        except (FetchError, InvalidInput):
            return None
        return await asyncio.to_thread(read, response)


def _read_page(page: FetchResponse) -> _Page:
    links = page_links.read_page_links(page.body, url=page.url, charset=page.charset or None)
    return _Page(page.url, rules.declared_icons(links)[:MOST_DECLARED])


def _read_picture(response: FetchResponse) -> IconImage | None:
    return rules.read_icon(response.body)


def _digest(picture: IconImage) -> str:
    return hashlib.sha256(picture.mime_type.encode() + b"\0" + picture.content).hexdigest()
