"""The services of this slice, for its endpoint and its worker."""

from __future__ import annotations

from dataclasses import dataclass

from tidings.services import SliceServices
from tidings.websub.pushes import Pushes
from tidings.websub.subscriptions import WebSub


@dataclass(frozen=True, slots=True)
class WebSubServices(SliceServices):
    """Subscriptions at hubs, and the documents that hubs push."""

    subscriptions: WebSub
    pushes: Pushes

    async def close(self) -> None:
        """Close connections to hubs. Call it inside the event loop that used them."""
        await self.subscriptions.disconnect()
