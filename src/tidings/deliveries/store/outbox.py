"""The outbox: events to be delivered, and their queues, one for each receiver.

The transaction that causes an event only inserts it and locks no shared row. A worker puts it into its receiver's
queue. Each later change of the queue locks the receiver's row, so its counts are exact. A worker claims a receiver, not
a delivery: this keeps the order.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from functools import lru_cache
from typing import Any

from msgspec import Struct
from sqlalchemy import (
    Select,
    and_,
    bindparam,
    case,
    delete,
    func,
    insert,
    literal,
    literal_column,
    null,
    or_,
    select,
    text,
    update,
)

from tidings.base.messages import Message
from tidings.base.times import Instant
from tidings.deliveries.events import (
    QUEUE_OVERFLOWED,
    SAVE_ENTRY,
    Delivery,
    DeliveryState,
    QueueLimits,
    ReceiverQueue,
    address_digest,
    error_columns,
    fair_share,
)
from tidings.deliveries.tables import deliveries, delivery_bodies, receivers
from tidings.engine import full_text, statements
from tidings.engine.database import Read, Write, columns
from tidings.engine.statements import in_list
from tidings.storage.ownership import of_same_user

# Deliveries

_insert_body = insert(delivery_bodies)
_is_owned = (deliveries.c.user_id == bindparam("user"), deliveries.c.id == bindparam("delivery"))
_fields = columns(deliveries, Delivery)
# Only a pending delivery has a next attempt: its queue's, or its own if that is later, or immediately while it is not
# in a queue.
_next_attempt = case(
    (deliveries.c.state != DeliveryState.PENDING.value, null()),
    (deliveries.c.retry_at > receivers.c.next_attempt_at, deliveries.c.retry_at),
    else_=func.coalesce(receivers.c.next_attempt_at, deliveries.c.redelivered_at, deliveries.c.created_at),
)
_queue = deliveries.outerjoin(
    receivers, and_(receivers.c.id == deliveries.c.receiver_id, of_same_user(receivers, deliveries))
)
_select_listed = select(*_fields, _next_attempt.label("next_attempt_at")).select_from(_queue)
_select_body = (
    select(delivery_bodies.c.body).join(deliveries, deliveries.c.id == delivery_bodies.c.delivery_id).where(*_is_owned)
)
_reopen = (
    update(deliveries)
    .where(*_is_owned, deliveries.c.state != DeliveryState.PENDING.value)
    .values(
        state=DeliveryState.PENDING.value,
        receiver_id=None,
        finished_at=None,
        redelivered_at=bindparam("now"),
        failed_tries=0,
        retry_at=None,
    )
)
_retry_now = (
    update(deliveries).where(*_is_owned, deliveries.c.retry_at > bindparam("now")).values(retry_at=bindparam("now"))
)
_make_queue_due = (
    update(receivers)
    .where(
        receivers.c.user_id == bindparam("user"),
        receivers.c.next_attempt_at > bindparam("now"),
        receivers.c.id
        == select(deliveries.c.receiver_id)
        .where(*_is_owned, deliveries.c.state == DeliveryState.PENDING.value)
        .scalar_subquery(),
    )
    .values(next_attempt_at=bindparam("now"))
)
_select_finished = (
    select(deliveries.c.id)
    .where(deliveries.c.finished_at.is_not(None), deliveries.c.finished_at < bindparam("before"))
    .order_by(deliveries.c.finished_at)
    .limit(bindparam("limit"))
)
_delete = delete(deliveries).where(in_list(deliveries.c.id, "ids"))
# The receivers of an integration are the receivers of this many newest deliveries.
_RECEIVERS_FROM = 1_000
_FILTERS = {
    "state": deliveries.c.state,
    "integration": deliveries.c.integration,
    "receiver": deliveries.c.receiver,
    "event": deliveries.c.event_type,
}
# One index lookup per integration, however many deliveries each has.
_select_next_integration = select(func.min(deliveries.c.integration)).where(
    deliveries.c.user_id == bindparam("user"), deliveries.c.integration > bindparam("after")
)
_newest = (
    select(deliveries.c.receiver)
    .where(deliveries.c.user_id == bindparam("user"), deliveries.c.integration == bindparam("integration"))
    .order_by(deliveries.c.id.desc())
    .limit(bindparam("limit"))
    .subquery()
)
_select_receivers = select(_newest.c.receiver).distinct()

# Maximum number of failed deliveries that are counted.
_MAX_COUNTED = 10_000
_newest_failed = (
    select(deliveries.c.integration)
    .where(deliveries.c.user_id == bindparam("user"), deliveries.c.state == DeliveryState.FAILED.value)
    .order_by(deliveries.c.id.desc())
    .limit(_MAX_COUNTED)
    .subquery()
)
_count_failed = select(_newest_failed.c.integration, func.count()).group_by(_newest_failed.c.integration)


class ListedDelivery(Struct, frozen=True):
    """A delivery in a list."""

    delivery: Delivery
    next_attempt_at: Instant | None
    """None when no attempt will follow."""


def add(
    db: Write,
    user_id: int,
    *,
    delivery_id: str,
    integration: str,
    event_type: str,
    receiver: str,
    feed_id: int | None,
    body: bytes,
    now: Instant,
) -> int:
    """Add a delivery that is due now, and return its id.

    integration: its name, or the key of a webhook. receiver: deliveries to one receiver are sent in order.
    feed_id: None if it is of no single feed. body: the bytes that are sent.
    """
    id_ = db.insert(
        insert(deliveries).values(
            user_id=user_id,
            delivery_id=delivery_id,
            integration=integration,
            event_type=event_type,
            receiver=receiver,
            feed_id=feed_id,
            size=len(body),
            created_at=now,
        )
    )
    db.run(_insert_body, delivery_id=id_, body=body.decode())
    return id_


def get(db: Read, user_id: int, id_: int) -> ListedDelivery | None:
    """Return a delivery of the user; None if there is none."""
    for delivery, row in db.joined(Delivery, _select_listed.where(*_is_owned), user=user_id, delivery=id_):
        return ListedDelivery(delivery, row["next_attempt_at"])
    return None


def body(db: Read, user_id: int, id_: int) -> bytes | None:
    """Return the body of a delivery of the user, None if it is no longer stored."""
    text = db.scalar(_select_body, user=user_id, delivery=id_)
    return None if text is None else text.encode()


def list_deliveries(
    db: Read,
    user_id: int,
    *,
    state: DeliveryState | None = None,
    integration: str | None = None,
    receiver: str | None = None,
    event_type: str | None = None,
    before_id: int | None = None,
    limit: int,
    offset: int = 0,
) -> list[ListedDelivery]:
    """Return deliveries, newest first. integration: a name, or the key of a webhook. receiver: needs `integration`."""
    is_saved = event_type == SAVE_ENTRY
    filters = {
        "state": state and state.value,
        "integration": integration,
        "receiver": receiver,
        "event": None if is_saved else event_type,
        "before": before_id,
    }
    used = {name: value for name, value in filters.items() if value is not None}
    rows = db.joined(Delivery, _list_statement(tuple(used), is_saved), user=user_id, limit=limit, offset=offset, **used)
    return [ListedDelivery(delivery, row["next_attempt_at"]) for delivery, row in rows]


def integrations_of(db: Read, user_id: int) -> list[str]:
    """Return the names of integrations with deliveries of the user."""
    names: list[str] = []
    while (after := db.scalar(_select_next_integration, user=user_id, after=names[-1] if names else "")) is not None:
        names.append(after)
    return names


def failed_counts(db: Read, user_id: int) -> dict[str, int]:
    """Return how many deliveries of the user were given up and are still kept, by integration, up to _MAX_COUNTED."""
    return {row[0]: row[1] for row in db.tuples(_count_failed, user=user_id)}


def receivers_of(db: Read, user_id: int, integration: str) -> list[str]:
    """Return the receivers of the newest deliveries of an integration."""
    return sorted(db.scalars(_select_receivers, user=user_id, integration=integration, limit=_RECEIVERS_FROM))


def remove_waiting(db: Write, user_id: int, integration: str) -> int:
    """Delete the deliveries of an integration that wait, with their queues. Returns their number."""
    # No worker moves deliveries into these queues in the meantime.
    statements.advisory_lock(db, _LOCK_ID)
    db.run(_delete_receivers, user=user_id, integration=integration)
    return db.run(_delete_waiting, user=user_id, integration=integration)


def redeliver(db: Write, user_id: int, id_: int, *, now: Instant) -> None:
    """Enqueue a finished delivery again; a pending one becomes due now."""
    if not db.run(_reopen, user=user_id, delivery=id_, now=now):
        # The queue first: a worker that stores a result locks the receiver before the delivery.
        db.run(_make_queue_due, user=user_id, delivery=id_, now=now)
        db.run(_retry_now, user=user_id, delivery=id_, now=now)


def delete_finished(db: Write, *, before: Instant, limit: int) -> int:
    """Delete deliveries finished before `before`, oldest first. Returns their number."""
    ids = db.scalars(_select_finished, before=before, limit=limit)
    return db.run(_delete, ids=ids) if ids else 0


@lru_cache(maxsize=64)
def _list_statement(filters: tuple[str, ...], is_saved: bool) -> Select[Any]:
    statement = _select_listed.where(deliveries.c.user_id == bindparam("user"))
    for name, column in _FILTERS.items():
        if name in filters:
            statement = statement.where(column == bindparam(name))
    if is_saved:
        # Exactly the condition of the partial index: otherwise neither engine uses it.
        statement = statement.where(literal_column("event_type = 'save_entry'"))
    if "before" in filters:
        statement = statement.where(deliveries.c.id < bindparam("before"))
    return statement.order_by(deliveries.c.id.desc()).limit(bindparam("limit")).offset(bindparam("offset"))


# Queues

# How many new deliveries one transaction puts into queues.
ENQUEUE_BATCH = 1_000
# Advisory lock, any number: two workers that enqueue at the same time could change the order of deliveries.
_LOCK_ID = 7_430_510

_PENDING = text("deliveries.state = 'pending'")
_select_new = (
    select(deliveries.c.id, deliveries.c.user_id, deliveries.c.integration, deliveries.c.receiver, deliveries.c.size)
    .where(deliveries.c.receiver_id.is_(None), _PENDING)
    .order_by(deliveries.c.id)
    .limit(bindparam("limit"))
)
_select_receiver_id = select(receivers.c.id).where(
    receivers.c.user_id == bindparam("user"),
    receivers.c.integration == bindparam("integration"),
    receivers.c.address_digest == bindparam("digest"),
)
_enqueue = update(deliveries).where(*_is_owned).values(receiver_id=bindparam("queue"))
_is_queue = (receivers.c.user_id == bindparam("user"), receivers.c.id == bindparam("queue"))
_add_to_size = (
    update(receivers)
    .where(*_is_queue)
    .values(
        pending=receivers.c.pending + bindparam("more"),
        pending_bytes=receivers.c.pending_bytes + bindparam("bytes"),
        next_attempt_at=case(
            # It waits only for deliveries that stepped aside, which do not hold back a new one.
            (
                and_(receivers.c.failing_since.is_(None), receivers.c.next_attempt_at > bindparam("now")),
                bindparam("now"),
            ),
            else_=func.coalesce(receivers.c.next_attempt_at, bindparam("now")),
        ),
    )
)
_select_size = select(receivers.c.pending, receivers.c.pending_bytes, receivers.c.attempted_id).where(*_is_queue)
_totals = (func.sum(receivers.c.pending), func.sum(receivers.c.pending_bytes))
_select_users_over = (
    select(receivers.c.user_id)
    .where(in_list(receivers.c.user_id, "users"))
    .group_by(receivers.c.user_id)
    .having(or_(_totals[0] > bindparam("max_number"), _totals[1] > bindparam("max_bytes")))
)
_lock_queues_of_user = (
    select(receivers.c.id, receivers.c.integration, receivers.c.pending, receivers.c.pending_bytes)
    .where(receivers.c.user_id == bindparam("user"), receivers.c.pending > 0)
    .order_by(receivers.c.id)
    .with_for_update()
)
_of_user = full_text.without_index(deliveries.c.user_id) == bindparam("user")
_is_waiting = (deliveries.c.receiver_id == bindparam("queue"), _of_user, _PENDING)
_select_oldest = select(deliveries.c.id, deliveries.c.size).where(*_is_waiting).order_by(deliveries.c.id).limit(500)
_is_kept = select(literal(1)).where(*_is_waiting, deliveries.c.id == bindparam("kept"))
_fail = update(deliveries).where(_of_user, in_list(deliveries.c.id, "ids"))
_delete_bodies = delete(delivery_bodies).where(in_list(delivery_bodies.c.delivery_id, "ids"))

_is_free = or_(receivers.c.claimed_until.is_(None), receivers.c.claimed_until <= bindparam("now"))
_is_due = (receivers.c.next_attempt_at.is_not(None), receivers.c.next_attempt_at <= bindparam("now"), _is_free)
# Literals, since neither engine uses a partial index for a condition with a parameter.
_SUCCEEDING, _FAILING = text("failures = 0"), text("failures > 0")
_has_work = select(
    or_(
        select(literal(1)).where(deliveries.c.receiver_id.is_(None), _PENDING).exists(),
        select(literal(1)).where(*_is_due, _SUCCEEDING).exists(),
        select(literal(1)).where(*_is_due, _FAILING).exists(),
    )
)
_select_due = select(*columns(receivers, ReceiverQueue)).where(*_is_due)
_select_due = _select_due.order_by(receivers.c.next_attempt_at, receivers.c.id).limit(bindparam("limit"))
_claim_succeeding = _select_due.where(_SUCCEEDING).with_for_update(skip_locked=True)
_claim_failing = _select_due.where(_FAILING).with_for_update(skip_locked=True)
_claim = (
    update(receivers)
    .where(in_list(full_text.without_index(receivers.c.user_id), "users"), in_list(receivers.c.id, "ids"))
    .values(claimed_until=bindparam("until"), claimed_by=bindparam("worker"))
)
_is_held = (*_is_queue, receivers.c.claimed_by == bindparam("worker"))
_lock_held = (
    select(receivers.c.id)
    .where(
        in_list(full_text.without_index(receivers.c.user_id), "users"),
        in_list(receivers.c.id, "ids"),
        receivers.c.claimed_by == bindparam("worker"),
    )
    .order_by(receivers.c.id)
    .with_for_update()
)
_renew = update(receivers).where(*_is_held).values(claimed_until=bindparam("until"))
_record_result = (
    update(receivers)
    .where(*_is_queue)
    .values(
        claimed_until=bindparam("until"),
        failures=bindparam("failures"),
        failing_since=bindparam("since"),
        given_up=bindparam("given_up"),
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
_select_waiting = (
    select(*columns(deliveries, Delivery), delivery_bodies.c.body)
    .select_from(deliveries.outerjoin(delivery_bodies))
    .where(*_is_waiting)
    .limit(1)
)
_select_first = _select_waiting.where(deliveries.c.retry_at.is_(None)).order_by(deliveries.c.id)
_HAS_RETRY = text("deliveries.retry_at IS NOT NULL")
_select_first_retry = _select_waiting.where(_HAS_RETRY, deliveries.c.retry_at <= bindparam("now")).order_by(
    deliveries.c.retry_at
)
_next_retry = select(func.min(deliveries.c.retry_at)).where(*_is_waiting, _HAS_RETRY).scalar_subquery()
_record_attempt = (
    update(deliveries)
    .where(*_is_owned)
    .values(
        attempts=deliveries.c.attempts + 1,
        state=bindparam("new_state"),
        finished_at=bindparam("finished"),
        last_status=bindparam("status"),
        last_error=bindparam("error"),
        last_error_form=bindparam("error_form"),
        last_response=bindparam("response"),
        failed_tries=bindparam("tries"),
        retry_at=bindparam("retry"),
    )
)
_select_still_pending = select(deliveries.c.id).where(
    in_list(full_text.without_index(deliveries.c.user_id), "users"), in_list(deliveries.c.id, "ids"), _PENDING
)
_update_queue = update(receivers).where(*_is_queue)
_set_attempted = _update_queue.values(attempted_id=bindparam("delivery"))
_release = _update_queue.values(claimed_until=None, claimed_by="")
_is_enqueued_before = func.coalesce(deliveries.c.redelivered_at, deliveries.c.created_at) <= bindparam("before")
_measure = select(func.count().label("number"), func.coalesce(func.sum(deliveries.c.size), 0).label("bytes")).where(
    *_is_waiting
)
_set_size = _update_queue.values(
    pending=bindparam("number"),
    pending_bytes=bindparam("bytes"),
    next_attempt_at=case((literal(0) < bindparam("number"), receivers.c.next_attempt_at)),
)
_wait_for_retries = _update_queue.values(
    next_attempt_at=_next_retry,
    # The delivery that it waits for has failed before, and must not take the place of a receiver that works.
    failures=case((and_(receivers.c.failures == 0, receivers.c.pending > 0), 1), else_=receivers.c.failures),
)
_delete_receivers = delete(receivers).where(
    receivers.c.user_id == bindparam("user"), receivers.c.integration == bindparam("integration")
)
_delete_waiting = delete(deliveries).where(
    deliveries.c.user_id == bindparam("user"), deliveries.c.integration == bindparam("integration"), _PENDING
)
_select_idle = select(receivers.c.id).where(receivers.c.next_attempt_at.is_(None), _is_free).limit(bindparam("limit"))
_delete_idle = delete(receivers).where(receivers.c.id.in_(_select_idle))


class AttemptRecord(Struct, frozen=True):
    """The result of one attempt, as it is stored."""

    queue: ReceiverQueue
    """The receiver after the attempt."""
    delivery: Delivery
    """With `failed_tries` and `retry_at` after the attempt."""
    next_at: Instant
    """When the receiver's next delivery is attempted."""
    state: DeliveryState
    """The delivery's state after the attempt."""
    status: int = 0
    error: Message | None = None
    response: str = ""


