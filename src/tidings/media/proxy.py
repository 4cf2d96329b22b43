"""Fetches pictures for readers.

signed path ─► URL ─► cache ─► fetch (guard, limits) ─► a picture? ─► scaled down ─► cache
"""

from __future__ import annotations

import asyncio
import hashlib
import hmac

import structlog

from tidings.base.errors import Forbidden, InvalidInput, TidingsError
from tidings.base.messages import msg
from tidings.base.times import SECOND
from tidings.content.pictures.formats import Picture, read_picture
from tidings.content.pictures.scaling import PictureSize
from tidings.domain.polling.shared_sources import host_with_port
from tidings.engine.database import Database
from tidings.media.cache import CachedFile, MediaCache
from tidings.media.policy import MediaKind, MediaPolicy
from tidings.media.signatures import signed_path, verified_url
from tidings.net.errors import EmptyBody, FetchError
from tidings.net.fetch import Fetcher, FetchRequest
from tidings.net.relay import MediaRelay, MediaStream
from tidings.services.accounts.server_secret import ServerSecret
from tidings.services.clock import Clock
from tidings.services.pictures import PictureDecoder

log = structlog.get_logger()

MAX_PICTURE_BYTES = 15 * 2**20
TIMEOUT_S = 20.0
# Maximum number of pictures that one process fetches at the same time; others wait.
MAX_CONCURRENT = 12
# A picture is fetched again after this time. If that fails, the old one is shown.
FRESH_S = 7 * 86_400

# Each process waits this long before it requests a picture again that could not be fetched.
FAILED_FOR_S = 300
MAX_FAILED = 1_000

_ACCEPT = "image/webp, image/png, image/jpeg, image/gif, image/svg+xml, image/*;q=0.8, */*;q=0.5"


class MediaProxy:
    """Fetches media for pages. Belongs to one event loop, as its fetcher does. policy: for all users."""

    def __init__(
        self,
        database: Database,
        fetcher: Fetcher,
        relay: MediaRelay,
        decoder: PictureDecoder,
        cache: MediaCache,
        clock: Clock,
        policy: MediaPolicy,
    ) -> None:
        self.policy = policy
        self._secret = ServerSecret(database)
        self._fetcher = fetcher
        self._relay = relay
        self._decoder = decoder
        self._cache = cache
        self._clock = clock
        self._slots = asyncio.Semaphore(MAX_CONCURRENT)
        self._fetches: dict[str, asyncio.Task[Picture]] = {}
        # By URL: the second until which the error counts.
        self._failed: dict[str, tuple[int, TidingsError]] = {}

    def path(self, url: str, kind: MediaKind) -> str:
        """Return the path under which the proxy serves a URL."""
        return signed_path(url, self._key(), is_stream=kind is not MediaKind.IMAGE)

    def url(self, signature: str, encoded_url: str) -> str:
        """Return the URL of a path. Raises Forbidden for a wrong signature."""
        return verified_url(signature, encoded_url, self._key())

    async def picture(self, url: str, size: PictureSize = PictureSize.ARTICLE) -> Picture:
        """Return the picture at a URL, not larger than a size.

        Raises FetchError or InvalidInput when it cannot be shown.
        """
        if size is PictureSize.ARTICLE:
            return await self._article_picture(url)
        # URLs do not contain spaces, so the two cannot be mistaken for each other.
        name = f"{size.name} {url}"
        now_s = self._clock() // SECOND
        cached = await asyncio.to_thread(self._cache.get, name, now=now_s)
        if cached and now_s - cached.fetched_at < FRESH_S:
            return Picture(cached.mime_type, cached.content)
        scaled = await self._decoder.scale_down(await self._article_picture(url), size)
        await self._keep(name, scaled, now_s)
        return scaled

    async def stream(self, url: str, *, byte_range: str) -> MediaStream:
        """Return audio or video as the publisher sends it. byte_range: the Range header of the reader.

        Raises Forbidden if the operator did not ask for it, FetchError and InvalidInput.
        """
        if self.policy.kinds <= {MediaKind.IMAGE}:
            raise Forbidden(msg("Only pictures are loaded through this service."))
        return await self._relay.open(url, byte_range=byte_range)

    async def close(self) -> None:
        await self._fetcher.close()
        await self._relay.close()

    async def _article_picture(self, url: str) -> Picture:
        now_s = self._clock() // SECOND
        cached = await asyncio.to_thread(self._cache.get, url, now=now_s)
        if cached and now_s - cached.fetched_at < FRESH_S:
            return Picture(cached.mime_type, cached.content)
        until_s, error = self._failed.get(url, (0, None))
        if error is None or until_s <= now_s:
            try:
                return await self._fetch_once(url, now_s)
            except (FetchError, InvalidInput) as failed:
                self._remember(url, now_s + FAILED_FOR_S, failed)
                error = failed
        if cached is None:
            raise error.with_traceback(None)
        return Picture(cached.mime_type, cached.content)

    async def _fetch_once(self, url: str, now_s: int) -> Picture:
        """Fetch the picture; requests for the same URL at the same time share one fetch."""
        if url not in self._fetches:
            task = self._fetches[url] = asyncio.create_task(self._fetch(url, now_s))
            task.add_done_callback(lambda done: self._forget(url, done))
        # A client that disconnects must not cancel the fetch for others.
        return await asyncio.shield(self._fetches[url])

    def _remember(self, url: str, until_s: int, error: TidingsError) -> None:
        self._failed.pop(url, None)
        while len(self._failed) >= MAX_FAILED:
            del self._failed[next(iter(self._failed))]
        self._failed[url] = until_s, error

    def _forget(self, url: str, done: asyncio.Task[Picture]) -> None:
        self._fetches.pop(url, None)
        if not done.cancelled():
            # Retrieved here, since all clients may have disconnected: an unretrieved exception is logged as a defect.
            done.exception()

    async def _fetch(self, url: str, now_s: int) -> Picture:
        async with self._slots:
            response = await self._fetcher.get(FetchRequest(url=url, accept=_ACCEPT, ignore_cache=True))
        picture = await asyncio.to_thread(read_picture, response.body)
        if picture is None:
            raise EmptyBody(msg("{host} did not send a picture.", host=host_with_port(url)), url=url)
        scaled = await self._decoder.scale_down(picture, PictureSize.ARTICLE)
        await self._keep(url, scaled, now_s)
        return scaled

    async def _keep(self, name: str, picture: Picture, now_s: int) -> None:
        """Cache a picture. name: its URL, with its size if that is not the one of articles."""
        try:
            await asyncio.to_thread(self._cache.put, name, CachedFile(picture.mime_type, picture.content, now_s))
        except OSError as error:
            log.warning("picture not cached", reason=str(error))

    def _key(self) -> bytes:
        return hmac.digest(self._secret.get(), b"media proxy", hashlib.sha256)
