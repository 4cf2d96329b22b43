"""The services of the slice, which end with the process."""

from __future__ import annotations

from tidings.net.fetch import Fetcher
from tidings.net.guard import SystemLookup
from tidings.services import SliceServices


class BridgeServices(SliceServices):
    __slots__ = ("_fetcher", "_lookup")

    def __init__(self, lookup: SystemLookup, fetcher: Fetcher) -> None:
        self._lookup = lookup
        self._fetcher = fetcher

    async def close(self) -> None:
        await self._fetcher.close()
        self._lookup.close()