class EnqueueResult(Struct, frozen=True):
    """What `enqueue` moved into queues."""

    count: int
    """Number of deliveries that were moved."""
    dropped: Mapping[tuple[int, str], int]
    """How many were given up because their queue was full, by user and integration."""
    users: frozenset[int] = frozenset()
    """Users whose deliveries they are."""


def has_work(db: Read, now: Instant) -> bool:
    """Return whether a claim would find work. Takes no lock."""
    return bool(db.scalar(_has_work, now=now))


def enqueue(db: Write, *, now: Instant, limits: QueueLimits) -> EnqueueResult:
    """Move up to ENQUEUE_BATCH new deliveries into their receivers' queues."""
    statements.advisory_lock(db, _LOCK_ID)
    arrived = db.rows(_select_new, limit=ENQUEUE_BATCH)
    if not arrived:
        return EnqueueResult(0, {})
    queues: dict[tuple[int, str, str], list[tuple[int, int]]] = {}
    for row in arrived:
        receiver = (row["user_id"], row["integration"], row["receiver"])
        queues.setdefault(receiver, []).append((row["id"], row["size"]))
    ids = {receiver: _receiver_id(db, *receiver) for receiver in queues}
    owners = {ids[receiver]: receiver[:2] for receiver in queues}
    by_receiver = {ids[receiver]: waiting for receiver, waiting in queues.items()}
    db.run_many(
        _enqueue,
        [
            {"user": owners[receiver_id][0], "delivery": id_, "queue": receiver_id}
            for receiver_id, waiting in by_receiver.items()
            for id_, _ in waiting
        ],
    )
    dropped: Counter[tuple[int, str]] = Counter()
    # In the order of ids, to avoid deadlocks: a worker that serves a receiver locks only that row.
    for receiver_id, waiting in sorted(by_receiver.items()):
        user_id, size = owners[receiver_id][0], sum(size for _, size in waiting)
        db.run(_add_to_size, user=user_id, queue=receiver_id, more=len(waiting), bytes=size, now=now)
        if count := _enforce_limits(db, user_id, receiver_id, limits, now):
            dropped[owners[receiver_id]] += count
    return EnqueueResult(len(arrived), dropped, frozenset(row["user_id"] for row in arrived))


