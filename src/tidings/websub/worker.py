"""The WebSub loops: send due requests to hubs, and store the documents that hubs pushed."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable

from tidings.websub.pushes import Pushes
from tidings.websub.subscriptions import WebSub
from tidings.worker import loops
from tidings.worker.loops import Loop

# Maximum time until a push is stored, or a due request is sent.
POLL_INTERVAL_S = 0.5
# Time between two searches for subscriptions that no feed uses.
EXPIRE_INTERVAL_S = 300.0

_EVENTS = {"unavailable": "websub waits for the database", "crashed": "websub crashed"}

# Returns whether there was work.
Step = Callable[[], Awaitable[bool]]


class Subscriber(Loop):
    def __init__(self, websub: WebSub, pushes: Pushes) -> None:
        self._websub = websub
        self._pushes = pushes
        self._expired_at = float("-inf")

    async def run(self, stop: asyncio.Event) -> None:
        """Run until `stop` is set. Two loops, so that pushes do not wait for hubs that are slow to answer."""
        if not self._websub.is_on:
            await loops.attempt(self._disable, **_EVENTS)
            return
        requests = asyncio.create_task(self._repeat(self._send_requests, stop))
        try:
            await self._repeat(self._store, stop)
        finally:
            # Requests are stored before they are sent, so any worker can send an interrupted one again.
            requests.cancel()
            await asyncio.gather(requests, return_exceptions=True)

    async def _repeat(self, step: Step, stop: asyncio.Event) -> None:
        """Run a step until `stop` is set; pause as long as it took, so that others can write in between."""

        async def timed() -> float:
            loop = asyncio.get_running_loop()
            started = loop.time()
            had_work = await step()
            return min(loop.time() - started, POLL_INTERVAL_S) if had_work else POLL_INTERVAL_S

        await loops.repeat(timed, stop, **_EVENTS)

    async def _store(self) -> bool:
        return await asyncio.to_thread(self._pushes.store_next)

    async def _disable(self) -> None:
        """Move all feeds back to polling and store the pushes received before: the operator switched WebSub off."""
        await asyncio.to_thread(self._websub.disable)
        while await self._store():
            pass

    async def _send_requests(self) -> bool:
        now = asyncio.get_running_loop().time()
        if now - self._expired_at >= EXPIRE_INTERVAL_S:
            self._expired_at = now
            await asyncio.to_thread(self._websub.expire_unused)
        return await self._websub.send_due_requests() > 0
