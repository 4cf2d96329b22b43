"""The deliverer: takes receivers that something waits for as places get free, and serves them side by side.

claim as many as there are free places ─► serve each, one delivery after another ─► its place is free again

Those that failed lately get a part of the places: however many hang, the others are served.
"""

from __future__ import annotations

import asyncio
import os
import secrets
import socket
from contextlib import suppress

import structlog

from tidings.domain.deliveries import Queue
from tidings.domain.errors import StoreUnavailable
from tidings.services.delivering import Delivering

log = structlog.get_logger()

# Receivers served at the same time: most of the time they are waited for.
PLACES = 64
FAILING_PLACES = 24
# How soon an event that was posted, or a receiver whose time has come, is noticed.
LOOK_AGAIN_S = 0.5
AFTER_TROUBLE_S = 5.0
# How long a stopping deliverer lets tries finish; the supervisor allows four seconds in all.
FINISH_WITHIN_S = 2.5


class Deliverer:
    """places: receivers served at the same time; failing_places: of them, for such as failed lately."""

    def __init__(
        self,
        delivering: Delivering,
        *,
        places: int = PLACES,
        failing_places: int = FAILING_PLACES,
        look_again_s: float = LOOK_AGAIN_S,
    ) -> None:
        self.name = f"{socket.gethostname()}:{os.getpid()}:{secrets.token_hex(4)}"
        self._delivering = delivering
        self._places = places
        self._failing_places = failing_places
        self._look_again_s = look_again_s
        self._running: dict[asyncio.Task[None], Queue] = {}

    async def run(self, stop: asyncio.Event) -> None:
        """Until `stop` is set; then it ends what it can and gives back what it holds."""
        log.info("deliverer started", worker=self.name, places=self._places)
        try:
            while not stop.is_set():
                claimed = await self._claim()
                for queue in claimed or ():
                    self._start(queue)
                await self._wait(stop, claimed)
        finally:
            await self._finish()
        log.info("deliverer stopped", worker=self.name)

    async def _claim(self) -> list[Queue] | None:
        """None when the database does not answer."""
        free = self._places - len(self._running)
        if free < max(1, self._places // 8):
            return []
        failing = self._failing_places - sum(1 for queue in self._running.values() if queue.failures)
        try:
            return await asyncio.to_thread(self._delivering.claim, self.name, limit=free, failing=min(free, failing))
        except StoreUnavailable as error:
            log.error("nothing claimed to deliver", reason=error.message)  # noqa: TRY400 - the message says it all
        except Exception:
            log.exception("claiming deliveries made us fail")
        return None

    def _start(self, queue: Queue) -> None:
        if any(queue.id == running.id for running in self._running.values()):
            # A try took longer than its lease, and nobody else was there: it goes on, and there must not be a second.
            return
        task = asyncio.create_task(self._serve(queue), name=f"receiver {queue.id}")
        self._running[task] = queue
        task.add_done_callback(self._running.pop)

    async def _serve(self, queue: Queue) -> None:
        try:
            await self._delivering.serve(queue, self.name)
        except StoreUnavailable as error:
            # The claim runs out by itself, and the same delivery is tried again.
            log.error("delivery not written down", receiver=queue.id, reason=error.message)  # noqa: TRY400
        except Exception:
            log.exception("delivering made us fail", receiver=queue.id)

    async def _wait(self, stop: asyncio.Event, claimed: list[Queue] | None) -> None:
        """For a place to get free where there is more to do, else for a moment."""
        stopping = asyncio.ensure_future(stop.wait())
        try:
            waiting: set[asyncio.Future[object]] = {stopping, *self._running} if claimed else {stopping}  # type: ignore[arg-type]
            timeout = AFTER_TROUBLE_S if claimed is None else self._look_again_s
            await asyncio.wait(waiting, timeout=timeout, return_when=asyncio.FIRST_COMPLETED)
        finally:
            stopping.cancel()

    async def _finish(self) -> None:
        running = [*self._running]
        if running:
            await asyncio.wait(running, timeout=FINISH_WITHIN_S)
        for task in running:
            task.cancel()
        await asyncio.gather(*running, return_exceptions=True)
        with suppress(StoreUnavailable):
            released = await asyncio.to_thread(self._delivering.release_all, self.name)
            log.debug("receivers given back", receivers=released)
