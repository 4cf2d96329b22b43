"""Ends a worker that was started because there was much to do, and has not been needed for a while."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable

import structlog

from tidings.worker import loops
from tidings.worker.poller import Poller

log = structlog.get_logger()

# Starting a worker again takes a moment in which the others are alone, so it stays for the next round of checks.
IDLE_S = 300.0
CHECK_INTERVAL_S = 1.0


async def end_when_idle(
    poller: Poller, is_delivering: Callable[[], bool], stop: threading.Event, stopping: asyncio.Event
) -> None:
    """Set `stop` when no claim was full for IDLE_S and nothing is running, so that no delivery is cut off."""
    while not stopping.is_set():
        await loops.pause(stopping, CHECK_INTERVAL_S)
        is_resting = not poller.is_running and not is_delivering()
        if is_resting and poller.seconds_since_full() > IDLE_S:
            log.info("worker ends until there is more to do", worker=poller.name)
            stop.set()
            return
