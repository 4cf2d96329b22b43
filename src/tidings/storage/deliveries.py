"""The outbox: an event is written here in the transaction that caused it."""

from __future__ import annotations

from sqlalchemy import insert

from tidings.domain.times import Instant
from tidings.storage.database import Write
from tidings.storage.schema import deliveries


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
    return db.insert(
        insert(deliveries).values(
            user_id=user_id,
            delivery_id=delivery_id,
            integration=integration,
            event_type=event_type,
            receiver=receiver,
            feed_id=feed_id,
            body=body,
            created_at=now,
            next_attempt_at=now,
        )
    )
