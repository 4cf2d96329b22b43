"""How the loops of a worker pause, go on after an error, and end."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Collection
from contextlib import suppress
from typing import TypeVar

import structlog

from tidings.domain.errors import StoreUnavailable

T = TypeVar("T")

log = structlog.get_logger()

RETRY_AFTER_ERROR_S = 5.0
# How long a stopping worker lets running tasks finish; the supervisor allows four seconds in all.
SHUTDOWN_TIMEOUT_S = 2.5


async def pause(event: asyncio.Event, seconds: float) -> None:
    """Wait for that long, or until the event is set."""
    with suppress(TimeoutError):
        await asyncio.wait_for(event.wait(), seconds)


async def repeat(step: Callable[[], Awaitable[float]], stop: asyncio.Event, *, unavailable: str, crashed: str) -> None:
    """Run a step until `stop` is set; the step at hand is finished.

    step: returns how many seconds to pause. unavailable, crashed: log events of `attempt`.
    """
    while not stop.is_set():
        pause_s = await attempt(step, unavailable=unavailable, crashed=crashed)
        await pause(stop, RETRY_AFTER_ERROR_S if pause_s is None else pause_s)


async def attempt(step: Callable[[], Awaitable[T]], *, unavailable: str, crashed: str) -> T | None:
    """Run a step once and return its result; an error is logged, and None returned.

    unavailable: the log event when the database does not answer. crashed: the one of any other error.
    """
    try:
        return await step()
    except StoreUnavailable as error:
        log.error(unavailable, reason=error.message)  # noqa: TRY400 - the message says it all
    except Exception:
        log.exception(crashed)
    return None


async def finish(running: Collection[asyncio.Task[None]], release: Callable[[], int]) -> None:
    """Let tasks finish for SHUTDOWN_TIMEOUT_S, cancel the others, and give back the leases of the worker.

    release: gives them back in the database and returns how many; if it does not answer, they expire.
    """
    tasks = [*running]
    if tasks:
        await asyncio.wait(tasks, timeout=SHUTDOWN_TIMEOUT_S)
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)
    with suppress(StoreUnavailable):
        released = await asyncio.to_thread(release)
        log.debug("leases released", count=released)
