"""Sends requests to the services that users have configured; redirects are left to the caller."""

from __future__ import annotations

from collections.abc import Mapping
from urllib.parse import urlsplit

import aiohttp
from msgspec import Struct

from tidings.base.errors import InvalidInput
from tidings.base.messages import msg
from tidings.net.connections import Connections
from tidings.net.guard import AddressGuard, Lookup, parse_target
from tidings.net.responses import clean

# Bytes of a response that are read: enough for a token or an error message.
MAX_READ = 64 * 1024
SETTING = "TIDINGS_INTEGRATION_ALLOW_PRIVATE_NETWORKS"


class ServiceRequest(Struct, frozen=True):
    """A request to a service."""

    method: str
    url: str
    """An http or https URL; credentials go into headers."""
    headers: dict[str, str]
    body: bytes = b""

    def __repr__(self) -> str:
        """Leaves out what may be secret: requests appear in logs and tracebacks."""
        return f"ServiceRequest({self.method} {urlsplit(self.url).hostname})"


class ServiceResponse(Struct, frozen=True):
    """A service's response."""

    status: int
    headers: Mapping[str, str]
    """Names are in lower case."""
    body: bytes = b""
    """Its beginning, at most MAX_READ bytes."""
    url: str = ""
    """The URL that was requested, without credentials."""


class Sender:
    """A client for one event loop. connect_timeout_s, lookup: see `Connections`."""

    def __init__(
        self,
        *,
        user_agent: str,
        allow_private_networks: bool = False,
        connect_timeout_s: float = 10,
        lookup: Lookup | None = None,
    ) -> None:
        self._headers = {
            "User-Agent": user_agent,
            "Accept": "*/*",
            # Responses are short: decompressing them is not worth it.
            "Accept-Encoding": "identity",
        }
        self._connections = Connections(
            AddressGuard(allow_private_networks=allow_private_networks, setting=SETTING),
            connect_timeout_s=connect_timeout_s,
            lookup=lookup,
            # On a kept connection that the server has just closed, a POST would fail, and it could not be known whether
            # the server processed it.
            keep_alive=False,
        )

    async def close(self) -> None:
        await self._connections.close()

    async def send(self, outgoing: ServiceRequest) -> ServiceResponse:
        """Return the response with at most MAX_READ bytes of its body. The caller limits the time.

        Raises InvalidInput for a request that cannot be sent, and FetchError for one without a complete response.
        """
        target = parse_target(outgoing.url)
        own = {name.lower() for name in outgoing.headers}
        headers = {name: value for name, value in self._headers.items() if name.lower() not in own} | outgoing.headers
        try:
            async with self._connections.exchange(
                outgoing.method, target, headers=headers, body=outgoing.body or None
            ) as response:
                return ServiceResponse(
                    response.status,
                    {name.lower(): clean(value) for name, value in response.headers.items()},
                    await _read_beginning(response),
                    str(target),
                )
        except ValueError as error:
            # A header contains a line break.
            raise InvalidInput(
                msg(
                    "The request to {host} cannot be sent: look for line breaks and other invisible characters in "
                    "its settings.",
                    host=target.host,
                )
            ) from error


async def _read_beginning(response: aiohttp.ClientResponse) -> bytes:
    body = bytearray()
    async for chunk in response.content.iter_any():
        body += chunk
        if len(body) >= MAX_READ:
            break
    return bytes(body[:MAX_READ])
