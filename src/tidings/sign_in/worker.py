"""Measures the articles of accounts whose size is limited, one account at a time."""

from __future__ import annotations

import asyncio

from tidings.sign_in.limits import AccountLimiter
from tidings.worker import loops

# Pause without work.
POLL_INTERVAL_S = 60.0
# Pause after an account, in times that it took, so that others can read.
PAUSE_FACTOR = 4


class SizeMeter(loops.Loop):
    """Takes an account at a time."""

    def __init__(self, limiter: AccountLimiter) -> None:
        self._limiter = limiter

    async def run(self, stop: asyncio.Event) -> None:
        """Run until `stop` is set; the current account is finished."""
        unavailable, crashed = "no accounts measured", "measuring accounts crashed"
        await loops.repeat(self._step, stop, unavailable=unavailable, crashed=crashed)

    async def _step(self) -> float:
        loop = asyncio.get_running_loop()
        started = loop.time()
        if not await asyncio.to_thread(self._limiter.measure_next):
            return POLL_INTERVAL_S
        return (loop.time() - started) * PAUSE_FACTOR
