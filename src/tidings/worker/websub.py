"""WebSub beside the poller: asks hubs when something is due, and stores what they pushed, a few at a time."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import suppress

import structlog

from tidings.domain.errors import StoreUnavailable
from tidings.services.pushes import Pushes
from tidings.services.websub import WebSub

log = structlog.get_logger()

# How soon a push is stored, and a new hub asked.
LOOK_AGAIN_S = 0.5
AFTER_TROUBLE_S = 5.0
# How often those are looked for that nobody reads any more.
SWEEP_EVERY_S = 300.0

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
            await self._try(self._close_down)
            return
        asking = asyncio.create_task(self._repeat(self._ask, stop))
        try:
            await self._repeat(self._store, stop)
        finally:
            # What was to be asked is written down: it is asked again, by whoever works then.
            asking.cancel()
            await asyncio.gather(asking, return_exceptions=True)

    async def _repeat(self, step: Step, stop: asyncio.Event) -> None:
        while not stop.is_set():
            pause_s = await self._try(step)
            with suppress(TimeoutError):
                await asyncio.wait_for(stop.wait(), pause_s)

    async def _try(self, step: Step) -> float:
        """How long to pause: after work, as long as it took, so that others get to write in between."""
        loop = asyncio.get_running_loop()
        started = loop.time()
        try:
            had_work = await step()
        except StoreUnavailable as error:
            log.error("websub stands still", reason=error.message)  # noqa: TRY400 - the message says it all
            return AFTER_TROUBLE_S
        except Exception:
            log.exception("websub made us fail")
            return AFTER_TROUBLE_S
        return min(loop.time() - started, LOOK_AGAIN_S) if had_work else LOOK_AGAIN_S

    async def _store(self) -> bool:
        return await asyncio.to_thread(self._pushes.store_next)

    async def _close_down(self) -> bool:
        """Somebody switched it off: what came until then is stored, and polling does the rest."""
        await asyncio.to_thread(self._websub.stand_down)
        while await self._store():
            pass
        return False

    async def _ask(self) -> bool:
        now = asyncio.get_running_loop().time()
        if now - self._swept_at >= SWEEP_EVERY_S:
            self._swept_at = now
            await asyncio.to_thread(self._websub.sweep)
        return await self._websub.ask_due() > 0
