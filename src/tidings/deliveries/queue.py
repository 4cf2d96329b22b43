"""Delivers events from the outbox, in order for each receiver, until they are delivered or given up.

outbox ─► enqueue ─► claim a receiver ─► attempt its first delivery ─┬─ delivered, refused ─► the next delivery
                                                                     ├─ fails alone ─► steps aside; the next delivery
                                                                     ├─ unreachable ─► release the receiver, wait
                                                                     └─ not for a day ─► failed; the next delivery
"""

from __future__ import annotations

import asyncio
import random
import time
from collections.abc import Callable
from contextlib import suppress
from datetime import timedelta

import structlog

from tidings import metrics
from tidings.base.errors import StoreUnavailable
from tidings.base.times import SECOND, Instant
from tidings.deliveries.attempts import DeliveryOutcome, EventSender
from tidings.deliveries.events import Event
from tidings.deliveries.model import (
    FINISHED_RETENTION,
    QUEUE_OVERFLOWED,
    DeliveryState,
    FailureKind,
    QueueLimits,
    ReceiverQueue,
)
from tidings.deliveries.registry import REGISTRY
from tidings.deliveries.results import Attempt, AttemptResult, DeliveryJob, ResultWriter, log_given_up
from tidings.deliveries.retries import RetryPolicy
from tidings.deliveries.store import outbox, queues
from tidings.engine.database import Database, Write
from tidings.services.clock import Clock

log = structlog.get_logger()

# A claim lasts longer than one attempt and the write after it; each attempt renews it.
RECEIVER_LEASE = timedelta(seconds=30)
# A receiver with many deliveries is released after this time, so that other receivers are served.
MAX_SERVE_S = 5.0
# Maximum number of batches that one claim moves into queues before it claims; other writers run between batches.
MAX_ENQUEUE_ROUNDS = 20


class DeliveryQueue:
    """Hands out due deliveries to workers, in order for each receiver.

    retry_policy: when to attempt again. limits: the maximum size of a receiver's queue.
    random_fraction: returns 0 to 1.
    """

    def __init__(
        self,
        database: Database,
        event_sender: EventSender,
        clock: Clock,
        *,
        retry_policy: RetryPolicy | None = None,
        limits: QueueLimits | None = None,
        lease: timedelta = RECEIVER_LEASE,
        random_fraction: Callable[[], float] = random.random,
    ) -> None:
        self._database = database
        self._event_sender = event_sender
        self._clock = clock
        self._limits = limits or QueueLimits()
        self._renew_after_s = lease.total_seconds() / 3
        self._results = ResultWriter(
            database, clock, retry_policy=retry_policy or RetryPolicy(), lease=lease, random_fraction=random_fraction
        )

    async def close(self) -> None:
        """Close connections. Call it inside the event loop that delivered."""
        await self._event_sender.close()

    def claim(self, worker: str, *, limit: int, max_failing: int) -> list[ReceiverQueue]:
        """Claim up to `limit` due receivers for the worker and return them.

        max_failing: maximum number of receivers whose last attempt failed.
        """
        now = self._clock()
        with self._database.reading() as db:
            if not queues.has_work(db, now):
                return []
        for _ in range(MAX_ENQUEUE_ROUNDS):
            with self._database.writing() as db:
                enqueued = queues.enqueue(db, now=now, limits=self._limits)
            for (user_id, integration), count in enqueued.dropped.items():
                log_given_up(user_id, integration, count, QUEUE_OVERFLOWED, reason="overflow")
            self._enforce_user_limits(enqueued.users, now)
            if enqueued.count < queues.ENQUEUE_BATCH:
                break
        with self._database.writing() as db:
            until = self._results.lease_end(now)
            return queues.claim(db, worker, now=now, until=until, limit=limit, max_failing=max_failing)

    def _enforce_user_limits(self, user_ids: frozenset[int], now: Instant) -> None:
        with self._database.reading() as db:
            over = queues.users_over_limits(db, user_ids, self._limits)
        for user_id in over:
            with self._database.writing() as db:
                dropped = queues.enforce_user_limits(db, user_id, self._limits, now)
            for integration, count in dropped.items():
                log_given_up(user_id, integration, count, QUEUE_OVERFLOWED, reason="overflow")

    async def serve(self, queue: ReceiverQueue, worker: str) -> int:
        """Deliver what waits for the receiver, in order, until it cannot be reached. Returns the number delivered."""
        delivered, until = 0, time.monotonic() + MAX_SERVE_S
        job = await asyncio.to_thread(self._results.begin, queue, worker)
        while job is not None:
            started = time.monotonic()
            outcome = await self._attempt(job)
            ended = time.monotonic()
            result = await self._results.write(Attempt(job, outcome, releases_receiver=ended >= until))
            self._log_result(job, outcome, result, ended - started)
            delivered += outcome.is_delivered
            job = result.next_job
        return delivered

    async def _attempt(self, job: DeliveryJob) -> DeliveryOutcome:
        renewal = asyncio.create_task(self._renew_claim(job))
        try:
            provider = REGISTRY[job.queue.integration]
            return await self._event_sender.send(provider, job.integration.settings, self._event(job))
        finally:
            renewal.cancel()

    async def _renew_claim(self, job: DeliveryJob) -> None:
        """Renew the claim while an attempt runs: a provider called in a thread may wait for a free thread."""
        with suppress(StoreUnavailable):
            while True:
                await asyncio.sleep(self._renew_after_s)
                if not await asyncio.to_thread(self._results.renew, job.queue, job.worker):
                    return

    def release_all(self, worker: str) -> int:
        """Release all receivers that the worker holds. Returns their number."""
        with self._database.writing() as db:
            return queues.release_all(db, worker)

    def _event(self, job: DeliveryJob) -> Event:
        return Event(
            type=job.delivery.event_type,
            delivery_id=job.delivery.delivery_id,
            attempt=job.delivery.attempts + 1,
            receiver=job.delivery.receiver,
            body=job.body,
            at=self._clock(),
        )

    def _log_result(self, job: DeliveryJob, outcome: DeliveryOutcome, result: AttemptResult, took_s: float) -> None:
        fields = {
            "delivery": job.delivery.delivery_id,
            "integration": job.queue.integration,
            "user": job.queue.user_id,
            "attempt": job.delivery.attempts + 1,
            "status": outcome.status,
            "took_ms": round(took_s * 1000),
        }
        if result.claim_lost:
            log.info("receiver claimed by another worker", **fields)
            return
        if outcome.is_delivered:
            log.info("delivered", **fields)
        elif result.state is DeliveryState.FAILED:
            log.warning("delivery given up", **fields, reason=outcome.error_text)
            is_expired = outcome.failure is FailureKind.RECEIVER and not outcome.disables_integration
            metrics.record_deliveries_given_up("expired" if is_expired else "refused", 1)
        else:
            next_s = (result.next_at - self._clock()) // SECOND
            log.info("not delivered", **fields, reason=outcome.error_text, next_s=next_s)
        metrics.record_delivery("retried" if result.state is DeliveryState.PENDING else result.state.value, took_s)


def remove_finished_deliveries(db: Write, now: Instant, limit: int) -> int:
    """Remove deliveries that ended more than FINISHED_RETENTION ago. Returns their number."""
    return outbox.delete_finished(db, before=Instant(now - FINISHED_RETENTION), limit=limit)


def remove_idle_receivers(db: Write, now: Instant, limit: int) -> int:
    """Remove receivers that have nothing to receive. Returns their number."""
    return queues.remove_idle(db, now=now, limit=limit)
