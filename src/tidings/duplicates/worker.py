"""Searches archives for duplicates after users switched that on, and undoes it after they switched it off."""

from __future__ import annotations

import asyncio

from tidings.duplicates.search import DuplicateSearch
from tidings.worker import loops

# Pause without work: settings are rarely changed.
POLL_INTERVAL_S = 3.0
# Pause after a step, in times that it took, so that others can write.
PAUSE_FACTOR = 2


class DuplicateWorker(loops.Loop):
    """Takes a step at a time; another worker, or this one after a restart, continues where it ended."""

    def __init__(self, search: DuplicateSearch) -> None:
        self._search = search

    async def run(self, stop: asyncio.Event) -> None:
        """Run until `stop` is set; the current step is finished."""
        unavailable, crashed = "no duplicates found", "finding duplicates crashed"
        await loops.repeat(self._step, stop, unavailable=unavailable, crashed=crashed)

    async def _step(self) -> float:
        loop = asyncio.get_running_loop()
        started = loop.time()
        if not await asyncio.to_thread(self._search.work):
            return POLL_INTERVAL_S
        return (loop.time() - started) * PAUSE_FACTOR