def users_over_limits(db: Read, user_ids: Collection[int], limits: QueueLimits) -> list[int]:
    """Return the given users for whom more is pending, for all receivers together, than the limits allow."""
    if not user_ids:
        return []
    number, size = limits.max_deliveries_of_user, limits.max_bytes_of_user
    return db.scalars(_select_users_over, users=list(user_ids), max_number=number, max_bytes=size)


def enforce_user_limits(db: Write, user_id: int, limits: QueueLimits, now: Instant) -> Mapping[str, int]:
    """Fail the oldest deliveries of the user's longest queues until all are within the limits of a user.

    Each queue keeps at least one delivery, as in `_enforce_limits`. Returns how many were failed, by integration. Call
    it in a separate transaction: it locks the receivers in the order of their ids.
    """
    queues = db.rows(_lock_queues_of_user, user=user_id)
    share = QueueLimits(
        max_deliveries=fair_share([queue["pending"] for queue in queues], limits.max_deliveries_of_user),
        max_bytes=fair_share([queue["pending_bytes"] for queue in queues], limits.max_bytes_of_user),
    )
    dropped: Counter[str] = Counter()
    long = [one for one in queues if one["pending"] > share.max_deliveries or one["pending_bytes"] > share.max_bytes]
    for queue in long:
        if count := _enforce_limits(db, user_id, queue["id"], share, now):
            dropped[queue["integration"]] += count
    return dropped


