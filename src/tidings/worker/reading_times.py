"""Recomputes reading times after users changed their reading speed or the formula changed, and yields to the poller."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

from tidings.services.entries.reading_times import ReadingTimes
from tidings.worker import loops

# Pause without work: speeds are rarely changed.
POLL_INTERVAL_S = 5.0


class ReadingTimeWorker:
    """Computes outdated reading times again, in the background.

    is_busy: whether sources wait to be checked; the pauses are then longer.
    """

    def __init__(self, reading_times: ReadingTimes, is_busy: Callable[[], bool] = lambda: False) -> None:
        self._reading_times = reading_times
        self._is_busy = is_busy

    async def run(self, stop: asyncio.Event) -> None:
        """Run until `stop` is set; the current batch is finished."""
        unavailable, crashed = "no reading time recomputed", "recomputing reading times crashed"
        await loops.repeat(self._step, stop, unavailable=unavailable, crashed=crashed)

    async def _step(self) -> float:
        """Recompute a batch. Returns the pause in seconds."""
        loop = asyncio.get_running_loop()
        started = loop.time()
        if not await asyncio.to_thread(self._reading_times.work):
            return POLL_INTERVAL_S
        return loops.pause_after(loop.time() - started, is_busy=self._is_busy())
