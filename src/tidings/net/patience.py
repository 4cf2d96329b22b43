"""A time limit for others. Time in which we ourselves stood still is not theirs."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Final

# Whose limit is seen to be over so much later was not listening: the process was stopped, or its machine asleep.
STOOD_STILL_S: Final = 2.0


@asynccontextmanager
async def at_most(seconds: float) -> AsyncIterator[None]:
    """TimeoutError after so long; where we stood still meanwhile, so long after we went on.

    What came in the meantime lies in our own buffers, and would be thrown away by a limit that is simply over.
    """
    loop = asyncio.get_running_loop()
    async with asyncio.timeout(None) as limit:
        timer: asyncio.TimerHandle

        def begin() -> None:
            nonlocal timer
            due = loop.time() + seconds
            timer = loop.call_at(due, end, due)

        def end(due: float) -> None:
            now = loop.time()
            if now - due > STOOD_STILL_S:
                begin()
            else:
                limit.reschedule(now)

        begin()
        try:
            yield
        finally:
            timer.cancel()
