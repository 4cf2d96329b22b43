"""The indexer: takes what was written into the full-text index, beside the poller and without getting in its way."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from contextlib import suppress

import structlog

from tidings.domain.errors import StoreUnavailable
from tidings.services.search import Search

log = structlog.get_logger()

# How soon new entries are taken up; a search takes up those of its user at once.
LOOK_AGAIN_S = 1.0
AFTER_TROUBLE_S = 5.0
# Times as long a pause: nobody waits for the index, a search takes up what it needs by itself.
WHILE_OTHERS_ARE_BUSY = 20


class Indexer:
    """is_busy: whether others have more to do than there is room for; the index then takes what they leave."""

    def __init__(self, search: Search, is_busy: Callable[[], bool] = lambda: False) -> None:
        self._search = search
        self._is_busy = is_busy

    async def run(self, stop: asyncio.Event) -> None:
        """Until `stop` is set; the batch at hand is finished."""
        while not stop.is_set():
            pause_s = await self._step()
            with suppress(TimeoutError):
                await asyncio.wait_for(stop.wait(), pause_s)

    async def _step(self) -> float:
        """How long to pause: after work, as long as it took, so that others get to write in between; or longer."""
        loop = asyncio.get_running_loop()
        started = loop.time()
        try:
            done = await asyncio.to_thread(self._search.work)
        except StoreUnavailable as error:
            log.error("nothing indexed", reason=error.message)  # noqa: TRY400 - the message says it all
            return AFTER_TROUBLE_S
        except Exception:
            log.exception("indexing made us fail")
            return AFTER_TROUBLE_S
        if not done:
            return LOOK_AGAIN_S
        return (loop.time() - started) * (WHILE_OTHERS_ARE_BUSY if self._is_busy() else 1)
