"""Finds the icons of feeds and updates them.

icon in the feed ─► icons declared by its site, the best first ─► icons of its manifest ─► icons of the root page
                 ─► /favicon.ico and /apple-touch-icon.png
"""

from __future__ import annotations

import asyncio
import hashlib
import secrets
from collections import OrderedDict, defaultdict
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Sequence
from contextlib import nullcontext
from typing import Any, Self

import msgspec
import structlog
from msgspec import Struct

from tidings.base.errors import InvalidInput, StoreUnavailable
from tidings.base.times import Instant
from tidings.content.discovery import page_links
from tidings.content.icons import (
    IconImage,
    declared_icons,
    decode_data_url,
    icon_pages,
    is_due,
    manifest_icons,
    manifest_url,
    root_icons,
)
from tidings.domain.feeds.feeds import Feed
from tidings.engine.database import Database
from tidings.net.errors import FetchError
from tidings.net.fetch import FetchRequest, FetchResponse
from tidings.services.clock import Clock
from tidings.services.feeds.discovery import header_links
from tidings.services.pictures import PictureDecoder
from tidings.services.publisher_requests import PoliteFetcher, linked_request
from tidings.storage.feeds import feeds, icons

log = structlog.get_logger()

# Time limits: a user who subscribes waits for the icon.
SUBSCRIBE_TIMEOUT_S = 6.0
POLL_TIMEOUT_S = 15.0
FETCH_TIMEOUT_S = 5.0
# Feeds of one source whose icons are written in one transaction.
MAX_TOGETHER = 100
# Large enough for covers of podcasts.
MAX_IMAGE_BYTES = 5 * 2**20
MAX_PAGE_BYTES = 5 * 2**20
MAX_MANIFEST_BYTES = 2**20
MAX_DECLARED = 4
CACHE_S = 600.0
MAX_CACHED = 500

_IMAGE_ACCEPT = "image/png, image/svg+xml, image/webp, image/*;q=0.9, */*;q=0.5"
_MANIFEST_ACCEPT = "application/manifest+json, application/json;q=0.9, */*;q=0.5"
_PAGE_ACCEPT = "text/html, application/xhtml+xml, */*;q=0.5"


Reader = Callable[[FetchResponse], Awaitable[object]]


