"""Passes audio and video on while they arrive: with ranges, without a copy on this machine.

request ── target ── exchange ── redirect: again ── status, type ── head ── chunks
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator
from contextlib import AsyncExitStack
from typing import Final

import aiohttp
from msgspec import Struct

from tidings.base.messages import msg
from tidings.net.connections import Connections
from tidings.net.errors import FetchError, FetchTimeout, TooManyRedirects
from tidings.net.fetch import REDIRECTS, FetchSettings, drain, http_error, next_target
from tidings.net.guard import AddressGuard, Target, parse_target
from tidings.net.responses import ChainCookies, header

# Other types, such as pages, are refused.
_TYPES: Final = ("audio/", "video/", "application/ogg", "application/octet-stream", "binary/octet-stream")
_PASSED: Final = ("Content-Type", "Content-Length", "Content-Range", "Accept-Ranges", "ETag", "Last-Modified")
_CHUNK: Final = 64 * 1024


class MediaStream(Struct, frozen=True):
    """The response of a publisher. status: 200, 206 or 416. headers: those that describe the body.

    chunks: the body; the connection is open until its end, or until `aclose`.
    """

    status: int
    headers: dict[str, str]
    chunks: AsyncGenerator[bytes, None]
    connection: AsyncExitStack

    async def aclose(self) -> None:
        """Close the connection without reading the body."""
        await self.connection.aclose()


class MediaRelay:
    """Streams audio and video from publishers, in one event loop.

    guard: without one, the settings decide about private networks.
    """

    def __init__(self, settings: FetchSettings, *, guard: AddressGuard | None = None) -> None:
        self._settings = settings
        self._connections = Connections(
            guard or AddressGuard(allow_private_networks=settings.allow_private_networks),
            connect_timeout_s=settings.connect_timeout_s,
        )

    async def open(self, url: str, *, byte_range: str = "") -> MediaStream:
        """Return the audio or video at a URL. byte_range: the Range header of the reader.

        `timeout_s` of the settings limits the time until the head has arrived, and each pause after it.
        Raises InvalidInput, and FetchError, which includes a response that is neither audio nor video.
        """
        start = parse_target(url)
        headers = {"User-Agent": self._settings.user_agent, "Accept": "*/*", "Accept-Encoding": "identity"}
        if byte_range:
            headers["Range"] = byte_range
        stack = AsyncExitStack()
        try:
            async with asyncio.timeout(self._settings.timeout_s):
                target, response = await self._follow(stack, start, headers)
        except TimeoutError as error:
            await stack.aclose()
            raise _too_slow(start) from error
        except BaseException:
            await stack.aclose()
            raise
        passed = {name: value for name in _PASSED if (value := header(response, name))}
        return MediaStream(response.status, passed, self._chunks(stack, target, response), stack)

    async def close(self) -> None:
        await self._connections.close()

    async def _follow(
        self, stack: AsyncExitStack, start: Target, headers: dict[str, str]
    ) -> tuple[Target, aiohttp.ClientResponse]:
        target, cookies = start, ChainCookies()
        for _ in range(self._settings.max_redirects + 1):
            cookie = cookies.header(target)
            sent = headers | {"Cookie": cookie} if cookie else headers
            response = await stack.enter_async_context(self._connections.exchange("GET", target, headers=sent))
            if response.status not in REDIRECTS:
                _check(target, response)
                return target, response
            cookies.receive(target, response)
            target = next_target(target, response)
            await drain(response)
            await stack.aclose()
        raise TooManyRedirects(msg("{host} redirects too often.", host=start.host), url=str(start))

    async def _chunks(
        self, stack: AsyncExitStack, target: Target, response: aiohttp.ClientResponse
    ) -> AsyncGenerator[bytes, None]:
        async with stack:
            while True:
                try:
                    async with asyncio.timeout(self._settings.timeout_s):
                        chunk = await response.content.read(_CHUNK)
                except TimeoutError as error:
                    raise _too_slow(target) from error
                if not chunk:
                    return
                yield chunk


def _check(target: Target, response: aiohttp.ClientResponse) -> None:
    """Raise FetchError for an error, and for a response that is neither audio nor video."""
    if response.status == 416:
        return
    if response.status >= 400:
        raise http_error(target, response)
    if not header(response, "Content-Type").lower().startswith(_TYPES) or header(response, "Content-Encoding"):
        raise FetchError(msg("{host} did not send audio or video.", host=target.host), url=str(target))


def _too_slow(target: Target) -> FetchTimeout:
    return FetchTimeout(msg("{host} sends too slowly. Try again later.", host=target.host), url=str(target))
