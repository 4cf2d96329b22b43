"""Deliveries: out of the outbox, in order for each receiver, until they are delivered or a day has gone by.

post ─► line up ─► claim a receiver ─► try the first ─┬─ delivered ─► the next one
(elsewhere)        └── one transaction ──┘            ├─ not ─► wait, longer each time; the receiver is let go
                                                      └─ not for a day ─► failed; the next one
"""

from __future__ import annotations

import asyncio
import random
import time
from collections.abc import Callable
from datetime import timedelta

import structlog
from msgspec import Struct, structs

from tidings import metrics
from tidings.domain.deliveries import GIVEN_UP_TOGETHER, Delivery, Queue, Room, State
from tidings.domain.events import Event
from tidings.domain.integrations import REGISTRY
from tidings.domain.retries import GIVE_UP_ALL_AFTER, Patience
from tidings.domain.times import SECOND, Instant
from tidings.services.attempts import Attempts, Outcome
from tidings.services.clock import Clock
from tidings.storage import deliveries, integrations, receivers
from tidings.storage.database import Database, Write
from tidings.storage.receivers import Trial

log = structlog.get_logger()

# A claim outlasts a try and the writing after it; each try renews it.
LEASE_BEYOND_TRY = timedelta(seconds=20)
# A receiver with much to take is let go after a while, so that the others get their turn.
SERVED_FOR_S = 5.0


class Job(Struct, frozen=True):
    """A delivery that is to be tried now. settings: of its integration, as stored."""

    queue: Queue
    delivery: Delivery
    body: bytes
    settings: str