def claim(db: Write, worker: str, *, now: Instant, until: Instant, limit: int, max_failing: int) -> list[ReceiverQueue]:
    """Claim the longest due receivers for `worker`. max_failing: how many may have failed last time."""
    claimed = db.all(ReceiverQueue, _claim_failing, now=now, limit=max_failing) if max_failing > 0 else []
    claimed += db.all(ReceiverQueue, _claim_succeeding, now=now, limit=limit - len(claimed))
    if claimed:
        owners = {queue.user_id for queue in claimed}
        db.run(_claim, users=owners, ids=[queue.id for queue in claimed], worker=worker, until=until)
    return claimed


def renew(db: Write, user_id: int, receiver_id: int, worker: str, until: Instant) -> bool:
    """Lock the row and renew the claim. Returns False if another worker holds it."""
    return bool(db.run(_renew, user=user_id, queue=receiver_id, worker=worker, until=until))


def lock_claimed(db: Write, queues: Collection[ReceiverQueue], worker: str) -> set[int]:
    """Lock the receivers that the worker still holds, and return their ids."""
    ids, owners = sorted(queue.id for queue in queues), {queue.user_id for queue in queues}
    return set(db.scalars(_lock_held, users=owners, ids=ids, worker=worker))


def release(db: Write, user_id: int, receiver_id: int) -> None:
    """Release the claim of a receiver. The caller has the lock."""
    db.run(_release, user=user_id, queue=receiver_id)


