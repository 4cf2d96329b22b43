"""Requests to WebSub hubs. The publisher of a feed names its hubs, so they are as untrusted as the feed."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from ipaddress import ip_address
from urllib.parse import urlencode, urlsplit

from tidings.base.messages import msg
from tidings.base.times import Instant
from tidings.net import responses
from tidings.net.connections import Connections, Response
from tidings.net.errors import FetchTimeout, HttpError, NetworkError, TooManyRedirects
from tidings.net.fetch import FetchSettings, drain
from tidings.net.guard import AddressGuard, Target, is_public, parse_target
from tidings.net.responses import header
from tidings.websub.model import display_text

TIMEOUT_S = 10.0
# The redirects that hubs may use; they keep method and body (WebSub, section 5.1.2).
_REDIRECTS = frozenset({307, 308})
_MAX_REDIRECTS = 3
_MAX_REASON_BYTES = 1024

# Names that exist inside a private network only (RFC 2606, RFC 6761, RFC 6762, RFC 8375, RFC 9476).
_PRIVATE_NAMES = (
    "localhost",
    "local",
    "internal",
    "home.arpa",
    "lan",
    "intranet",
    "test",
    "example",
    "invalid",
    "onion",
)


class HubClient:
    """A client for one event loop."""

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

    async def send(self, hub: str, form: Mapping[str, str], *, now: Instant) -> None:
        """Sends a request and returns when the hub has accepted it.

        Raises InvalidInput for an invalid URL, and FetchError if the hub cannot be reached or refuses the request.
        """
        start = parse_target(hub)
        try:
            async with asyncio.timeout(self._timeout_s):
                await self._post(start, urlencode(form).encode(), now)
        except TimeoutError as error:
            raise FetchTimeout(
                msg("{host} did not respond within {seconds} seconds.", host=start.host, seconds=self._timeout_s),
                url=str(start),
            ) from error

    async def _post(self, start: Target, body: bytes, now: Instant) -> None:
        target = start
        headers = {"Content-Type": "application/x-www-form-urlencoded", "User-Agent": self._user_agent}
        for _ in range(_MAX_REDIRECTS + 1):
            async with self._connections.exchange("POST", target, headers=headers, body=body) as response:
                if response.status not in _REDIRECTS:
                    await _check_response(target, response, now)
                    return
                location = header(response, "Location")
                await drain(response)
            if not location:
                raise NetworkError(msg("{host} sent a redirect without an address.", host=target.host), url=str(target))
            new = target.follow(location)
            if target.url.scheme == "https" and new.url.scheme == "http":
                # The form has the secret by which a push is known to come from the hub.
                raise NetworkError(
                    msg(
                        "{host} redirects to {url}, which is not encrypted: the request has a secret and is not sent "
                        "there.",
                        host=target.host,
                        url=str(new),
                    ),
                    url=str(target),
                )
            target = new
        raise TooManyRedirects(
            msg("{host} redirects more than {max} times.", host=start.host, max=_MAX_REDIRECTS),
            url=str(start),
        )


async def _check_response(target: Target, response: Response, now: Instant) -> None:
    if 200 <= response.status < 300:
        await drain(response)
        return
    reason = display_text((await response.content.read(_MAX_REASON_BYTES)).decode("utf-8", "replace"))
    refused = (
        msg("{host} refuses the request with status {status}: {reason}")
        if reason
        else msg("{host} refuses the request with status {status}.")
    )
    raise HttpError(
        refused.with_values(host=target.host, status=response.status, reason=reason),
        url=str(target),
        status=response.status,
        retry_after_s=responses.retry_after_s(header(response, "Retry-After"), now),
    )


def is_public_address(url: str) -> bool:
    """Return whether a hub on the internet could call this URL, judged by its host alone."""
    host = (urlsplit(url).hostname or "").removesuffix(".")
    try:
        return is_public(ip_address(host))
    except ValueError:
        return "." in host and not any(host == name or host.endswith(f".{name}") for name in _PRIVATE_NAMES)
