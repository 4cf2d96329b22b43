"""The indexer: adds new and changed entries to the full-text index, and yields to the poller."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

from tidings.services.entries.search_index import SearchIndexer
from tidings.worker import loops

# Pause without work. A search need not wait for it: it indexes the entries of its user itself.
POLL_INTERVAL_S = 1.0


class Indexer:
    """Indexes entries for the search, in the background.

    is_busy: whether sources wait to be checked; indexing then pauses longer.
    """

    def __init__(self, search: SearchIndexer, is_busy: Callable[[], bool] = lambda: False) -> None:
        self._search = search
        self._is_busy = is_busy

    async def run(self, stop: asyncio.Event) -> None:
        """Run until `stop` is set; the current batch is finished."""
        await loops.repeat(self._step, stop, unavailable="nothing indexed", crashed="indexing crashed")

    async def _step(self) -> float:
        """Index a batch. Returns the pause in seconds."""
        loop = asyncio.get_running_loop()
        started = loop.time()
        if not await asyncio.to_thread(self._search.work):
            return POLL_INTERVAL_S
        return loops.pause_after(loop.time() - started, is_busy=self._is_busy())