def release_all(db: Write, worker: str) -> int:
    """Release all receivers of a worker. Returns their number."""
    return db.run(_release_all, worker=worker)


def first_pending(db: Read, user_id: int, receiver_id: int) -> tuple[Delivery, bytes | None] | None:
    """Return the first waiting delivery that has not stepped aside, with its body if that is still stored."""
    return _waiting(db, _select_first, user=user_id, queue=receiver_id)


def first_retry(db: Read, user_id: int, receiver_id: int, now: Instant) -> tuple[Delivery, bytes | None] | None:
    """Return the delivery that stepped aside and has been due again for the longest."""
    return _waiting(db, _select_first_retry, user=user_id, queue=receiver_id, now=now)


def set_attempted(db: Write, user_id: int, receiver_id: int, delivery_id: int) -> None:
    """Record which delivery is attempted next, so that a full queue keeps it. The caller has the lock."""
    db.run(_set_attempted, user=user_id, queue=receiver_id, delivery=delivery_id)


def _waiting(db: Read, statement: Select[Any], **parameters: Any) -> tuple[Delivery, bytes | None] | None:
    for delivery, row in db.joined(Delivery, statement, **parameters):
        return delivery, None if row["body"] is None else row["body"].encode()
    return None


def record_attempts(db: Write, attempts: Sequence[AttemptRecord], *, now: Instant, until: Instant) -> None:
    """Record attempts and renew the claims until `until`. The caller has locked the receivers; each occurs once."""
    # A delivery that was given up in the meantime, because the queue was full, stays failed.
    owners = {attempt.queue.user_id for attempt in attempts}
    pending = set(db.scalars(_select_still_pending, users=owners, ids=[attempt.delivery.id for attempt in attempts]))
    counted = [attempt for attempt in attempts if attempt.delivery.id in pending]
    db.run_many(_record_attempt, [_attempt_row(attempt, now) for attempt in counted])
    finished = {
        attempt.queue.id: attempt.delivery.size for attempt in counted if attempt.state is not DeliveryState.PENDING
    }
    db.run_many(
        _record_result,
        [
            {
                "user": attempt.queue.user_id,
                "queue": attempt.queue.id,
                "until": until,
                "failures": attempt.queue.failures,
                "since": attempt.queue.failing_since,
                "given_up": attempt.queue.given_up,
                "done": int(attempt.queue.id in finished),
                "bytes": finished.get(attempt.queue.id, 0),
                "next": attempt.next_at,
            }
            for attempt in attempts
        ],
    )


