"""Delivers events from the outbox, in order for each receiver, until they are delivered or given up.

outbox ─► enqueue ─► claim a receiver ─► attempt its first delivery ─┬─ delivered, refused ─► the next delivery
                                                                     ├─ fails alone ─► steps aside; the next delivery
                                                                     ├─ unreachable ─► release the receiver, wait
                                                                     └─ not for a day ─► failed; the next delivery

The results of attempts are stored, and the next deliveries selected, for many receivers in one transaction.
"""

from __future__ import annotations

import asyncio
import random
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from datetime import timedelta
from functools import partial

import structlog
from msgspec import Struct, structs

from tidings import metrics
from tidings.base.errors import StoreUnavailable
from tidings.base.messages import Message, join_sentences, msg
from tidings.base.times import SECOND, Instant
from tidings.deliveries.attempts import DeliveryOutcome, EventSender
from tidings.deliveries.events import (
    FINISHED_RETENTION,
    GIVEN_UP_TOGETHER,
    QUEUE_OVERFLOWED,
    Delivery,
    DeliveryState,
    Event,
    FailureKind,
    QueueLimits,
    ReceiverQueue,
)
from tidings.deliveries.registry import provider_of
from tidings.deliveries.retries import GIVE_UP_ALL_AFTER, RetryPolicy
from tidings.deliveries.store import integrations, outbox
from tidings.deliveries.store.integrations import StoredIntegration
from tidings.deliveries.store.outbox import AttemptRecord
from tidings.engine.database import Database, Write
from tidings.services.batching import Batcher, write_batch
from tidings.services.clock import Clock
from tidings.storage.accounts import change_log
from tidings.storage.accounts.change_log import Kind

# Results

log = structlog.get_logger()


class DeliveryJob(Struct, frozen=True):
    """A delivery to attempt now."""

    queue: ReceiverQueue
    worker: str
    delivery: Delivery
    body: bytes
    integration: StoredIntegration
    """As stored when the job was read."""


class Attempt(Struct, frozen=True):
    """An attempt that was made, and its outcome."""

    job: DeliveryJob
    outcome: DeliveryOutcome
    releases_receiver: bool = False
    """Release the receiver after this attempt, even if more deliveries wait."""


class AttemptResult(Struct, frozen=True):
    """What follows from an attempt."""

    state: DeliveryState
    """The delivery's state."""
    next_at: Instant
    """When this delivery is attempted next, if it is pending."""
    claim_lost: bool = False
    """Another worker holds the receiver, and nothing was written."""
    next_job: DeliveryJob | None = None
    """The next delivery to attempt now; None if the receiver was released."""


