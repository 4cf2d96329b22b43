"""The services of this slice, for its endpoints, pages and worker."""

from __future__ import annotations

from dataclasses import dataclass

from tidings.live_opml.subscriptions import LiveOpml
from tidings.services import SliceServices


@dataclass(frozen=True, slots=True)
class LiveOpmlServices(SliceServices):
    """Subscriptions to lists of feeds."""

    subscriptions: LiveOpml

    def release_leases(self, worker: str) -> int:
        """Release the lists that a worker was about to check."""
        return self.subscriptions.release_all(worker)
