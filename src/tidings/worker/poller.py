"""The poller: takes due sources as places get free, checks them side by side, and stops without leaving claims behind.

claim ahead, as many as there are places ─► a place gets free ─► check ─► its place is free again
"""

from __future__ import annotations

import asyncio
from collections import deque
from contextlib import suppress

import structlog

from tidings.domain.errors import StoreUnavailable
from tidings.domain.polling.sources import SourceLease
from tidings.services.polling.claims import Polling
from tidings.services.wakeup import WakeupEvent
from tidings.worker import loops
from tidings.worker.names import worker_name

log = structlog.get_logger()

# How soon it looks for what became due; of what a user asks for it is told at once where the database can tell.
LOOK_AGAIN_S = 0.25
# Claims are renewed when this part of their lease is over, but those of a check that hangs only for so long.
RENEW_AFTER = 0.3
LONGEST_CHECK_S = 15 * 60.0
FORGET_HOSTS_S = 3600.0


class Poller:
    """places: sources fetched at the same time. bell: wakes it when a user wants something refreshed."""

    def __init__(self, polling: Polling, bell: WakeupEvent, *, places: int, name: str = "") -> None:
        self.name = name or worker_name()
        self._polling = polling
        self._bell = bell
        self._places = places
        self._queue: deque[SourceLease] = deque()
        # By source: until when nobody else may have it, as far as we know.
        self._ours_until: dict[int, float] = {}
        self._running: dict[asyncio.Task[None], tuple[int, float]] = {}
        # Of the last claim: whether it found anything, and whether as much as it could take.
        self._is_more, self._was_full = True, False
        self._stir = asyncio.Event()

    @property
    def is_busy(self) -> bool:
        """Whether sources wait for a place."""
        return bool(self._queue)

    async def run(self, stop: asyncio.Event) -> None:
        """Until `stop` is set; then it ends what it can and gives back what it holds."""
        log.info("poller started", worker=self.name, places=self._places)
        beside = (self._renew(), self._forget_hosts(), self._listen(), self._stir_when(stop))
        tasks = [asyncio.create_task(one) for one in beside]
        try:
            while not stop.is_set():
                self._stir.clear()
                await self._claim()
                self._start()
                await loops.pause(self._stir, LOOK_AGAIN_S)
        finally:
            for task in tasks:
                task.cancel()
            self._queue.clear()
            await loops.finish(self._running, lambda: self._polling.release_all(self.name))
        log.info("poller stopped", worker=self.name)

    def _room(self) -> int:
        return 2 * self._places - len(self._running) - len(self._queue)

    async def _claim(self) -> None:
        if not self._has_room():
            return
        asked_at, room = asyncio.get_running_loop().time(), self._room()
        try:
            claimed = await asyncio.to_thread(self._polling.claim, self.name, room, is_more=self._was_full)
        except StoreUnavailable as error:
            log.error("nothing claimed", reason=error.message)  # noqa: TRY400 - the message says it all
            claimed = []
        self._queue.extend(claimed)
        self._hold(asked_at, [claim.source_id for claim in claimed])
        self._is_more, self._was_full = bool(claimed), len(claimed) == room

    def _has_room(self) -> bool:
        """A claim is a transaction: not one for each place that gets free while others are still busy."""
        return self._room() >= self._places

    def _start(self) -> None:
        while self._queue and len(self._running) < self._places:
            claim = self._queue.popleft()
            now = asyncio.get_running_loop().time()
            if self._ours_until.pop(claim.source_id, 0.0) < now:
                # We were stopped for so long that somebody else may have it by now.
                continue
            task = asyncio.create_task(self._check(claim), name=f"source {claim.source_id}")
            self._running[task] = claim.source_id, now
            task.add_done_callback(self._ended)

    def _ended(self, task: asyncio.Task[None]) -> None:
        self._running.pop(task, None)
        if task.cancelled():
            return
        self._start()
        if self._is_more and self._has_room():
            self._stir.set()

    async def _check(self, claim: SourceLease) -> None:
        try:
            await self._polling.check(claim)
        except StoreUnavailable as error:
            # The claim runs out by itself, and the source is taken again.
            log.error("check not stored", source=claim.source_id, reason=error.message)  # noqa: TRY400
        except Exception:
            log.exception("source check crashed", source=claim.source_id)

    async def _listen(self) -> None:
        while True:
            await self._bell.wait()
            self._stir.set()

    async def _stir_when(self, stop: asyncio.Event) -> None:
        await stop.wait()
        self._stir.set()

    async def _renew(self) -> None:
        """Hold on to what takes longer than a claim was made for; not to a check that hangs."""
        loop = asyncio.get_running_loop()
        while True:
            await asyncio.sleep(RENEW_AFTER * self._polling.lease_s)
            latest = loop.time() - LONGEST_CHECK_S
            held = [source for source, since in self._running.values() if since > latest]
            held += [claim.source_id for claim in self._queue]
            if not held:
                continue
            asked_at = loop.time()
            try:
                kept = await asyncio.to_thread(self._polling.renew, self.name, held)
            except StoreUnavailable:
                continue
            except Exception:
                # Once more in a while: without renewals others would take what we are at.
                log.exception("claims not renewed")
                continue
            self._hold(asked_at, [claim.source_id for claim in self._queue if claim.source_id in kept])

    def _hold(self, since: float, source_ids: list[int]) -> None:
        until = since + self._polling.lease_s
        self._ours_until |= dict.fromkeys(source_ids, until)

    async def _forget_hosts(self) -> None:
        while True:
            await asyncio.sleep(FORGET_HOSTS_S)
            with suppress(StoreUnavailable):
                await asyncio.to_thread(self._polling.forget_hosts)
