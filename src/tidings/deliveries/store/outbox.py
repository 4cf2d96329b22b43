"""The outbox: an event is written here in the transaction that causes it.

`deliveries.store.queues` delivers from it.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any

from msgspec import Struct
from sqlalchemy import Select, bindparam, case, delete, func, insert, literal_column, null, select, update

from tidings.base.times import Instant
from tidings.deliveries.events import SAVE_ENTRY, Delivery, DeliveryState
from tidings.deliveries.tables import deliveries, delivery_bodies, receivers
from tidings.engine.database import Read, Write, columns
from tidings.engine.statements import in_list

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
_queue = deliveries.outerjoin(receivers, receivers.c.id == deliveries.c.receiver_id)
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
    feed_id: int,
    body: bytes,
    now: Instant,
) -> int:
    """Add a delivery that is due now, and return its id.

    receiver: deliveries to one receiver are sent in order. body: the bytes that are sent.
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
        return ListedDelivery(delivery, row.next_attempt_at)
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
    """Return deliveries, newest first. receiver: needs `integration`."""
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
    return [ListedDelivery(delivery, row.next_attempt_at) for delivery, row in rows]


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
