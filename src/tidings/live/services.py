"""The services of this slice, for its endpoint and its page."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass

from tidings.http.event_stream import EventStream
from tidings.live import positions
from tidings.live.hub import Hub
from tidings.services import SliceServices
from tidings.services.accounts.grants import Grant


@dataclass(frozen=True, slots=True)
class LiveServices(SliceServices):
    """Live events."""

    hub: Hub

    def stream(self, grant: Grant, since: str) -> EventStream:
        """Return the response that streams events to a caller.

        since: the cursor of what the client has; "" for what is now. Raises InvalidField, and TooManyStreams.
        """
        point = positions.decode(since, grant.user_id) if since else None
        self.hub.ensure_room(grant.user_id)
        return EventStream(lambda stream: self.hub.subscribed(stream, grant, point))

    async def close(self) -> None:
        """End the thread that waits for changes."""
        await asyncio.to_thread(self.hub.close)
