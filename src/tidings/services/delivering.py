"""Deliveries: out of the outbox, in order for each receiver, until they are delivered or a day has gone by.

post ─► line up ─► claim a receiver ─► try the first ─┬─ delivered ─► the next one
(elsewhere)                                           ├─ not ─► wait, longer each time; the receiver is let go
                                                      └─ not for a day ─► failed; the next one
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
from tidings.domain.deliveries import Queue, Room, State
from tidings.domain.errors import StoreUnavailable
from tidings.domain.events import Event
from tidings.domain.integrations import REGISTRY
from tidings.domain.retries import Patience
from tidings.domain.times import SECOND
from tidings.services.attempts import Attempts, Outcome
from tidings.services.clock import Clock
from tidings.services.settling import Job, Settling, Tried, Verdict
from tidings.storage import receivers
from tidings.storage.database import Database

log = structlog.get_logger()

# A claim outlasts a try and the writing after it; each try renews it.
LEASE = timedelta(seconds=30)
# A receiver with much to take is let go after a while, so that the others get their turn.
SERVED_FOR_S = 5.0
# How often one claim puts deliveries into queues before it takes what is there; others write in between.
MOST_ROUNDS = 20


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
        lease: timedelta = LEASE,
        chance: Callable[[], float] = random.random,
    ) -> None:
        self._database = database
        self._attempts = attempts
        self._clock = clock
        self._room = room or Room()
        self._renew_after_s = lease.total_seconds() / 3
        self._settling = Settling(database, clock, patience=patience or Patience(), lease=lease, chance=chance)

    async def close(self) -> None:
        """Inside the event loop that delivered."""
        await self._attempts.close()

    def claim(self, worker: str, *, limit: int, failing: int) -> list[Queue]:
        """Due receivers, now held by the worker. failing: how many of them at most may have failed lately."""
        now = self._clock()
        with self._database.reading() as db:
            if not receivers.is_work(db, now):
                return []
        for _ in range(MOST_ROUNDS):
            with self._database.writing() as db:
                is_more = receivers.line_up(db, now=now, room=self._room) == receivers.BATCH
                if not is_more:
                    break
        with self._database.writing() as db:
            until = self._settling.lease_end(now)
            return receivers.claim(db, worker, now=now, until=until, limit=limit, failing=failing)

    async def serve(self, queue: Queue, worker: str) -> int:
        """Deliver what waits there, one after another, until one does not arrive; how many did."""
        delivered, until = 0, time.monotonic() + SERVED_FOR_S
        job = await asyncio.to_thread(self._settling.begin, queue, worker)
        while job is not None:
            started = time.monotonic()
            outcome = await self._try(job)
            ended = time.monotonic()
            verdict = await self._settling.write(Tried(job, outcome, is_enough=ended >= until))
            self._tell(job, outcome, verdict, ended - started)
            delivered += outcome.is_delivered
            job = verdict.following
        return delivered

    async def _try(self, job: Job) -> Outcome:
        keeping = asyncio.create_task(self._keep(job))
        try:
            leaf = REGISTRY[job.queue.integration]
            return await self._attempts.make(leaf, job.integration.settings, self._event(job))
        finally:
            keeping.cancel()

    async def _keep(self, job: Job) -> None:
        """Hold on to a claim: one that is not served over HTTP may have to wait for its turn."""
        with suppress(StoreUnavailable):
            while True:
                await asyncio.sleep(self._renew_after_s)
                if not await asyncio.to_thread(self._settling.keep, job.queue, job.worker):
                    return

    def release_all(self, worker: str) -> int:
        """Give back what the worker holds; how many."""
        with self._database.writing() as db:
            return receivers.release_all(db, worker)

    def _event(self, job: Job) -> Event:
        return Event(
            type=job.delivery.event_type,
            delivery_id=job.delivery.delivery_id,
            attempt=job.delivery.attempts + 1,
            receiver=job.delivery.receiver,
            body=job.body,
            at=self._clock(),
        )

    def _tell(self, job: Job, outcome: Outcome, verdict: Verdict, took_s: float) -> None:
        said = {
            "delivery": job.delivery.delivery_id,
            "integration": job.queue.integration,
            "user": job.queue.user_id,
            "attempt": job.delivery.attempts + 1,
            "status": outcome.status,
            "took_ms": round(took_s * 1000),
        }
        if verdict.is_lost:
            log.info("receiver taken over", **said)
            return
        if outcome.is_delivered:
            log.info("delivered", **said)
        elif verdict.state is State.FAILED:
            log.warning("delivery given up", **said, reason=outcome.error)
        else:
            next_s = (verdict.next_at - self._clock()) // SECOND
            log.info("not delivered", **said, reason=outcome.error, next_s=next_s)
        metrics.delivered("retried" if verdict.state is State.PENDING else verdict.state.value, took_s)
