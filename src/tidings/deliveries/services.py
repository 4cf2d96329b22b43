"""The services of this slice, for its endpoints, its pages and its worker."""

from __future__ import annotations

from dataclasses import dataclass

from tidings.deliveries.apprise import AppriseSender
from tidings.deliveries.integrations import Integrations
from tidings.deliveries.queue import DeliveryQueue
from tidings.deliveries.redelivery import Deliveries
from tidings.deliveries.webhook_settings import Webhooks
from tidings.services import SliceServices


@dataclass(frozen=True, slots=True)
class DeliveryServices(SliceServices):
    """Settings of integrations and webhooks, and the deliveries of events."""

    integrations: Integrations
    webhooks: Webhooks
    redelivery: Deliveries
    queue: DeliveryQueue
    apprise_sender: AppriseSender

    def release_leases(self, worker: str) -> int:
        """Release the receivers that a worker holds."""
        return self.queue.release_all(worker)

    async def close(self) -> None:
        """Close connections and child processes. Call it inside the event loop that used them."""
        await self.queue.close()
        self.apprise_sender.close()