class Icons:
    """Finds, fetches and stores the icons of feeds.

    Errors are logged and never raised: a feed works without an icon.
    """

    def __init__(self, database: Database, fetcher: PoliteFetcher, pictures: PictureDecoder, clock: Clock) -> None:
        self._database = database
        self._fetcher = fetcher
        self._pictures = pictures
        self._clock = clock
        self._cache = _DocumentCache(fetcher, pictures)

    async def update_new(self, user_id: int, feed_id: int) -> None:
        """Find the icon of a feed that was just stored. After a timeout the next check tries again."""
        with _DocumentCache(self._fetcher, self._pictures) as cache:
            await self._update([(user_id, feed_id)], cache, timeout_s=SUBSCRIBE_TIMEOUT_S, retries_later=True)

    async def update_due(self, checked: Iterable[Feed], *, is_user_waiting: bool) -> None:
        """Find the icons of checked feeds of one source, where they are due. checked: the feeds before the check.

        is_user_waiting: fetch again, for a refresh by a user; else pages and images are taken from the cache.
        """
        now = self._clock()
        due = [(feed.user_id, feed.id) for feed in checked if _is_due(feed, now)]
        if due:
            with (
                _DocumentCache(self._fetcher, self._pictures) if is_user_waiting else nullcontext(self._cache) as cache
            ):
                for start in range(0, len(due), MAX_TOGETHER):
                    some = due[start : start + MAX_TOGETHER]
                    await self._update(some, cache, timeout_s=POLL_TIMEOUT_S, retries_later=False)

    async def _update(
        self, owned: Sequence[tuple[int, int]], cache: _DocumentCache, *, timeout_s: float, retries_later: bool
    ) -> None:
        """Find and store the icons of feeds of one source. owned: user id and feed id of each.

        retries_later: after a timeout store nothing, so that the icon stays due; else store that there is none.
        """
        try:
            found = await asyncio.to_thread(self._feeds, owned)
        except StoreUnavailable as error:
            log.warning("icons not looked for", feeds=len(owned), reason=error.message)
            return
        except Exception:
            log.exception("icon check crashed", feeds=len(owned))
            return
        for alike in _alike(found):
            await self._update_alike(alike, cache, timeout_s=timeout_s, retries_later=retries_later)

    async def _update_alike(
        self, alike: Sequence[Feed], cache: _DocumentCache, *, timeout_s: float, retries_later: bool
    ) -> None:
        """Find the icon of the first of these feeds, and store it with all."""
        try:
            image = None
            try:
                async with asyncio.timeout(timeout_s):
                    image = await _find(alike[0], cache)
            except TimeoutError:
                if retries_later:
                    return
            await asyncio.to_thread(self._store, alike, image)
            log.debug("icon checked", feed=alike[0].id, feeds=len(alike), found=image is not None)
        except StoreUnavailable as error:
            log.warning("icon not stored", feed=alike[0].id, reason=error.message)
        except Exception:
            log.exception("icon check crashed", feed=alike[0].id)

    def _feeds(self, owned: Sequence[tuple[int, int]]) -> list[Feed]:
        with self._database.reading() as db:
            return feeds.owned_by(db, owned)

    def _store(self, alike: Sequence[Feed], image: IconImage | None) -> None:
        try:
            self._write(alike, image)
        except InvalidInput:
            # Another transaction stored the same image at the same time; now it is found.
            self._write(alike, image)

    def _write(self, alike: Sequence[Feed], image: IconImage | None) -> None:
        with self._database.writing() as db:
            icon_id = None
            if image is not None:
                icon_id = icons.add(db, image, digest=_digest(image), external_id=secrets.token_hex(20))
            owned = [(feed.user_id, feed.id) for feed in alike]
            feeds.set_icons(db, owned, icon_id=icon_id, checked_at=self._clock())


def _alike(feeds_of_source: Iterable[Feed]) -> Iterable[Sequence[Feed]]:
    """Return groups of feeds with the same icon: they are fetched alike, and name the same places."""
    groups: defaultdict[tuple[str, str, str], list[Feed]] = defaultdict(list)
    for feed in feeds_of_source:
        groups[feed.icon_url, feed.site_url, feed.feed_url].append(feed)
    return groups.values()


def _is_due(feed: Feed, now: Instant) -> bool:
    return is_due(feed.icon_checked_at, has_icon=feed.icon_id is not None, now=now)


async def _find(feed: Feed, cache: _DocumentCache) -> IconImage | None:
    tried: set[str] = set()
    async for url in _candidates(feed, cache):
        if url not in tried:
            tried.add(url)
            if image := await _image(feed, url, cache):
                return image
    return None


async def _candidates(feed: Feed, cache: _DocumentCache) -> AsyncIterator[str]:
    """Yield URLs of possible icons, the best first. A page is fetched only if no candidate before was an icon."""
    if feed.icon_url:
        yield feed.icon_url
    found_at = feed.site_url
    for page_url in icon_pages(feed.site_url, feed.feed_url):
        page = await cache.page(
            linked_request(
                feed, page_url, accept=_PAGE_ACCEPT, max_body_size=MAX_PAGE_BYTES, timeout_s=FETCH_TIMEOUT_S
            ),
            feed.user_id,
        )
        if page is not None:
            found_at = page.url
            for url in page.icons:
                yield url
            if page.manifest:
                for url in await cache.manifest(
                    linked_request(
                        feed,
                        page.manifest,
                        accept=_MANIFEST_ACCEPT,
                        max_body_size=MAX_MANIFEST_BYTES,
                        timeout_s=FETCH_TIMEOUT_S,
                    ),
                    feed.user_id,
                ):
                    yield url
    for site_url in (found_at, feed.site_url or feed.feed_url):
        for url in root_icons(site_url):
            yield url


