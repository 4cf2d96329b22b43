"""Queues: which receiver has something waiting, who serves it, and what came of it.

Whoever posts an event only inserts it (`storage.deliveries`) and touches no row that others want. A worker puts it into
its receiver's queue; from then on whoever changes what waits there holds the receiver's row, whose counts are exact.
A claim is of a receiver, not of a delivery: that is what keeps the order.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from msgspec import Struct
from sqlalchemy import bindparam, case, delete, func, insert, literal, or_, select, text, update

from tidings.domain.deliveries import OVERFLOWED, Delivery, Queue, Room, State, address_digest
from tidings.domain.times import Instant
from tidings.domain.wording import Words
from tidings.storage import dialect
from tidings.storage.database import Read, Write, columns
from tidings.storage.lists import among
from tidings.storage.schema import deliveries, delivery_bodies, receivers

# How many new deliveries one transaction puts into queues.
BATCH = 1_000
# Any number, the same everywhere: of two that put deliveries into queues at once, one could let a later one go first.
_LOCK_ID = 7_430_510

_PENDING = text("deliveries.state = 'pending'")
_one_at_a_time = select(func.pg_advisory_xact_lock(_LOCK_ID))
_arriving = (
    select(deliveries.c.id, deliveries.c.user_id, deliveries.c.integration, deliveries.c.receiver, deliveries.c.size)
    .where(deliveries.c.receiver_id.is_(None), _PENDING)
    .order_by(deliveries.c.id)
    .limit(bindparam("limit"))
)
_find = select(receivers.c.id).where(
    receivers.c.user_id == bindparam("user"),
    receivers.c.integration == bindparam("integration"),
    receivers.c.address_digest == bindparam("digest"),
)
_line_up = update(deliveries).where(deliveries.c.id == bindparam("delivery")).values(receiver_id=bindparam("queue"))
_grow = (
    update(receivers)
    .where(receivers.c.id == bindparam("queue"))
    .values(
        pending=receivers.c.pending + bindparam("more"),
        pending_bytes=receivers.c.pending_bytes + bindparam("bytes"),
        next_attempt_at=func.coalesce(receivers.c.next_attempt_at, bindparam("now")),
    )
)
_size = select(receivers.c.pending, receivers.c.pending_bytes).where(receivers.c.id == bindparam("queue"))
_is_waiting = (deliveries.c.receiver_id == bindparam("queue"), _PENDING)
# Not the first: it may be on its way at this moment.
_oldest = select(deliveries.c.id, deliveries.c.size).where(*_is_waiting).order_by(deliveries.c.id).limit(500).offset(1)
_give_up_some = update(deliveries).where(among(deliveries.c.id, "ids"))
_drop_bodies = delete(delivery_bodies).where(among(delivery_bodies.c.delivery_id, "ids"))

_is_free = or_(receivers.c.claimed_until.is_(None), receivers.c.claimed_until <= bindparam("now"))
_due = (receivers.c.next_attempt_at.is_not(None), receivers.c.next_attempt_at <= bindparam("now"), _is_free)
# Literals: neither engine uses a partial index for a parameter.
_WELL, _FAILING = text("failures = 0"), text("failures > 0")
_is_work = select(
    or_(
        select(literal(1)).where(deliveries.c.receiver_id.is_(None), _PENDING).exists(),
        select(literal(1)).where(*_due, _WELL).exists(),
        select(literal(1)).where(*_due, _FAILING).exists(),
    )
)
_due_queues = select(*columns(receivers, Queue)).where(*_due)
_due_queues = _due_queues.order_by(receivers.c.next_attempt_at, receivers.c.id).limit(bindparam("limit"))
_well_due = _due_queues.where(_WELL).with_for_update(skip_locked=True)
_failing_due = _due_queues.where(_FAILING).with_for_update(skip_locked=True)
_claim = (
    update(receivers)
    .where(among(receivers.c.id, "ids"))
    .values(claimed_until=bindparam("until"), claimed_by=bindparam("worker"))
)
_held = (receivers.c.id == bindparam("queue"), receivers.c.claimed_by == bindparam("worker"))
_ours = (
    select(receivers.c.id)
    .where(among(receivers.c.id, "ids"), receivers.c.claimed_by == bindparam("worker"))
    .order_by(receivers.c.id)
    .with_for_update()
)
_keep = update(receivers).where(*_held).values(claimed_until=bindparam("until"))
_turn = (
    update(receivers)
    .where(receivers.c.id == bindparam("queue"))
    .values(
        claimed_until=bindparam("until"),
        failures=bindparam("times"),
        failing_since=bindparam("since"),
        given_up=bindparam("given"),
        pending=receivers.c.pending - bindparam("done"),
        pending_bytes=receivers.c.pending_bytes - bindparam("bytes"),
        next_attempt_at=case((receivers.c.pending > bindparam("done"), bindparam("next"))),
    )
)
_release_all = (
    update(receivers)
    .where(receivers.c.claimed_by == bindparam("worker"), text("claimed_by <> ''"))
    .values(claimed_until=None, claimed_by="")
)
_first = (
    select(*columns(deliveries, Delivery), delivery_bodies.c.body)
    .select_from(deliveries.outerjoin(delivery_bodies))
    .where(*_is_waiting)
    .order_by(deliveries.c.id)
    .limit(1)
)
_try = (
    update(deliveries)
    .where(deliveries.c.id == bindparam("delivery"))
    .values(
        attempts=deliveries.c.attempts + 1,
        state=bindparam("new_state"),
        finished_at=bindparam("finished"),
        last_status=bindparam("status"),
        last_error=bindparam("error"),
        last_response=bindparam("response"),
    )
)
_still_pending = select(deliveries.c.id).where(among(deliveries.c.id, "ids"), _PENDING)
_queue_row = update(receivers).where(receivers.c.id == bindparam("queue"))
_let_go = _queue_row.values(claimed_until=None, claimed_by="")
_is_old = func.coalesce(deliveries.c.redelivered_at, deliveries.c.created_at) <= bindparam("before")
_count = select(func.count(), func.coalesce(func.sum(deliveries.c.size), 0)).where(*_is_waiting)
_set_size = _queue_row.values(
    pending=bindparam("number"),
    pending_bytes=bindparam("bytes"),
    next_attempt_at=case((literal(0) < bindparam("number"), receivers.c.next_attempt_at)),
)
_idle = select(receivers.c.id).where(receivers.c.next_attempt_at.is_(None), _is_free).limit(bindparam("limit"))
_remove_idle = delete(receivers).where(receivers.c.id.in_(_idle))


class Trial(Struct, frozen=True):
    """What came of one try. state: of the delivery, afterwards. queue: how it stands with its receiver.

    next_at: when the first that waits then is tried.
    """

    queue: Queue
    delivery: Delivery
    next_at: Instant
    state: State
    status: int = 0
    error: Words = ""
    response: str = ""


def is_work(db: Read, now: Instant) -> bool:
    """Whether a claim would find something to do: asking takes no lock."""
    return bool(db.scalar(_is_work, now=now))


def line_up(db: Write, *, now: Instant, room: Room) -> int:
    """Put what has been posted into the queues of its receivers; how many."""
    if not dialect.is_sqlite(db):
        db.scalar(_one_at_a_time)
    arrived = db.tuples(_arriving, limit=BATCH)
    if not arrived:
        return 0
    queues: dict[tuple[int, str, str], list[tuple[int, int]]] = {}
    for id_, user_id, integration, receiver, size in arrived:
        queues.setdefault((user_id, integration, receiver), []).append((id_, size))
    by_receiver = {_receiver_id(db, *whose): waiting for whose, waiting in queues.items()}
    db.run_many(_line_up, [{"delivery": id_, "queue": r} for r, w in by_receiver.items() for id_, _ in w])
    # In the order of their ids: whoever serves one holds only that.
    for receiver_id, waiting in sorted(by_receiver.items()):
        db.run(_grow, queue=receiver_id, more=len(waiting), bytes=sum(size for _, size in waiting), now=now)
        _make_room(db, receiver_id, room, now)
    return len(arrived)


def claim(db: Write, worker: str, *, now: Instant, until: Instant, limit: int, failing: int) -> list[Queue]:
    """The longest due receivers, now held by `worker`. failing: how many of them at most may have failed lately."""
    found = db.all(Queue, _failing_due, now=now, limit=failing) if failing > 0 else []
    found += db.all(Queue, _well_due, now=now, limit=limit - len(found))
    if found:
        db.run(_claim, ids=[queue.id for queue in found], worker=worker, until=until)
    return found


def keep(db: Write, receiver_id: int, worker: str, until: Instant) -> bool:
    """Hold the row, and renew the claim; False when another worker has it."""
    return bool(db.run(_keep, queue=receiver_id, worker=worker, until=until))


def ours(db: Write, receiver_ids: Iterable[int], worker: str) -> set[int]:
    """Those of them that the worker still holds; they cannot be taken over until this transaction ends."""
    return set(db.scalars(_ours, ids=sorted(receiver_ids), worker=worker))


def let_go(db: Write, receiver_id: int) -> None:
    db.run(_let_go, queue=receiver_id)


def release_all(db: Write, worker: str) -> int:
    """Give back what a worker holds; how many."""
    return db.run(_release_all, worker=worker)


def first(db: Read, receiver_id: int) -> tuple[Delivery, bytes | None] | None:
    """The one that is tried next, with its body if that was kept."""
    found = db.tuples(_first, queue=receiver_id)
    if not found:
        return None
    *fields, body = found[0]
    return Delivery(*fields), None if body is None else body.encode()


def record(db: Write, trials: Sequence[Trial], *, now: Instant, until: Instant) -> None:
    """until: their receivers are held on. The caller holds these already; each comes once."""
    # What was given up meanwhile, because there was no room, stays so.
    pending = set(db.scalars(_still_pending, ids=[trial.delivery.id for trial in trials]))
    counted = [trial for trial in trials if trial.delivery.id in pending]
    db.run_many(_try, [_tried(trial, now) for trial in counted])
    over = {trial.queue.id: trial.delivery.size for trial in counted if trial.state is not State.PENDING}
    db.run_many(
        _turn,
        [
            {
                "queue": trial.queue.id,
                "until": until,
                "times": trial.queue.failures,
                "since": trial.queue.failing_since,
                "given": trial.queue.given_up,
                "done": int(trial.queue.id in over),
                "bytes": over.get(trial.queue.id, 0),
                "next": trial.next_at,
            }
            for trial in trials
        ],
    )


def _tried(trial: Trial, now: Instant) -> dict[str, Any]:
    return {
        "delivery": trial.delivery.id,
        "new_state": trial.state.value,
        "finished": None if trial.state is State.PENDING else now,
        "status": trial.status,
        "error": trial.error,
        "response": trial.response,
    }


def give_up(db: Write, receiver_id: int, reason: str, *, now: Instant, before: Instant | None = None) -> int:
    """Whatever waits, or has waited since before; how many. The caller holds the receiver."""
    which = _is_waiting if before is None else (*_is_waiting, _is_old)
    values = {"state": State.FAILED.value, "finished_at": now, "last_error": reason}
    given: dict[str, Any] = {} if before is None else {"before": before}
    done = db.run(update(deliveries).where(*which).values(**values), queue=receiver_id, **given)
    recount(db, receiver_id)
    return done


def recount(db: Write, receiver_id: int) -> None:
    number, size = db.tuples(_count, queue=receiver_id)[0]
    db.run(_set_size, queue=receiver_id, number=number, bytes=int(size))


def remove_idle(db: Write, *, now: Instant, limit: int) -> int:
    """Receivers that nothing waits for; how many."""
    if not dialect.is_sqlite(db):
        db.scalar(_one_at_a_time)
    return db.run(_remove_idle, now=now, limit=limit)


def _receiver_id(db: Write, user_id: int, integration: str, receiver: str) -> int:
    digest = address_digest(receiver)
    found = db.scalar(_find, user=user_id, integration=integration, digest=digest)
    if found is not None:
        return int(found)
    return db.insert(insert(receivers).values(user_id=user_id, integration=integration, address_digest=digest))


def _make_room(db: Write, receiver_id: int, room: Room, now: Instant) -> None:
    pending, size = db.tuples(_size, queue=receiver_id)[0]
    while pending > room.deliveries or size > room.bytes:
        out = []
        for id_, bytes_ in db.tuples(_oldest, queue=receiver_id):
            if pending <= room.deliveries and size <= room.bytes:
                break
            out.append(id_)
            pending, size = pending - 1, size - bytes_
        if not out:
            break
        db.run(_give_up_some.values(state=State.FAILED.value, finished_at=now, last_error=OVERFLOWED), ids=out)
        db.run(_drop_bodies, ids=out)
        recount(db, receiver_id)
