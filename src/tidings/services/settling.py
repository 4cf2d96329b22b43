"""Writing down what came of tries, and finding what is tried next: many receivers in one transaction."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from datetime import timedelta
from functools import partial

import structlog
from msgspec import Struct, structs

from tidings.domain.deliveries import GIVEN_UP_TOGETHER, Delivery, Queue, State
from tidings.domain.integrations import REGISTRY
from tidings.domain.retries import GIVE_UP_ALL_AFTER, Patience
from tidings.domain.times import Instant
from tidings.domain.wording import Words
from tidings.services.attempts import Outcome
from tidings.services.clock import Clock
from tidings.services.gathering import Gathering, written_together
from tidings.storage import integrations, receivers
from tidings.storage.database import Database, Write
from tidings.storage.integrations import Standing
from tidings.storage.receivers import Trial

log = structlog.get_logger()


class Job(Struct, frozen=True):
    """A delivery that is to be tried now. integration: as it was when this was read."""

    queue: Queue
    worker: str
    delivery: Delivery
    body: bytes
    integration: Standing


class Tried(Struct, frozen=True):
    """is_enough: the receiver is let go, whatever else waits there."""

    job: Job
    outcome: Outcome
    is_enough: bool = False


class Verdict(Struct, frozen=True):
    """state: of the delivery. next_at: when its receiver is tried next.

    is_lost: somebody else has taken the receiver over, and nothing was written; they know it by its id.
    following: what is tried next, if that is now and here.
    """

    state: State
    next_at: Instant
    is_lost: bool = False
    following: Job | None = None


class Settling:
    """patience: when to try again. lease: for how long a claim holds. chance: from 0 to 1."""

    def __init__(
        self,
        database: Database,
        clock: Clock,
        *,
        patience: Patience,
        lease: timedelta,
        chance: Callable[[], float] = random.random,
    ) -> None:
        self._database = database
        self._clock = clock
        self._patience = patience
        self._lease_us = lease // timedelta(microseconds=1)
        self._chance = chance
        self._gathering = Gathering(partial(written_together, database, self._settle))

    def lease_end(self, now: Instant) -> Instant:
        return Instant(now + self._lease_us)

    def keep(self, queue: Queue, worker: str) -> bool:
        """Renew a claim; False when it is somebody else's by now."""
        with self._database.writing() as db:
            return receivers.keep(db, queue.id, worker, self.lease_end(self._clock()))

    def begin(self, queue: Queue, worker: str) -> Job | None:
        """The first delivery to a receiver that was just claimed; None, and it is let go, when there is none."""
        now = self._clock()
        with self._database.writing() as db:
            if not receivers.keep(db, queue.id, worker, self.lease_end(now)):
                return None
            return self._following(db, queue, worker, now)

    async def write(self, tried: Tried) -> Verdict:
        """StoreUnavailable: then it is tried again, by whoever claims the receiver next."""
        return await self._gathering.add(tried)

    def _settle(self, db: Write, batch: Sequence[Tried]) -> list[Verdict]:
        """In the same order. Whoever holds several rows takes them in the order of their ids, and receivers first."""
        now = self._clock()
        held: set[int] = set()
        for worker in sorted({tried.job.worker for tried in batch}):
            ids = (tried.job.queue.id for tried in batch if tried.job.worker == worker)
            held |= receivers.ours(db, ids, worker)
        ours = sorted((tried for tried in batch if tried.job.queue.id in held), key=lambda one: one.job.queue.id)
        trials = {tried.job.queue.id: self._judged(tried, now) for tried in ours}
        receivers.record(db, [*trials.values()], now=now, until=self.lease_end(now))
        for tried in ours:
            self._give_up(db, tried.outcome, trials[tried.job.queue.id].queue, now)
        for tried in sorted(ours, key=lambda one: (one.job.queue.user_id, one.job.queue.integration)):
            _complain(db, tried)
        following: dict[int, Job | None] = {}
        for tried in ours:
            trial = trials[tried.job.queue.id]
            if tried.is_enough or trial.next_at > now:
                receivers.let_go(db, trial.queue.id)
            else:
                following[trial.queue.id] = self._following(db, trial.queue, tried.job.worker, now)
        return [_verdict(trials.get(tried.job.queue.id), following.get(tried.job.queue.id)) for tried in batch]

    def _judged(self, tried: Tried, now: Instant) -> Trial:
        outcome, queue, delivery = tried.outcome, tried.job.queue, tried.job.delivery
        state, next_at = State.DELIVERED, now
        if outcome.is_delivered or outcome.is_hopeless:
            # Of a hopeless one the service has said so: it is there, and takes the next.
            state = State.DELIVERED if outcome.is_delivered else State.FAILED
            queue = structs.replace(queue, failures=0, failing_since=None, given_up=0)
        else:
            state = State.PENDING
            failing_since = queue.failing_since or now
            queue = structs.replace(queue, failures=queue.failures + 1, failing_since=failing_since)
            next_at = self._patience.next_try(
                now, queue.failures, chance=self._chance(), retry_after_s=outcome.retry_after_s
            )
            is_over = self._patience.is_over(now, queued_at=delivery.queued_at, failing_since=failing_since)
            if outcome.is_final or is_over:
                state = State.FAILED
                queue = structs.replace(queue, given_up=queue.given_up + 1)
                # It may have been this one event: the next is tried at once, but not one after another without end.
                next_at = now if queue.given_up < GIVE_UP_ALL_AFTER else next_at
        return Trial(queue, delivery, next_at, state, outcome.status, outcome.error, outcome.response)

    def _give_up(self, db: Write, outcome: Outcome, queue: Queue, now: Instant) -> None:
        if outcome.is_final:
            receivers.give_up(db, queue.id, outcome.error, now=now)
        elif queue.given_up >= GIVE_UP_ALL_AFTER:
            before = self._patience.given_up_before(now)
            receivers.give_up(db, queue.id, GIVEN_UP_TOGETHER, now=now, before=before)

    def _following(self, db: Write, queue: Queue, worker: str, now: Instant) -> Job | None:
        """The first that waits; None, and the receiver is let go, when there is none."""
        while (found := receivers.first(db, queue.id)) is not None:
            delivery, body = found
            integration = integrations.get(db, queue.user_id, queue.integration)
            if integration is None or not integration.enabled or queue.integration not in REGISTRY:
                receivers.give_up(db, queue.id, _switched_off(queue.integration), now=now)
                break
            if body is not None:
                return Job(queue, worker, delivery, body, integration)
            lost = Trial(queue, delivery, now, State.FAILED, error="Its body was not kept.")
            receivers.record(db, [lost], now=now, until=self.lease_end(now))
        else:
            receivers.recount(db, queue.id)
        receivers.let_go(db, queue.id)
        return None


def _verdict(trial: Trial | None, following: Job | None) -> Verdict:
    if trial is None:
        return Verdict(State.PENDING, Instant(0), is_lost=True)
    return Verdict(trial.state, trial.next_at, following=following)


def _complain(db: Write, tried: Tried) -> None:
    """What its owner sees in the settings. An address that only a feed has leaves the others switched on."""
    queue, outcome, seen = tried.job.queue, tried.outcome, tried.job.integration
    if outcome.is_final:
        leaf = REGISTRY[queue.integration]
        if tried.job.delivery.receiver in {leaf.name, getattr(leaf.read(seen.settings), "url", None)}:
            reason = f"{outcome.error} {_was_switched_off(leaf.title)}"
            integrations.switch_off(db, queue.user_id, queue.integration, seen.settings, reason)
            return
    if outcome.error or seen.last_error:
        integrations.set_last_error(db, queue.user_id, queue.integration, outcome.error)


def _was_switched_off(title: str) -> Words:
    return f"{title} was switched off; check its address, then switch it on again."


def _switched_off(integration: str) -> Words:
    leaf = REGISTRY.get(integration)
    return f"{leaf.title if leaf else integration} is switched off: nothing more is sent there."