def _attempt_row(attempt: AttemptRecord, now: Instant) -> dict[str, Any]:
    error = error_columns(attempt.error)
    return {
        "user": attempt.queue.user_id,
        "delivery": attempt.delivery.id,
        "new_state": attempt.state.value,
        "finished": None if attempt.state is DeliveryState.PENDING else now,
        "status": attempt.status,
        "error": error["last_error"],
        "error_form": error["last_error_form"],
        "response": attempt.response,
        "tries": attempt.delivery.failed_tries,
        "retry": attempt.delivery.retry_at,
    }


def give_up_pending(
    db: Write, user_id: int, receiver_id: int, reason: Message, *, now: Instant, before: Instant | None = None
) -> int:
    """Fail all waiting deliveries, or those queued up to `before`. Returns their number. The caller has the lock."""
    conditions = _is_waiting if before is None else (*_is_waiting, _is_enqueued_before)
    values = {"state": DeliveryState.FAILED.value, "finished_at": now, **error_columns(reason)}
    parameters: dict[str, Any] = {} if before is None else {"before": before}
    count = db.run(
        update(deliveries).where(*conditions).values(**values), user=user_id, queue=receiver_id, **parameters
    )
    recount(db, user_id, receiver_id)
    return count


def recount(db: Write, user_id: int, receiver_id: int) -> None:
    """Write the number and size of the waiting deliveries, after deliveries were failed. The caller has the lock."""
    measured = db.rows(_measure, user=user_id, queue=receiver_id)[0]
    db.run(_set_size, user=user_id, queue=receiver_id, number=measured["number"], bytes=int(measured["bytes"]))


