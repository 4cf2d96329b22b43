"""The deliverer claims receivers with waiting deliveries as slots become free, and serves them concurrently.

claim as many as there are free slots ─► serve each, one delivery after another ─► free the slot

Receivers whose last attempt failed may use only some of the slots, so that hanging ones do not delay the others.
"""

from __future__ import annotations

import asyncio

import structlog

from tidings.base.errors import LocalShortage, StoreUnavailable
from tidings.deliveries.events import ReceiverQueue
from tidings.deliveries.queue import DeliveryQueue
from tidings.worker import loops
from tidings.worker.loops import Loop, worker_name

log = structlog.get_logger()

# Receivers served at the same time. There may be many: a delivery spends most of its time waiting for the receiver.
MAX_CONCURRENT = 64
MAX_CONCURRENT_FAILING = 24
# Maximum time until a new event or a due receiver is noticed.
POLL_INTERVAL_S = 0.5


class Deliverer(Loop):
    """The worker that delivers events to their receivers.

    max_concurrent: receivers served at the same time.
    max_concurrent_failing: how many of these may be receivers whose last attempt failed.
    """

    def __init__(
        self,
        delivery_queue: DeliveryQueue,
        *,
        max_concurrent: int = MAX_CONCURRENT,
        max_concurrent_failing: int = MAX_CONCURRENT_FAILING,
        poll_interval_s: float = POLL_INTERVAL_S,
        name: str = "",
    ) -> None:
        self.name = name or worker_name()
        self._delivery_queue = delivery_queue
        self._max_concurrent = max_concurrent
        self._max_concurrent_failing = max_concurrent_failing
        self._poll_interval_s = poll_interval_s
        self._running: dict[asyncio.Task[None], ReceiverQueue] = {}
        # Claimed while this worker still served them, see _start.
        self._claimed_again: list[ReceiverQueue] = []

    @property
    def is_running(self) -> bool:
        """Whether deliveries are being sent."""
        return bool(self._running)

    async def run(self, stop: asyncio.Event) -> None:
        """Run until `stop` is set; then finish running deliveries within a time limit and release the claims."""
        log.info("deliverer started", worker=self.name, max_concurrent=self._max_concurrent)
        try:
            while not stop.is_set():
                claimed = await self._claim()
                self._claimed_again = [
                    queue for queue in (*self._claimed_again, *(claimed or ())) if not self._start(queue)
                ]
                await self._wait(stop, claimed)
        finally:
            await loops.finish(self._running, lambda: self._delivery_queue.release_all(self.name))
        log.info("deliverer stopped", worker=self.name)

    async def _claim(self) -> list[ReceiverQueue] | None:
        """Return the receivers claimed, or None if the database does not answer."""
        free = self._max_concurrent - len(self._running)
        if free < max(1, self._max_concurrent // 8):
            return []
        failing = self._max_concurrent_failing - sum(1 for queue in self._running.values() if queue.failures)
        return await loops.attempt(
            lambda: asyncio.to_thread(
                self._delivery_queue.claim, self.name, limit=free, max_failing=min(free, failing)
            ),
            unavailable="nothing claimed to deliver",
            crashed="claiming deliveries crashed",
        )

    def _start(self, queue: ReceiverQueue) -> bool:
        """Begin to serve a receiver that was claimed. Returns False if it is still being served."""
        if any(queue.id == running.id for running in self._running.values()):
            # The attempt outlasted its lease, or its result has just released the receiver: this claim's turn comes
            # when the task has ended. Forgotten, it would keep every worker from the receiver until it expires.
            return False
        task = asyncio.create_task(self._serve(queue), name=f"receiver {queue.id}")
        self._running[task] = queue
        task.add_done_callback(self._running.pop)
        return True

    async def _serve(self, queue: ReceiverQueue) -> None:
        try:
            await self._delivery_queue.serve(queue, self.name)
        except (StoreUnavailable, LocalShortage) as error:
            # The claim expires, and the delivery is attempted again.
            log.error("delivery not stored", receiver=queue.id, reason=error.message)  # noqa: TRY400
        except Exception:
            log.exception("delivering crashed", receiver=queue.id)

    async def _wait(self, stop: asyncio.Event, claimed: list[ReceiverQueue] | None) -> None:
        """Wait until a slot is free if receivers were claimed, and at most for the poll interval."""
        stopping = asyncio.ensure_future(stop.wait())
        try:
            waiting: set[asyncio.Future[object]] = {stopping, *self._running} if claimed else {stopping}  # type: ignore[arg-type]
            timeout = loops.RETRY_AFTER_ERROR_S if claimed is None else self._poll_interval_s
            await asyncio.wait(waiting, timeout=timeout, return_when=asyncio.FIRST_COMPLETED)
        finally:
            stopping.cancel()
