"""The services of this slice, for its endpoints, its pages and its worker."""

from __future__ import annotations

from dataclasses import dataclass

from tidings.deliveries.apprise import AppriseSender
from tidings.deliveries.integrations import Integrations
from tidings.deliveries.queue import DeliveryQueue
from tidings.deliveries.redelivery import Deliveries


@dataclass(frozen=True, slots=True)
class DeliveryServices:
    """Settings of integrations, and the deliveries of events."""

    integrations: Integrations
    redelivery: Deliveries
    queue: DeliveryQueue
    apprise_sender: AppriseSender

    async def close(self) -> None:
        """Close connections and child processes. Call it inside the event loop that used them."""
        await self.queue.close()
        self.apprise_sender.close()