class ResultWriter:
    """Stores the results of attempts and reads the next delivery of the receiver.

    retry_policy: when to attempt again. lease: how long a claim lasts. random_fraction: returns 0 to 1.
    """

    def __init__(
        self,
        database: Database,
        clock: Clock,
        *,
        retry_policy: RetryPolicy,
        lease: timedelta,
        random_fraction: Callable[[], float] = random.random,
    ) -> None:
        self._database = database
        self._clock = clock
        self._retry_policy = retry_policy
        self._lease_us = lease // timedelta(microseconds=1)
        self._random_fraction = random_fraction
        self._batcher = Batcher(partial(write_batch, database, self._write_batch))

    def lease_end(self, now: Instant) -> Instant:
        return Instant(now + self._lease_us)

    def renew(self, queue: ReceiverQueue, worker: str) -> bool:
        """Renew a claim. Returns False if another worker holds the receiver."""
        with self._database.writing() as db:
            return outbox.renew(db, queue.user_id, queue.id, worker, self.lease_end(self._clock()))

    def begin(self, queue: ReceiverQueue, worker: str) -> DeliveryJob | None:
        """Return the first delivery of a receiver just claimed; None, with the receiver released, if there is none."""
        now = self._clock()
        with self._database.writing() as db:
            if not outbox.renew(db, queue.user_id, queue.id, worker, self.lease_end(now)):
                return None
            return self._next_job(db, queue, worker, now, is_first=True)

    async def write(self, attempt: Attempt) -> AttemptResult:
        """Store an attempt and return its result.

        Raises StoreUnavailable if it cannot be stored; the worker that claims the receiver next repeats the attempt.
        """
        return await self._batcher.add(attempt)

    def _write_batch(self, db: Write, batch: Sequence[Attempt]) -> list[AttemptResult]:
        """Return results in the order of the batch. Rows are locked in the order of their ids, receivers first."""
        now = self._clock()
        locked: set[int] = set()
        for worker in sorted({attempt.job.worker for attempt in batch}):
            queues = [attempt.job.queue for attempt in batch if attempt.job.worker == worker]
            locked |= outbox.lock_claimed(db, queues, worker)
        ours = sorted(
            (attempt for attempt in batch if attempt.job.queue.id in locked), key=lambda attempt: attempt.job.queue.id
        )
        records = {attempt.job.queue.id: self._evaluate(attempt, now) for attempt in ours}
        outbox.record_attempts(db, [*records.values()], now=now, until=self.lease_end(now))
        for attempt in ours:
            self._give_up(db, attempt.outcome, records[attempt.job.queue.id].queue, now)
        for attempt in sorted(ours, key=lambda attempt: (attempt.job.queue.user_id, attempt.job.queue.integration)):
            _record_error(db, attempt)
        for attempt in ours:
            if not attempt.outcome.is_delivered or attempt.job.queue.failures or attempt.job.delivery.failed_tries:
                change_log.note(db, attempt.job.queue.user_id, Kind.DELIVERY, [attempt.job.delivery.id])
        next_job: dict[int, DeliveryJob | None] = {}
        for attempt in ours:
            record = records[attempt.job.queue.id]
            if attempt.releases_receiver or record.next_at > now:
                outbox.release(db, record.queue.user_id, record.queue.id)
            else:
                next_job[record.queue.id] = self._next_job(db, record.queue, attempt.job.worker, now)
        return [_result(records.get(attempt.job.queue.id), next_job.get(attempt.job.queue.id)) for attempt in batch]

    def _evaluate(self, attempt: Attempt, now: Instant) -> AttemptRecord:
        outcome, delivery = attempt.outcome, attempt.job.delivery
        if outcome.is_delivered or outcome.disables_integration or outcome.failure is FailureKind.REFUSED:
            # A service that rejects this event permanently is reachable, so it gets the next one.
            state = DeliveryState.DELIVERED if outcome.is_delivered else DeliveryState.FAILED
            queue = structs.replace(attempt.job.queue, failures=0, failing_since=None, given_up=0)
            record = AttemptRecord(queue, structs.replace(delivery, retry_at=None), now, state)
        elif outcome.failure is FailureKind.RECEIVER:
            record = self._after_unreachable_receiver(attempt, now)
        else:
            record = self._after_failed_event(attempt, now)
        return structs.replace(record, status=outcome.status, error=outcome.error, response=outcome.response)

    def _after_unreachable_receiver(self, attempt: Attempt, now: Instant) -> AttemptRecord:
        """Return the record of an attempt at a receiver that takes nothing: the queue waits."""
        queue, delivery = attempt.job.queue, attempt.job.delivery
        # `failing_since` tells failures of the receiver from failures of events, which the same counter counts.
        failures = queue.failures + 1 if queue.failing_since is not None else 1
        failing_since = queue.failing_since or now
        queue = structs.replace(queue, failures=failures, failing_since=failing_since)
        next_at = self._retry_policy.next_attempt_at(
            now, failures, random_fraction=self._random_fraction(), retry_after_s=attempt.outcome.retry_after_s
        )
        if not self._retry_policy.is_exhausted(
            now, queued_at=delivery.queued_at, failing_since=failing_since, failures=failures
        ):
            return AttemptRecord(queue, delivery, next_at, DeliveryState.PENDING)
        queue = structs.replace(queue, given_up=queue.given_up + 1)
        # The cause may be this event alone: try the next one now, but only GIVE_UP_ALL_AFTER times in a row.
        next_at = now if queue.given_up < GIVE_UP_ALL_AFTER else next_at
        return AttemptRecord(queue, delivery, next_at, DeliveryState.FAILED)

    def _after_failed_event(self, attempt: Attempt, now: Instant) -> AttemptRecord:
        """Return the record of an attempt that failed at this event: it steps aside, and the queue goes on."""
        queue, delivery, kind = attempt.job.queue, attempt.job.delivery, attempt.outcome.failure
        failures = queue.failures + 1 if queue.failing_since is None else 1
        queue = structs.replace(queue, failures=failures, failing_since=None, given_up=0)
        tries = self._retry_policy.failed_tries(delivery.failed_tries, kind or FailureKind.EVENT)
        retry_at = self._retry_policy.retry_event_at(
            now, tries, random_fraction=self._random_fraction(), retry_after_s=attempt.outcome.retry_after_s
        )
        state = DeliveryState.FAILED if retry_at is None else DeliveryState.PENDING
        delivery = structs.replace(delivery, failed_tries=tries, retry_at=retry_at)
        next_at = self._retry_policy.next_event_at(now, failures, random_fraction=self._random_fraction())
        return AttemptRecord(queue, delivery, next_at, state)

    def _give_up(self, db: Write, outcome: DeliveryOutcome, queue: ReceiverQueue, now: Instant) -> None:
        if outcome.disables_integration:
            message, reason = outcome.error or GIVEN_UP_TOGETHER, "refused"
            count = outbox.give_up_pending(db, queue.user_id, queue.id, message, now=now)
        elif queue.given_up >= GIVE_UP_ALL_AFTER:
            message, reason = GIVEN_UP_TOGETHER, "expired"
            before = self._retry_policy.give_up_before(now)
            count = outbox.give_up_pending(db, queue.user_id, queue.id, message, now=now, before=before)
        else:
            return
        if count:
            log_given_up(queue.user_id, queue.integration, count, message, reason=reason)

    def _next_job(
        self, db: Write, queue: ReceiverQueue, worker: str, now: Instant, *, is_first: bool = False
    ) -> DeliveryJob | None:
        """Return the next due delivery; None, with the receiver released, if there is none.

        is_first: after the claim. Only then, and when nothing else waits, deliveries that stepped aside are looked up.
        """
        while (pending := _next_pending(db, queue, now, with_retries=is_first)) is not None:
            delivery, body = pending
            integration = integrations.get(db, queue.user_id, queue.integration)
            if integration is None or not integration.enabled or provider_of(queue.integration) is None:
                outbox.give_up_pending(db, queue.user_id, queue.id, _switched_off(queue.integration), now=now)
                break
            if body is not None:
                outbox.set_attempted(db, queue.user_id, queue.id, delivery.id)
                return DeliveryJob(queue, worker, delivery, body, integration)
            lost = AttemptRecord(queue, delivery, now, DeliveryState.FAILED, error=msg("Its body was not kept."))
            outbox.record_attempts(db, [lost], now=now, until=self.lease_end(now))
        else:
            outbox.wait_for_retries(db, queue.user_id, queue.id)
        outbox.release(db, queue.user_id, queue.id)
        return None


