"""A timeout that does not count time during which this process was suspended."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Final

# The timer runs in steps. A step that ends later than this means that the process was stopped or the machine suspended.
STEP_S: Final = 1.0
SUSPENDED_S: Final = 2.0


@asynccontextmanager
async def timeout_excluding_suspend(seconds: float) -> AsyncIterator[None]:
    """Raise TimeoutError after so many seconds in which this process was running.

    Data that arrived while it was suspended is in the socket's buffer; a plain timeout would discard it.
    """
    loop = asyncio.get_running_loop()
    async with asyncio.timeout(None) as limit:
        timer: asyncio.TimerHandle

        def start_step(left: float) -> None:
            nonlocal timer
            step = min(left, STEP_S)
            due = loop.time() + step
            timer = loop.call_at(due, end_step, due, step, left - step)

        def end_step(due: float, step: float, left: float) -> None:
            late = loop.time() - due
            if late > SUSPENDED_S:
                start_step(step + left)
            elif left > late:
                start_step(left - late)
            else:
                limit.reschedule(loop.time())

        start_step(seconds)
        try:
            yield
        finally:
            timer.cancel()
