"""The outbox: an event is written here in the transaction that causes it.

`storage.deliveries.queues` delivers from it.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any

from msgspec import Struct
from sqlalchemy import Select, bindparam, case, delete, func, insert, literal_column, select, update

from tidings.domain.deliveries.deliveries import Delivery, DeliveryState
from tidings.domain.deliveries.events import SAVE_ENTRY
from tidings.domain.times import Instant
from tidings.storage.engine.database import Read, Write, columns
from tidings.storage.engine.id_list import in_list
from tidings.storage.schema import deliveries, delivery_bodies, receivers

_add_body = insert(delivery_bodies)
_mine = (deliveries.c.user_id == bindparam("user"), deliveries.c.id == bindparam("which"))
_fields = columns(deliveries, Delivery)
# Only what waits has a next time: that of the queue it is in, or at once while it is in none.
_next_attempt = case(
    (
        deliveries.c.state == DeliveryState.PENDING.value,
        func.coalesce(receivers.c.next_attempt_at, deliveries.c.redelivered_at, deliveries.c.created_at),
    ),
)
_queue = deliveries.outerjoin(receivers, receivers.c.id == deliveries.c.receiver_id)
_shown = select(*_fields, _next_attempt.label("next_attempt_at")).select_from(_queue)
_body = select(delivery_bodies.c.body).where(delivery_bodies.c.delivery_id == bindparam("which"))
_again = (
    update(deliveries)
    .where(*_mine, deliveries.c.state != DeliveryState.PENDING.value)
    .values(state=DeliveryState.PENDING.value, receiver_id=None, finished_at=None, redelivered_at=bindparam("now"))
)
_hurry = (
    update(receivers)
    .where(
        receivers.c.user_id == bindparam("user"),
        receivers.c.next_attempt_at > bindparam("now"),
        receivers.c.id
        == select(deliveries.c.receiver_id)
        .where(*_mine, deliveries.c.state == DeliveryState.PENDING.value)
        .scalar_subquery(),
    )
    .values(next_attempt_at=bindparam("now"))
)
_old = (
    select(deliveries.c.id)
    .where(deliveries.c.finished_at.is_not(None), deliveries.c.finished_at < bindparam("before"))
    .order_by(deliveries.c.finished_at)
    .limit(bindparam("limit"))
)
_forget = delete(deliveries).where(in_list(deliveries.c.id, "ids"))
# So many deliveries are looked through for the receivers of an integration.
_NEWEST = 1_000
_FILTERS = {
    "state": deliveries.c.state,
    "integration": deliveries.c.integration,
    "receiver": deliveries.c.receiver,
    "event": deliveries.c.event_type,
}
# From one to the next, however many there are of each.
_next_integration = select(func.min(deliveries.c.integration)).where(
    deliveries.c.user_id == bindparam("user"), deliveries.c.integration > bindparam("after")
)
_newest = (
    select(deliveries.c.receiver)
    .where(deliveries.c.user_id == bindparam("user"), deliveries.c.integration == bindparam("integration"))
    .order_by(deliveries.c.id.desc())
    .limit(bindparam("limit"))
    .subquery()
)
_receivers = select(_newest.c.receiver).distinct()


class ListedDelivery(Struct, frozen=True):
    """next_attempt_at: None when nothing more will be tried."""

    delivery: Delivery
    next_attempt_at: Instant | None


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
    """Due at once. receiver: deliveries to one go out in order. body: what is sent, byte for byte."""
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
    db.run(_add_body, delivery_id=id_, body=body.decode())
    return id_


def get(db: Read, user_id: int, id_: int) -> ListedDelivery | None:
    for delivery, row in db.joined(Delivery, _shown.where(*_mine), user=user_id, which=id_):
        return ListedDelivery(delivery, row.next_attempt_at)
    return None


def body(db: Read, id_: int) -> bytes | None:
    """Return the body, None if it is no longer stored. The caller has checked the owner."""
    text = db.scalar(_body, which=id_)
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
    given = {name: value for name, value in filters.items() if value is not None}
    rows = db.joined(Delivery, _list(tuple(given), is_saved), user=user_id, limit=limit, offset=offset, **given)
    return [ListedDelivery(delivery, row.next_attempt_at) for delivery, row in rows]


def integrations_of(db: Read, user_id: int) -> list[str]:
    """Return the names of integrations with deliveries of the user."""
    found: list[str] = []
    while (after := db.scalar(_next_integration, user=user_id, after=found[-1] if found else "")) is not None:
        found.append(after)
    return found


def receivers_of(db: Read, user_id: int, integration: str) -> list[str]:
    """Return the receivers of the newest deliveries of an integration."""
    return sorted(db.scalars(_receivers, user=user_id, integration=integration, limit=_NEWEST))


def redeliver(db: Write, user_id: int, id_: int, *, now: Instant) -> None:
    """Enqueue a finished delivery again; a pending one becomes due now."""
    if not db.run(_again, user=user_id, which=id_, now=now):
        db.run(_hurry, user=user_id, which=id_, now=now)


def delete_finished(db: Write, *, before: Instant, limit: int) -> int:
    """Delete deliveries finished before `before`, oldest first. Returns their number."""
    ids = db.scalars(_old, before=before, limit=limit)
    return db.run(_forget, ids=ids) if ids else 0


@lru_cache(maxsize=64)
def _list(given: tuple[str, ...], is_saved: bool) -> Select[Any]:
    statement = _shown.where(deliveries.c.user_id == bindparam("user"))
    for name, column in _FILTERS.items():
        if name in given:
            statement = statement.where(column == bindparam(name))
    if is_saved:
        # The condition of the index, word for word: neither engine uses a partial one otherwise.
        statement = statement.where(literal_column("event_type = 'save_entry'"))
    if "before" in given:
        statement = statement.where(deliveries.c.id < bindparam("before"))
    return statement.order_by(deliveries.c.id.desc()).limit(bindparam("limit")).offset(bindparam("offset"))