def _next_pending(
    db: Write, queue: ReceiverQueue, now: Instant, *, with_retries: bool
) -> tuple[Delivery, bytes | None] | None:
    """Return the delivery that has been due for the longest, with its body. with_retries: even if others wait."""
    first = outbox.first_pending(db, queue.user_id, queue.id)
    if first is not None and not with_retries:
        return first
    retry = outbox.first_retry(db, queue.user_id, queue.id, now)
    if first is None or retry is None:
        return first or retry
    return min(retry, first, key=lambda pending: pending[0].retry_at or pending[0].queued_at)


def log_given_up(user_id: int, integration: str, count: int, message: Message, *, reason: str) -> None:
    """Warn of deliveries that were given up together, and count them. reason: expired, refused or overflow."""
    log.warning("deliveries given up", user=user_id, integration=integration, count=count, reason=message.english())
    metrics.record_deliveries_given_up(reason, count)


def _result(record: AttemptRecord | None, next_job: DeliveryJob | None) -> AttemptResult:
    if record is None:
        return AttemptResult(DeliveryState.PENDING, Instant(0), claim_lost=True)
    next_at = max(record.next_at, record.delivery.retry_at or record.next_at)
    return AttemptResult(record.state, next_at, next_job=next_job)


def _record_error(db: Write, attempt: Attempt) -> None:
    """Store the error that the settings page shows, and disable an integration whose receiver asks for it.

    If the receiver is the feed's own URL, the integration stays enabled.
    """
    queue, outcome, integration = attempt.job.queue, attempt.outcome, attempt.job.integration
    if outcome.disables_integration:
        provider = provider_of(queue.integration)
        assert provider is not None
        own_url = getattr(provider.read_settings(integration.settings), "url", None)
        if attempt.job.delivery.receiver in {provider.name, own_url}:
            errors = [outcome.error] if outcome.error else []
            reason = join_sentences(*errors, _was_switched_off(provider.title))
            integrations.disable(db, queue.user_id, queue.integration, integration.settings, reason)
            return
    if outcome.error or integration.last_error:
        integrations.set_last_error(db, queue.user_id, queue.integration, outcome.error)


def _was_switched_off(title: Message) -> Message:
    return msg("{title} was switched off; check its address, then switch it on again.", title=title)


def _switched_off(integration: str) -> Message:
    provider = provider_of(integration)
    return msg(
        "{title} is switched off: nothing more is sent there.", title=provider.title if provider else integration
    )


# Queue

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
            if not outbox.has_work(db, now):
                return []
        for _ in range(MAX_ENQUEUE_ROUNDS):
            with self._database.writing() as db:
                enqueued = outbox.enqueue(db, now=now, limits=self._limits)
            for (user_id, integration), count in enqueued.dropped.items():
                log_given_up(user_id, integration, count, QUEUE_OVERFLOWED, reason="overflow")
            self._enforce_user_limits(enqueued.users, now)
            if enqueued.count < outbox.ENQUEUE_BATCH:
                break
        with self._database.writing() as db:
            until = self._results.lease_end(now)
            return outbox.claim(db, worker, now=now, until=until, limit=limit, max_failing=max_failing)

    def _enforce_user_limits(self, user_ids: frozenset[int], now: Instant) -> None:
        with self._database.reading() as db:
            over = outbox.users_over_limits(db, user_ids, self._limits)
        for user_id in over:
            with self._database.writing() as db:
                dropped = outbox.enforce_user_limits(db, user_id, self._limits, now)
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
            provider = provider_of(job.queue.integration)
            assert provider is not None
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
            return outbox.release_all(db, worker)

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
    return outbox.remove_idle(db, now=now, limit=limit)