class Delivering:
    """patience: when to try again. room: how much may wait for one receiver. chance: from 0 to 1."""

    def __init__(
        self,
        database: Database,
        attempts: Attempts,
        clock: Clock,
        *,
        patience: Patience | None = None,
        room: Room | None = None,
        lease: timedelta = timedelta(seconds=10) + LEASE_BEYOND_TRY,
        chance: Callable[[], float] = random.random,
    ) -> None:
        self._database = database
        self._attempts = attempts
        self._clock = clock
        self._patience = patience or Patience()
        self._room = room or Room()
        self._lease_us = lease // timedelta(microseconds=1)
        self._chance = chance

    async def close(self) -> None:
        """Inside the event loop that delivered."""
        await self._attempts.close()

    def claim(self, worker: str, *, limit: int, failing: int) -> list[Queue]:
        """Due receivers, now held by the worker. failing: how many of them at most may have failed lately."""
        now = self._clock()
        with self._database.reading() as db:
            if not receivers.is_work(db, now):
                return []
        with self._database.writing() as db:
            receivers.line_up(db, now=now, room=self._room)
            return receivers.claim(db, worker, now=now, until=self._lease_end(now), limit=limit, failing=failing)

    async def serve(self, queue: Queue, worker: str) -> int:
        """Deliver what waits there, one after another, until one does not arrive; how many did."""
        delivered, until = 0, time.monotonic() + SERVED_FOR_S
        job = await asyncio.to_thread(self._next, queue, worker, is_enough=False)
        while job is not None:
            started = time.monotonic()
            outcome = await self._attempts.make(REGISTRY[queue.integration], job.settings, self._event(job))
            is_enough = time.monotonic() >= until
            took_s = time.monotonic() - started
            job = await asyncio.to_thread(self._settle, job, outcome, worker, took_s, is_enough=is_enough)
            delivered += outcome.is_delivered
        return delivered

    def release_all(self, worker: str) -> int:
        """Give back what the worker holds; how many."""
        with self._database.writing() as db:
            return receivers.release_all(db, worker)

    def _lease_end(self, now: Instant) -> Instant:
        return Instant(now + self._lease_us)

    def _event(self, job: Job) -> Event:
        return Event(
            type=job.delivery.event_type,
            delivery_id=job.delivery.delivery_id,
            attempt=job.delivery.attempts + 1,
            receiver=job.delivery.receiver,
            body=job.body,
            at=self._clock(),
        )

    def _next(self, queue: Queue, worker: str, *, is_enough: bool) -> Job | None:
        with self._database.writing() as db:
            if not receivers.keep(db, queue.id, worker, self._lease_end(self._clock())):
                return None
            return self._job(db, queue, is_enough=is_enough)

    def _settle(self, job: Job, outcome: Outcome, worker: str, took_s: float, *, is_enough: bool) -> Job | None:
        """Write down what came of a try; the next one to be made here, if any."""
        now, queue = self._clock(), job.queue
        with self._database.writing() as db:
            if not receivers.keep(db, queue.id, worker, self._lease_end(now)):
                # Somebody else has taken over, and tries the same one again: the receiver knows it by its id.
                log.info("receiver taken over", receiver=queue.id, delivery=job.delivery.delivery_id)
                return None
            state, after, next_at = self._judged(job, outcome, now)
            trial = Trial(state, outcome.status, outcome.error, outcome.response)
            receivers.record(db, queue.id, job.delivery, trial, now=now)
            receivers.turn(
                db,
                queue.id,
                failures=after.failures,
                failing_since=after.failing_since,
                given_up=after.given_up,
                next_at=next_at,
            )
            integrations.set_last_error(db, queue.user_id, queue.integration, outcome.error)
            if outcome.is_final:
                self._switch_off(db, job, outcome, now)
            elif after.given_up >= GIVE_UP_ALL_AFTER:
                receivers.give_up(db, queue.id, GIVEN_UP_TOGETHER, now=now, before=self._patience.given_up_before(now))
            following = self._job(db, after, is_enough=is_enough or next_at > now)
        self._tell(job, outcome, state, next_at, took_s)
        return following

    def _judged(self, job: Job, outcome: Outcome, now: Instant) -> tuple[State, Queue, Instant]:
        """What becomes of the delivery, how it stands with its receiver, and when that is tried next."""
        queue = job.queue
        if outcome.is_delivered or outcome.is_hopeless:
            # Of a hopeless one the service has said so: it is there, and takes the next.
            state = State.DELIVERED if outcome.is_delivered else State.FAILED
            return state, structs.replace(queue, failures=0, failing_since=None, given_up=0), now
        failing_since = queue.failing_since or now
        after = structs.replace(queue, failures=queue.failures + 1, failing_since=failing_since)
        later = self._patience.next_try(now, after.failures, chance=self._chance(), retry_after_s=outcome.retry_after_s)
        is_over = self._patience.is_over(now, queued_at=job.delivery.queued_at, failing_since=failing_since)
        if outcome.is_final or is_over:
            after = structs.replace(after, given_up=after.given_up + 1)
            # It may have been this one event: the next is tried at once, but not one after another without end.
            return State.FAILED, after, now if after.given_up < GIVE_UP_ALL_AFTER else later
        return State.PENDING, after, later

    def _job(self, db: Write, queue: Queue, *, is_enough: bool) -> Job | None:
        """The first that waits; None, and the receiver is let go, when there is none or it is enough."""
        while not is_enough:
            delivery = receivers.first(db, queue.id)
            if delivery is None:
                receivers.recount(db, queue.id)
                break
            known = integrations.get(db, queue.user_id, queue.integration)
            if known is None or not known.enabled or queue.integration not in REGISTRY:
                receivers.give_up(db, queue.id, _switched_off(queue.integration), now=self._clock())
                break
            body = deliveries.body(db, delivery.id)
            if body is not None:
                return Job(queue, delivery, body, known.settings)
            lost = Trial(State.FAILED, 0, "Its body was not kept.", "")
            receivers.record(db, queue.id, delivery, lost, now=self._clock())
        receivers.let_go(db, queue.id)
        return None

    def _switch_off(self, db: Write, job: Job, outcome: Outcome, now: Instant) -> None:
        """Whatever else waits there goes unsent. An address that only a feed has leaves the others as they are."""
        queue = job.queue
        receivers.give_up(db, queue.id, outcome.error, now=now)
        leaf = REGISTRY[queue.integration]
        if job.delivery.receiver in {leaf.name, getattr(leaf.read(job.settings), "url", None)}:
            reason = f"{outcome.error} {leaf.title} was switched off; check its address, then switch it on again."
            integrations.switch_off(db, queue.user_id, queue.integration, job.settings, reason)

    def _tell(self, job: Job, outcome: Outcome, state: State, next_at: Instant, took_s: float) -> None:
        said = {
            "delivery": job.delivery.delivery_id,
            "integration": job.queue.integration,
            "user": job.queue.user_id,
            "attempt": job.delivery.attempts + 1,
            "status": outcome.status,
            "took_ms": round(took_s * 1000),
        }
        if outcome.is_delivered:
            log.info("delivered", **said)
        elif state is State.FAILED:
            log.warning("delivery given up", **said, reason=outcome.error)
        else:
            log.info("not delivered", **said, reason=outcome.error, next_s=(next_at - self._clock()) // SECOND)
        metrics.delivered("retried" if state is State.PENDING else state.value, took_s)


def _switched_off(integration: str) -> str:
    leaf = REGISTRY.get(integration)
    return f"{leaf.title if leaf else integration} is switched off: nothing more is sent there."
