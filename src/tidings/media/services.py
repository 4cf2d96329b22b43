"""The services of this slice, for its pages and for the pages that show articles."""

from __future__ import annotations

from dataclasses import dataclass

from tidings.media.episode_parts import EpisodeParts
from tidings.media.proxy import MediaProxy
from tidings.media.queue import MediaQueue
from tidings.services import SliceServices


@dataclass(frozen=True, slots=True)
class MediaServices(SliceServices):
    """Pictures through this service, and what belongs to episodes."""

    proxy: MediaProxy
    queue: MediaQueue
    episode_parts: EpisodeParts

    async def close(self) -> None:
        """Close connections. Call it inside the event loop that used them."""
        await self.proxy.close()
