"""The poller claims due sources as slots become free, checks them concurrently, and releases its claims at the end.

claim ahead, up to as many again as there are slots ─► wait for a free slot ─► check ─► free the slot
"""

from __future__ import annotations

import asyncio
import threading
from collections import deque
from collections.abc import Callable
from contextlib import suppress

import structlog

from tidings.base.errors import LocalShortage, StoreUnavailable
from tidings.base.shortages import is_shortage
from tidings.domain.polling.shared_sources import SourceLease
from tidings.services.polling.lease import SourceClaims, WakeupEvent
from tidings.worker import loops
from tidings.worker.loops import worker_name

log = structlog.get_logger()

# The longest time until a due source is noticed; a refresh by a user wakes the poller immediately on PostgreSQL.
POLL_INTERVAL_S = 0.25
# Claims are renewed after this fraction of their lease.
RENEW_AFTER = 0.3
# The claim of a check that hangs is not renewed any more after this time.
MAX_CHECK_S = 15 * 60.0
FORGET_HOSTS_INTERVAL_S = 3600.0
# How long nothing is checked after this machine ran out of files, memory or threads.
SHORTAGE_PAUSE_S = 10.0


class Poller:
    """Keeps a number of checks running as long as sources are due."""

    def __init__(
        self,
        claims: SourceClaims,
        wakeup: WakeupEvent,
        *,
        max_concurrent: int,
        name: str = "",
        on_full: Callable[[], None] = lambda: None,
    ) -> None:
        """max_concurrent: number of sources checked at the same time. wakeup: set when a user refreshes feeds.

        on_full: called when more sources are due than this poller may claim.
        """
        self.name = name or worker_name()
        self._claims = claims
        self._wakeup = wakeup
        self._max_concurrent = max_concurrent
        self._queue: deque[SourceLease] = deque()
        # When the lease of each queued source ends, by source id, in the time of the event loop.
        self._lease_ends: dict[int, float] = {}
        # The source id and the start time of each check.
        self._running: dict[asyncio.Task[None], tuple[int, float]] = {}
        # Whether the last claim found sources, and whether it got as many as it asked for.
        self._is_more, self._was_full = True, False
        self._has_work = asyncio.Event()
        self._paused_until = 0.0
        self._on_full = on_full
        self._full_at: float | None = None

    @property
    def is_running(self) -> bool:
        """Whether sources are being checked."""
        return bool(self._running)

    def seconds_since_full(self) -> float:
        """Return the seconds since a claim last returned as many sources as it asked for, or since the first call."""
        now = asyncio.get_running_loop().time()
        if self._full_at is None:
            self._full_at = now
        return now - self._full_at

    @property
    def is_busy(self) -> bool:
        """Whether work in the background should wait: sources wait for a free slot, claimed ones or others that a
        claim had no room for, or many subscribers of one wait for its entries.
        """
        return bool(self._queue) or self._was_full or self._claims.is_storing_parts

    async def run(self, stop: asyncio.Event) -> None:
        """Run until `stop` is set; then finish running checks within a time limit and release the claims."""
        log.info("poller started", worker=self.name, max_concurrent=self._max_concurrent)
        background = (self._renew(), self._forget_hosts(), self._listen(), self._wake_on(stop))
        tasks = [asyncio.create_task(loop) for loop in background]
        try:
            while not stop.is_set():
                self._has_work.clear()
                await self._claim()
                self._start()
                await loops.pause(self._has_work, POLL_INTERVAL_S)
        finally:
            for task in tasks:
                task.cancel()
            self._queue.clear()
            await loops.finish(self._running, lambda: self._claims.release_all(self.name))
        log.info("poller stopped", worker=self.name)

    def _free(self) -> int:
        """Return how many sources may be claimed: half of them to check, half to wait in the queue."""
        return 2 * self._max_concurrent - len(self._running) - len(self._queue)

    async def _claim(self) -> None:
        if not self._should_claim():
            return
        claimed_at, limit = asyncio.get_running_loop().time(), self._free()
        try:
            claimed = await asyncio.to_thread(self._claims.claim, self.name, limit, is_more=self._was_full)
        except StoreUnavailable as error:
            log.error("nothing claimed", reason=error.message)  # noqa: TRY400 - the message says it all
            claimed = []
        except Exception as error:
            if not is_shortage(error):
                raise
            self._pause(error)
            claimed = []
        self._queue.extend(claimed)
        self._set_lease_ends(claimed_at, [lease.source_id for lease in claimed])
        self._is_more, self._was_full = bool(claimed), len(claimed) == limit
        if self._was_full:
            self._full_at = asyncio.get_running_loop().time()
            self._on_full()

    def _should_claim(self) -> bool:
        """Whether enough slots are free: a claim is a transaction, and one for each slot would be too many."""
        return self._free() >= self._max_concurrent and not self._is_paused()

    def _is_paused(self) -> bool:
        return asyncio.get_running_loop().time() < self._paused_until

    def _pause(self, error: Exception) -> None:
        """Start and claim nothing for a while: this machine lacks a resource that every check needs."""
        if not self._is_paused():
            log.warning("polling paused", for_s=SHORTAGE_PAUSE_S, reason=str(error.__cause__ or error))
        self._paused_until = asyncio.get_running_loop().time() + SHORTAGE_PAUSE_S

    def _start(self) -> None:
        if self._is_paused():
            return
        while self._queue and len(self._running) < self._max_concurrent:
            lease = self._queue.popleft()
            now = asyncio.get_running_loop().time()
            if self._lease_ends.pop(lease.source_id, 0.0) < now:
                # This process was suspended, and another worker may have claimed the source.
                continue
            task = asyncio.create_task(self._check(lease), name=f"source {lease.source_id}")
            self._running[task] = lease.source_id, now
            task.add_done_callback(self._on_done)

    def _on_done(self, task: asyncio.Task[None]) -> None:
        self._running.pop(task, None)
        if task.cancelled():
            return
        self._start()
        if self._is_more and self._should_claim():
            self._has_work.set()

    async def _check(self, lease: SourceLease) -> None:
        try:
            await self._claims.check(lease)
        except StoreUnavailable as error:
            # The lease expires, and the source is claimed again.
            log.error("check not stored", source=lease.source_id, reason=error.message)  # noqa: TRY400
        except LocalShortage as error:
            # Neither the feed nor the network is to blame: the lease expires, and the source is checked again.
            self._pause(error)
        except Exception as error:
            if is_shortage(error):
                self._pause(error)
            else:
                log.exception("source check crashed", source=lease.source_id)

    async def _listen(self) -> None:
        while True:
            await self._wakeup.wait()
            self._has_work.set()

    async def _wake_on(self, stop: asyncio.Event) -> None:
        await stop.wait()
        self._has_work.set()

    async def _renew(self) -> None:
        """Renew the leases of queued sources and of running checks, except checks that hang."""
        loop = asyncio.get_running_loop()
        while True:
            await asyncio.sleep(RENEW_AFTER * self._claims.lease_s)
            hung_before = loop.time() - MAX_CHECK_S
            running = [source_id for source_id, started_at in self._running.values() if started_at > hung_before]
            running += [lease.source_id for lease in self._queue]
            if not running:
                continue
            renewed_at = loop.time()
            try:
                renewed = await asyncio.to_thread(self._claims.renew, self.name, running)
            except StoreUnavailable:
                continue
            except Exception:
                # Continue: without renewals other workers would claim the sources that are being checked.
                log.exception("claims not renewed")
                continue
            self._set_lease_ends(renewed_at, [lease.source_id for lease in self._queue if lease.source_id in renewed])

    def _set_lease_ends(self, since: float, source_ids: list[int]) -> None:
        until = since + self._claims.lease_s
        self._lease_ends |= dict.fromkeys(source_ids, until)

    async def _forget_hosts(self) -> None:
        while True:
            await asyncio.sleep(FORGET_HOSTS_INTERVAL_S)
            with suppress(StoreUnavailable):
                await asyncio.to_thread(self._claims.forget_hosts)


# Starting a worker again takes a moment in which the others are alone, so it stays for the next round of checks.
IDLE_S = 300.0
IDLE_CHECK_INTERVAL_S = 1.0


async def end_when_idle(
    poller: Poller, is_delivering: Callable[[], bool], stop: threading.Event, stopping: asyncio.Event
) -> None:
    """Set `stop` when no claim was full for IDLE_S and nothing is running, so that no delivery is cut off."""
    while not stopping.is_set():
        await loops.pause(stopping, IDLE_CHECK_INTERVAL_S)
        is_resting = not poller.is_running and not is_delivering()
        if is_resting and poller.seconds_since_full() > IDLE_S:
            log.info("worker ends until there is more to do", worker=poller.name)
            stop.set()
            return
