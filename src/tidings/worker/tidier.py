"""The tidier: removes what is old, beside poller and indexer, with pauses as long as its steps.

Of all workers one tidies at a time; the others look now and then whether it is their turn.
"""

from __future__ import annotations

import asyncio
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import suppress

import structlog

from tidings.domain.errors import StoreUnavailable
from tidings.services.tidying import Step, Tidying

log = structlog.get_logger()

LOOK_AGAIN_S = 30.0
# The lease is renewed after this time; it lasts four times as long.
RENEW_AFTER_S = 15.0
# Even a step that took no time leaves the others a moment.
SHORTEST_PAUSE_S = 0.002


class Tidier:
    """name: of this worker, as its claims carry it."""

    def __init__(self, tidying: Tidying, name: str) -> None:
        self._tidying = tidying
        self._name = name

    async def run(self, stop: asyncio.Event) -> None:
        """Until `stop` is set; the step at hand is finished, and the round given back."""
        while not stop.is_set():
            try:
                if await asyncio.to_thread(self._tidying.begin, self._name):
                    await self._round(stop)
            except StoreUnavailable as error:
                # The lease runs out, and the next round goes on from here.
                log.error("not tidied", reason=error.message)  # noqa: TRY400 - the message says it all
            except Exception:
                log.exception("tidying made us fail")
            with suppress(TimeoutError):
                await asyncio.wait_for(stop.wait(), LOOK_AGAIN_S)

    async def _round(self, stop: asyncio.Event) -> None:
        removed: Counter[str] = Counter()
        steps = self._tidying.steps()
        loop = asyncio.get_running_loop()
        started = renewed = loop.time()
        while (step := await asyncio.to_thread(_next, steps)) is not None:
            removed[step.what] += step.count
            if stop.is_set():
                await asyncio.to_thread(self._tidying.give_back, self._name)
                return
            if loop.time() - renewed > RENEW_AFTER_S:
                renewed = loop.time()
                if not await asyncio.to_thread(self._tidying.keep, self._name):
                    log.warning("tidying taken over by another worker")
                    return
            with suppress(TimeoutError):
                await asyncio.wait_for(stop.wait(), max(step.took_s, SHORTEST_PAUSE_S))
        await asyncio.to_thread(self._tidying.finish, self._name, removed["entries"])
        log.info("tidied", **removed, took_ms=int((loop.time() - started) * 1000))


def tidy_now(tidying: Tidying, name: str, progress: Callable[[int, int], None]) -> Counter[str] | None:
    """A whole round without pauses, due or not. None when a worker is at it just now.

    progress: called with how many rows are gone, and how many there are to go as far as is known.
    """
    if not tidying.begin(name, due_or_not=True):
        return None
    removed: Counter[str] = Counter()
    try:
        renewed = time.monotonic()
        for step in tidying.steps(everything=True):
            removed[step.what] += step.count
            progress(removed.total(), removed.total())
            if time.monotonic() - renewed > RENEW_AFTER_S:
                renewed = time.monotonic()
                tidying.keep(name)
    except BaseException:
        tidying.give_back(name)
        raise
    tidying.finish(name, 0)
    return removed


def _next(steps: Iterator[Step]) -> Step | None:
    return next(steps, None)
