"""The cleanup worker removes old rows in short steps, with pauses as long as the steps.

A lease ensures that one worker at a time runs the cleanup; the others check regularly whether it is due.
"""

from __future__ import annotations

import asyncio
import time
from collections import Counter
from collections.abc import Callable, Iterator

import structlog

from tidings.maintenance.cleanup import Cleanup, CleanupStep
from tidings.worker import loops
from tidings.worker.loops import Loop

log = structlog.get_logger()

POLL_INTERVAL_S = 30.0
# The lease is renewed after this time; it lasts four times as long.
RENEW_AFTER_S = 15.0
# Pause after a step that took less time than this.
MIN_PAUSE_S = 0.002


class CleanupWorker(Loop):
    """The worker that runs the cleanup.

    name: the worker's name, under which it holds the lease.
    """

    def __init__(self, cleanup: Cleanup, name: str) -> None:
        self._cleanup = cleanup
        self._name = name

    async def run(self, stop: asyncio.Event) -> None:
        """Run until `stop` is set; the current step is finished, and the lease released."""
        while not stop.is_set():
            # After an error the lease expires, and the next run continues from there.
            await loops.attempt(lambda: self._run_if_due(stop), unavailable="cleanup failed", crashed="cleanup crashed")
            await loops.pause(stop, POLL_INTERVAL_S)

    async def _run_if_due(self, stop: asyncio.Event) -> None:
        if not await asyncio.to_thread(self._cleanup.begin, self._name):
            return
        removed: Counter[str] = Counter()
        steps = self._cleanup.steps()
        loop = asyncio.get_running_loop()
        started = renewed = loop.time()
        while (step := await asyncio.to_thread(_next, steps)) is not None:
            removed[step.what] += step.count
            if stop.is_set():
                await asyncio.to_thread(self._cleanup.release, self._name)
                return
            if loop.time() - renewed > RENEW_AFTER_S:
                renewed = loop.time()
                if not await asyncio.to_thread(self._cleanup.renew, self._name):
                    log.warning("cleanup claimed by another worker")
                    return
            await loops.pause(stop, max(step.took_s, MIN_PAUSE_S))
        await asyncio.to_thread(self._cleanup.finish, self._name, removed["entries"])
        log.info("cleanup finished", **removed, took_ms=int((loop.time() - started) * 1000))


def run_cleanup(cleanup: Cleanup, name: str, progress: Callable[[int, int], None]) -> Counter[str] | None:
    """Run the whole cleanup without pauses, due or not.

    Returns the numbers of rows removed by kind, or None if a worker is running the cleanup.
    progress: called after each step with the number of rows removed, as both arguments: the total is unknown.
    """
    if not cleanup.begin(name, ignore_schedule=True):
        return None
    removed: Counter[str] = Counter()
    try:
        renewed = time.monotonic()
        for step in cleanup.steps(unlimited=True):
            removed[step.what] += step.count
            progress(removed.total(), removed.total())
            if time.monotonic() - renewed > RENEW_AFTER_S:
                renewed = time.monotonic()
                cleanup.renew(name)
    except BaseException:
        cleanup.release(name)
        raise
    cleanup.finish(name, 0)
    return removed


def _next(steps: Iterator[CleanupStep]) -> CleanupStep | None:
    return next(steps, None)
