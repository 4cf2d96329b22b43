"""A time limit for others. Time in which we ourselves stood still is not theirs."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Final

# How often it is looked whether we still listen, and how late that is when we did not: the process was stopped, or its
# machine asleep.
STEP_S: Final = 1.0
SUSPENDED_S: Final = 2.0


@asynccontextmanager
async def timeout_excluding_suspend(seconds: float) -> AsyncIterator[None]:
    """TimeoutError after so long, not counting when we stood still.

    What came in the meantime lies in our own buffers, and would be thrown away by a limit that is simply over.
    """
    loop = asyncio.get_running_loop()
    async with asyncio.timeout(None) as limit:
        timer: asyncio.TimerHandle

        def listen(left: float) -> None:
            nonlocal timer
            step = min(left, STEP_S)
            due = loop.time() + step
            timer = loop.call_at(due, go_on, due, step, left - step)

        def go_on(due: float, step: float, left: float) -> None:
            late = loop.time() - due
            if late > SUSPENDED_S:
                listen(step + left)
            elif left > late:
                listen(left - late)
            else:
                limit.reschedule(loop.time())

        listen(seconds)
        try:
            yield
        finally:
            timer.cancel()
