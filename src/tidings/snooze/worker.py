"""Brings snoozed entries back when they are due."""

from __future__ import annotations

import asyncio

from tidings.snooze.snooze import Snooze
from tidings.worker import loops

# How late entries come back at most while the worker has nothing else to do.
POLL_INTERVAL_S = 15.0


class SnoozeWorker(loops.Loop):
    """Looks for due entries of all users. Several workers may do so at the same time."""

    def __init__(self, snooze: Snooze) -> None:
        self._snooze = snooze

    async def run(self, stop: asyncio.Event) -> None:
        """Run until `stop` is set; the current step is finished."""
        unavailable, crashed = "no snoozed entry brought back", "bringing back snoozed entries crashed"
        await loops.repeat(self._step, stop, unavailable=unavailable, crashed=crashed)

    async def _step(self) -> float:
        loop = asyncio.get_running_loop()
        started = loop.time()
        if not await asyncio.to_thread(self._snooze.wake):
            return POLL_INTERVAL_S
        # So that others can write in between.
        return loop.time() - started