async def _image(feed: Feed, url: str, cache: _DocumentCache) -> IconImage | None:
    if url.startswith("data:"):
        return await cache.data_image(url)
    request = linked_request(feed, url, accept=_IMAGE_ACCEPT, max_body_size=MAX_IMAGE_BYTES, timeout_s=FETCH_TIMEOUT_S)
    return await cache.image(request, feed.user_id)


class _Page(Struct, frozen=True):
    """A page that was fetched for the icons it declares."""

    url: str
    """The URL after redirects."""
    icons: list[str]
    """The URLs of declared icons, the best first."""
    manifest: str
    """The URL of its web app manifest, "" if it declares none."""


class _DocumentCache:
    """Caches pages and images, so that each is fetched once within CACHE_S.

    After an import, many feeds of one site need the same page and the same image at the same time.
    """

    def __init__(self, fetcher: PoliteFetcher, pictures: PictureDecoder) -> None:
        self._fetcher = fetcher
        self._pictures = pictures
        # The expiry time and the fetch, by request, the oldest first.
        self._fetches: OrderedDict[FetchRequest, tuple[float, asyncio.Task[Any]]] = OrderedDict()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_raised: object) -> None:
        """Cancel fetches that still run."""
        for _, task in self._fetches.values():
            task.cancel()

    async def page(self, request: FetchRequest, user_id: int) -> _Page | None:
        """Return a page, or None if it cannot be fetched. user_id: the owner of the feed."""
        parsed: _Page | None = await self._get(request, user_id, _read_page)
        return parsed

    async def manifest(self, request: FetchRequest, user_id: int) -> list[str]:
        """Return the URLs of icons in a manifest, [] if it cannot be fetched. user_id: the owner of the feed."""
        found: list[str] | None = await self._get(request, user_id, _read_manifest)
        return found or []

    async def image(self, request: FetchRequest, user_id: int) -> IconImage | None:
        """Return an image, or None if it cannot be fetched or is not an image. user_id: the owner of the feed."""
        parsed: IconImage | None = await self._get(request, user_id, self._read_image)
        return parsed

    async def data_image(self, url: str) -> IconImage | None:
        """Return the image of a `data:` URL."""
        return await self._pictures.read_icon(await asyncio.to_thread(decode_data_url, url))

    async def _get(self, request: FetchRequest, user_id: int, read: Reader) -> Any:
        now = asyncio.get_running_loop().time()
        while self._fetches and (len(self._fetches) > MAX_CACHED or next(iter(self._fetches.values()))[0] <= now):
            self._fetches.popitem(last=False)
        if request not in self._fetches:
            self._fetches[request] = now + CACHE_S, asyncio.create_task(self._fetch(request, user_id, read))
        # A caller that is cancelled must not cancel the fetch for the others.
        return await asyncio.shield(self._fetches[request][1])

    async def _fetch(self, request: FetchRequest, user_id: int, read: Reader) -> object:
        try:
            response = await self._fetcher.get(request, [user_id])
        except (FetchError, InvalidInput):
            return None
        return await read(response)

    async def _read_image(self, response: FetchResponse) -> IconImage | None:
        return await self._pictures.read_icon(response.body)


async def _read_page(page: FetchResponse) -> _Page:
    return await asyncio.to_thread(_links_of, page)


def _links_of(page: FetchResponse) -> _Page:
    links = page_links.read_page_links(page.body, url=page.url, charset=page.charset or None)
    links = msgspec.structs.replace(links, links=(*links.links, *header_links(page)))
    return _Page(page.url, declared_icons(links)[:MAX_DECLARED], manifest_url(links))


async def _read_manifest(manifest: FetchResponse) -> list[str]:
    return manifest_icons(manifest.body, manifest.url)[:MAX_DECLARED]


def _digest(image: IconImage) -> str:
    return hashlib.sha256(image.mime_type.encode() + b"\0" + image.content).hexdigest()
