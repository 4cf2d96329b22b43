"""WebSub beside the poller: asks hubs when something is due, and stores what they pushed, a few at a time."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable

from tidings.services.websub.pushes import Pushes
from tidings.services.websub.subscriptions import WebSub
from tidings.worker import loops

# How soon a push is stored, and a new hub asked.
LOOK_AGAIN_S = 0.5
# How often those are looked for that nobody reads any more.
SWEEP_EVERY_S = 300.0

_EVENTS = {"unavailable": "websub stands still", "crashed": "websub crashed"}

# Whether there was anything to do.
Step = Callable[[], Awaitable[bool]]


class Subscriber:
    def __init__(self, websub: WebSub, pushes: Pushes) -> None:
        self._websub = websub
        self._pushes = pushes
        self._swept_at = float("-inf")

    async def run(self, stop: asyncio.Event) -> None:
        """Until `stop` is set. What hubs push does not wait for hubs that are slow to answer."""
        if not self._websub.is_on:
            await loops.attempt(self._close_down, **_EVENTS)
            return
        asking = asyncio.create_task(self._repeat(self._ask, stop))
        try:
            await self._repeat(self._store, stop)
        finally:
            # What was to be asked is written down: it is asked again, by whoever works then.
            asking.cancel()
            await asyncio.gather(asking, return_exceptions=True)

    async def _repeat(self, step: Step, stop: asyncio.Event) -> None:
        """Pause after work as long as it took, so that others get to write in between."""

        async def timed() -> float:
            loop = asyncio.get_running_loop()
            started = loop.time()
            had_work = await step()
            return min(loop.time() - started, LOOK_AGAIN_S) if had_work else LOOK_AGAIN_S

        await loops.repeat(timed, stop, **_EVENTS)

    async def _store(self) -> bool:
        return await asyncio.to_thread(self._pushes.store_next)

    async def _close_down(self) -> None:
        """Somebody switched it off: what came until then is stored, and polling does the rest."""
        await asyncio.to_thread(self._websub.disable)
        while await self._store():
            pass

    async def _ask(self) -> bool:
        now = asyncio.get_running_loop().time()
        if now - self._swept_at >= SWEEP_EVERY_S:
            self._swept_at = now
            await asyncio.to_thread(self._websub.expire_unused)
        return await self._websub.ask_due() > 0
