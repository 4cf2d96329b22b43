"""Asking WebSub hubs for subscriptions. Hubs are named by whoever publishes a feed: no less strange to us than that."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from ipaddress import ip_address
from urllib.parse import urlencode, urlsplit

import aiohttp

from tidings.domain.errors import FetchTimeout, HttpError, NetworkError, TooManyRedirects
from tidings.domain.messages import msg
from tidings.domain.polling import cache_headers
from tidings.domain.times import Instant
from tidings.domain.websub.subscriptions import display_text
from tidings.net.connections import Connections
from tidings.net.guard import AddressGuard, is_public
from tidings.net.requests import FetchSettings
from tidings.net.responses import header, read_small_rest
from tidings.net.targets import Target, parse_target

TIMEOUT_S = 10.0
# A hub that hands us on does so with these, and keeps the request as it is (WebSub, section 5.1.2).
_REDIRECTS = frozenset({307, 308})
_MOST_REDIRECTS = 3
_LONGEST_REASON = 1024

# Names that mean something inside a network only (RFC 2606, RFC 6761, RFC 6762, RFC 8375, RFC 9476).
_INSIDE = ("localhost", "local", "internal", "home.arpa", "lan", "intranet", "test", "example", "invalid", "onion")


class HubClient:
    """Belongs to one event loop, as a Fetcher does."""

    def __init__(self, settings: FetchSettings, *, timeout_s: float = TIMEOUT_S) -> None:
        self._user_agent = settings.user_agent
        self._timeout_s = timeout_s
        self._connections = Connections(
            AddressGuard(allow_private_networks=settings.allow_private_networks),
            connect_timeout_s=min(settings.connect_timeout_s, timeout_s),
            remember_names_s=settings.remember_names_s,
        )

    async def close(self) -> None:
        await self._connections.close()

    async def ask(self, hub: str, form: Mapping[str, str], *, now: Instant) -> None:
        """Returns when the hub took the request. InvalidInput, or a FetchError that tells why it did not."""
        start = parse_target(hub)
        try:
            async with asyncio.timeout(self._timeout_s):
                await self._ask(start, urlencode(form).encode(), now)
        except TimeoutError as error:
            raise FetchTimeout(
                msg("{host} did not answer within {seconds} seconds.", host=start.host, seconds=self._timeout_s),
                url=str(start),
            ) from error

    async def _ask(self, start: Target, body: bytes, now: Instant) -> None:
        target = start
        headers = {"Content-Type": "application/x-www-form-urlencoded", "User-Agent": self._user_agent}
        for _ in range(_MOST_REDIRECTS + 1):
            async with self._connections.exchange("POST", target, headers=headers, body=body) as response:
                if response.status not in _REDIRECTS:
                    await _accept(target, response, now)
                    return
                location = header(response, "Location")
                await read_small_rest(response)
            if not location:
                raise NetworkError(msg("{host} sends us on without saying where.", host=target.host), url=str(target))
            target = target.follow(location)
        raise TooManyRedirects(
            msg("{host} sends us on more than {most} times.", host=start.host, most=_MOST_REDIRECTS),
            url=str(start),
        )


async def _accept(target: Target, response: aiohttp.ClientResponse, now: Instant) -> None:
    if 200 <= response.status < 300:
        await read_small_rest(response)
        return
    reason = display_text((await response.content.read(_LONGEST_REASON)).decode("utf-8", "replace"))
    refused = (
        msg("{host} refuses the request with status {status}: {reason}")
        if reason
        else msg("{host} refuses the request with status {status}.")
    )
    raise HttpError(
        refused.with_values(host=target.host, status=response.status, reason=reason),
        url=str(target),
        status=response.status,
        retry_after_s=cache_headers.retry_after_s(header(response, "Retry-After"), now),
    )


def is_public_address(url: str) -> bool:
    """Whether a hub out on the internet could call this, as far as the address alone can tell."""
    host = (urlsplit(url).hostname or "").removesuffix(".")
    try:
        return is_public(ip_address(host))
    except ValueError:
        return "." in host and not any(host == name or host.endswith(f".{name}") for name in _INSIDE)