def wait_for_retries(db: Write, user_id: int, receiver_id: int) -> None:
    """Recount the waiting deliveries when all have stepped aside, and make the queue due with the first of them.

    The caller has the lock.
    """
    recount(db, user_id, receiver_id)
    db.run(_wait_for_retries, user=user_id, queue=receiver_id)


def remove_idle(db: Write, *, now: Instant, limit: int) -> int:
    """Delete receivers without waiting deliveries. Returns their number."""
    statements.advisory_lock(db, _LOCK_ID)
    return db.run(_delete_idle, now=now, limit=limit)


def _receiver_id(db: Write, user_id: int, integration: str, receiver: str) -> int:
    digest = address_digest(receiver)
    receiver_id = db.scalar(_select_receiver_id, user=user_id, integration=integration, digest=digest)
    if receiver_id is not None:
        return int(receiver_id)
    return db.insert(insert(receivers).values(user_id=user_id, integration=integration, address_digest=digest))


def _enforce_limits(db: Write, user_id: int, receiver_id: int, limits: QueueLimits, now: Instant) -> int:
    """Fail the oldest waiting deliveries until the queue is within its limits. Returns how many.

    One is always kept: the one whose attempt may be running, which need not be the first, since others step aside or
    are sent again; or else the first.
    """
    total = 0
    queue = db.rows(_select_size, user=user_id, queue=receiver_id)[0]
    pending, size, kept = queue["pending"], queue["pending_bytes"], queue["attempted_id"]
    if kept is not None and not db.scalar(_is_kept, user=user_id, queue=receiver_id, kept=kept):
        kept = None
    while pending > limits.max_deliveries or size > limits.max_bytes:
        dropped = []
        for row in db.rows(_select_oldest, user=user_id, queue=receiver_id):
            if pending <= limits.max_deliveries and size <= limits.max_bytes:
                break
            kept = row["id"] if kept is None else kept
            if row["id"] == kept:
                continue
            dropped.append(row["id"])
            pending, size = pending - 1, size - row["size"]
        if not dropped:
            break
        db.run(
            _fail.values(state=DeliveryState.FAILED.value, finished_at=now, **error_columns(QUEUE_OVERFLOWED)),
            user=user_id,
            ids=dropped,
        )
        db.run(_delete_bodies, ids=dropped)
        recount(db, user_id, receiver_id)
        total += len(dropped)
    return total
