"""The loop that checks the lists of feeds that users follow."""

from __future__ import annotations

import asyncio

from tidings.live_opml.subscriptions import LiveOpml
from tidings.worker import loops
from tidings.worker.loops import Loop

# Maximum time until a list that is due is checked.
POLL_INTERVAL_S = 5.0


class ListChecker(Loop):
    """Checks one list after another: each is one request in hours."""

    def __init__(self, subscriptions: LiveOpml, worker: str) -> None:
        self._subscriptions = subscriptions
        self._worker = worker

    async def run(self, stop: asyncio.Event) -> None:
        """Run until `stop` is set."""
        await loops.repeat(
            self._step, stop, unavailable="live opml waits for the database", crashed="checking live opml crashed"
        )

    async def _step(self) -> float:
        """Check the list that is due for longest. Returns the pause until the next step."""
        source = await asyncio.to_thread(self._subscriptions.claim, self._worker)
        if source is None:
            return POLL_INTERVAL_S
        await self._subscriptions.check(source, self._worker)
        return 0
