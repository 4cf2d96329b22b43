"""Helpers for fetching from synchronous tests."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from typing import Any, TypeVar

from tidings.net.fetch import Fetcher, FetchRequest, FetchResponse, FetchSettings
from tidings.net.guard import AddressGuard, Lookup

T = TypeVar("T")

USER_AGENT = "Tidings/test"
# Ends a test whose fetch would never end.
NEVER_ENDS_S = 60


class Only(AddressGuard):
    """Allows only these addresses: on one machine, some loopback addresses stand for the private network."""

    def __init__(self, *addresses: str) -> None:
        super().__init__()
        self._addresses = addresses

    def allows(self, address: str) -> bool:
        return address in self._addresses


def names(**addresses: Sequence[str] | str) -> Lookup:
    """Return a lookup that resolves these names (a_b stands for a.b).

    Each further question gets the next address, and at last the same one for ever.
    """
    left = {name.replace("_", "."): [told] if isinstance(told, str) else list(told) for name, told in addresses.items()}

    async def look_up(host: str) -> Sequence[str]:
        if host not in left:
            raise OSError(f"nobody knows {host}")
        addresses_of_host = left[host]
        return [addresses_of_host.pop(0) if len(addresses_of_host) > 1 else addresses_of_host[0]]

    return look_up


def with_fetcher(
    use: Callable[[Fetcher], Awaitable[T]],
    *,
    guard: AddressGuard | None = None,
    lookup: Lookup | None = None,
    **settings: Any,
) -> T:
    """Run `use` in an event loop of its own with a fetcher that may reach this machine, and returns its result."""
    everything: dict[str, Any] = {"user_agent": USER_AGENT, "allow_private_networks": True, **settings}

    async def run() -> T:
        async with Fetcher(FetchSettings(**everything), guard=guard, lookup=lookup) as fetcher:
            return await asyncio.wait_for(use(fetcher), NEVER_ENDS_S)

    return asyncio.run(run())


def fetch(
    url: str,
    *,
    guard: AddressGuard | None = None,
    lookup: Lookup | None = None,
    settings: dict[str, Any] | None = None,
    **request: Any,
) -> FetchResponse:
    """Return the response to one request. settings, request: fields of FetchSettings and FetchRequest."""
    return with_fetcher(
        lambda fetcher: fetcher.get(FetchRequest(url=url, **request)),
        guard=guard,
        lookup=lookup,
        **(settings or {}),
    )
