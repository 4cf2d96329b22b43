"""The indexer: takes what was written into the full-text index, beside the poller and without getting in its way."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

from tidings.services.entries.search_index import SearchIndexer
from tidings.worker import loops

# How soon new entries are taken up; a search takes up those of its user at once.
POLL_INTERVAL_S = 1.0
# Times as long a pause: nobody waits for the index, a search takes up what it needs by itself.
BUSY_PAUSE_FACTOR = 20


class Indexer:
    """is_busy: whether others have more to do than there is room for; the index then takes what they leave."""

    def __init__(self, search: SearchIndexer, is_busy: Callable[[], bool] = lambda: False) -> None:
        self._search = search
        self._is_busy = is_busy

    async def run(self, stop: asyncio.Event) -> None:
        """Until `stop` is set; the batch at hand is finished."""
        await loops.repeat(self._step, stop, unavailable="nothing indexed", crashed="indexing crashed")

    async def _step(self) -> float:
        """How long to pause: after work, as long as it took, so that others get to write in between; or longer."""
        loop = asyncio.get_running_loop()
        started = loop.time()
        if not await asyncio.to_thread(self._search.work):
            return POLL_INTERVAL_S
        return (loop.time() - started) * (BUSY_PAUSE_FACTOR if self._is_busy() else 1)
