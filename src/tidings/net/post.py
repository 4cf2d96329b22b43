"""Sending requests to services that users have connected: one request, one answer, nothing followed."""

from __future__ import annotations

import aiohttp

from tidings.domain.errors import InvalidInput
from tidings.domain.integrations import ProviderRequest, ProviderResponse
from tidings.domain.messages import msg
from tidings.net.connections import Connections
from tidings.net.guard import AddressGuard, Lookup
from tidings.net.requests import clean
from tidings.net.targets import parse_target

# As much of an answer is read: enough for a token, and for a person to see what is wrong.
MOST_READ = 64 * 1024
SETTING = "TIDINGS_INTEGRATION_ALLOW_PRIVATE_NETWORKS"


class Sender:
    """Belongs to one event loop. lookup: see `Connections`."""

    def __init__(self, *, user_agent: str, allow_private_networks: bool = False, lookup: Lookup | None = None) -> None:
        self._headers = {
            "User-Agent": user_agent,
            "Accept": "*/*",
            # Of what comes back we show a line: not worth unpacking.
            "Accept-Encoding": "identity",
        }
        self._connections = Connections(
            AddressGuard(allow_private_networks=allow_private_networks, setting=SETTING),
            lookup=lookup,
            # On a kept connection that the other side has just closed, a POST fails for no reason, and nobody could
            # tell whether it was heard.
            keep_alive=False,
        )

    async def close(self) -> None:
        await self._connections.close()

    async def send(self, outgoing: ProviderRequest) -> ProviderResponse:
        """InvalidInput for a request that cannot be sent, FetchError for one without an answer.

        The answer has to come whole, but no more than MOST_READ of it. How long it may take is for the caller to say.
        """
        target = parse_target(outgoing.url)
        own = {name.lower() for name in outgoing.headers}
        headers = {name: value for name, value in self._headers.items() if name.lower() not in own} | outgoing.headers
        try:
            async with self._connections.exchange(
                outgoing.method, target, headers=headers, body=outgoing.body or None
            ) as response:
                return ProviderResponse(
                    response.status,
                    {name.lower(): clean(value) for name, value in response.headers.items()},
                    await _beginning(response),
                )
        except ValueError as error:
            # Line breaks where a header has none.
            raise InvalidInput(
                msg(
                    "The request to {host} cannot be sent: look for line breaks and other invisible characters in "
                    "what is set for it.",
                    host=target.host,
                )
            ) from error


async def _beginning(response: aiohttp.ClientResponse) -> bytes:
    body = bytearray()
    async for chunk in response.content.iter_any():
        body += chunk
        if len(body) >= MOST_READ:
            break
    return bytes(body[:MOST_READ])
