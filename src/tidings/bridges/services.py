"""The services of the slice, which end with the process."""

from __future__ import annotations

from collections.abc import Collection

from tidings.bridges.own_bridges import OwnBridgeSettings
from tidings.net.fetch import Fetcher
from tidings.net.guard import SystemLookup
from tidings.services import SliceServices


class BridgeServices(SliceServices):
    """own: what users set about their own bridges. of_server: names of the settings that the operator has made."""

    __slots__ = ("_fetcher", "_lookup", "of_server", "own")

    def __init__(
        self, lookup: SystemLookup, fetcher: Fetcher, own: OwnBridgeSettings, of_server: Collection[str]
    ) -> None:
        self._lookup = lookup
        self._fetcher = fetcher
        self.own = own
        self.of_server = of_server

    async def close(self) -> None:
        await self._fetcher.close()
        self._lookup.close()
