"""What the loops of a worker share: pausing, continuing after an error, and stopping."""

from __future__ import annotations

import asyncio
import os
import secrets
import socket
from collections.abc import Awaitable, Callable, Collection
from contextlib import suppress
from typing import TypeVar

import structlog

from tidings.base.errors import StoreUnavailable

T = TypeVar("T")

log = structlog.get_logger()

RETRY_AFTER_ERROR_S = 5.0
# How long a stopping worker lets running tasks finish; the supervisor allows four seconds in all.
SHUTDOWN_TIMEOUT_S = 2.5
# How many times longer the pause after work in the background is while the poller is busy.
BUSY_PAUSE_FACTOR = 20


class Loop:
    """Base of the background loops of a worker."""

    @property
    def is_running(self) -> bool:
        """Whether it is doing something that a worker on demand finishes before it ends."""
        return False

    async def run(self, stop: asyncio.Event) -> None:
        """Run until `stop` is set."""
        raise NotImplementedError


def pause_after(work_s: float, *, is_busy: bool) -> float:
    """Return the pause in seconds after work in the background: at least as long, so that others can write.

    is_busy: whether sources wait to be checked, or subscribers for their entries.
    """
    return work_s * (BUSY_PAUSE_FACTOR if is_busy else 1)


async def pause(event: asyncio.Event, seconds: float) -> None:
    """Wait for `seconds`, or until the event is set."""
    with suppress(TimeoutError):
        await asyncio.wait_for(event.wait(), seconds)


async def repeat(step: Callable[[], Awaitable[float]], stop: asyncio.Event, *, unavailable: str, crashed: str) -> None:
    """Run a step again and again until `stop` is set; the current step is finished.

    step: returns the pause after it in seconds. unavailable, crashed: log events of `attempt`.
    """
    while not stop.is_set():
        pause_s = await attempt(step, unavailable=unavailable, crashed=crashed)
        await pause(stop, RETRY_AFTER_ERROR_S if pause_s is None else pause_s)


async def attempt(step: Callable[[], Awaitable[T]], *, unavailable: str, crashed: str) -> T | None:
    """Run a step once and return its result; after an error, log it and return None.

    unavailable: the log event if the database does not answer. crashed: the log event of any other error.
    """
    try:
        return await step()
    except StoreUnavailable as error:
        log.error(unavailable, reason=error.message)  # noqa: TRY400 - the message says it all
    except Exception:
        log.exception(crashed)
    return None


async def finish(running: Collection[asyncio.Task[None]], release: Callable[[], int]) -> None:
    """Let tasks finish for SHUTDOWN_TIMEOUT_S, cancel the others, and release the leases of the worker.

    release: releases them and returns their number; if the database does not answer, they expire.
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


def worker_name() -> str:
    """Return a name that no other worker has or had. Process ids alone repeat, as in each new container."""
    return f"{socket.gethostname()}:{os.getpid()}:{secrets.token_hex(4)}"
