"""Documents pushed by hubs, kept until a worker has stored them; a subscription's are stored one after the other."""

from __future__ import annotations

from msgspec import Struct
from sqlalchemy import bindparam, delete, exists, func, or_, select, update

from tidings.base.times import Instant
from tidings.engine.database import Read, Write, columns
from tidings.engine.upsert import upsert
from tidings.storage.schema import websub_pushes


class Push(Struct, frozen=True):
    """A pushed document."""

    id: int
    subscription_id: int
    charset: str
    body: bytes
    received_at: Instant
    attempts: int
    """How often it was claimed, including this time."""


_earlier = websub_pushes.alias("earlier")
_is_first = ~exists().where(
    _earlier.c.subscription_id == websub_pushes.c.subscription_id, _earlier.c.id < websub_pushes.c.id
)
_is_free = or_(websub_pushes.c.claimed_until.is_(None), websub_pushes.c.claimed_until <= bindparam("now"))
_select_free = select(websub_pushes.c.id).where(_is_first, _is_free)
_has_free = select(exists(_select_free))
_select_next = _select_free.order_by(websub_pushes.c.id).limit(1).with_for_update(of=websub_pushes, skip_locked=True)
_claim = (
    update(websub_pushes)
    .where(websub_pushes.c.id.in_(_select_next.scalar_subquery()))
    .values(claimed_until=bindparam("until"), attempts=websub_pushes.c.attempts + 1)
    .returning(*columns(websub_pushes, Push))
)
_is_of_subscription = websub_pushes.c.subscription_id == bindparam("subscription")
_count = select(func.count()).select_from(websub_pushes).where(_is_of_subscription)
_insert = upsert(websub_pushes, ["subscription_id", "digest"])
_delete = delete(websub_pushes).where(websub_pushes.c.id == bindparam("push"))


def count(db: Read, subscription_id: int) -> int:
    """Returns how many pushes of a subscription are waiting."""
    return int(db.scalar(_count, subscription=subscription_id))


def add(db: Write, subscription_id: int, body: bytes, *, digest: bytes, charset: str, now: Instant) -> None:
    """Add a push, unless one with the same body is waiting."""
    row = {"subscription_id": subscription_id, "body": body, "digest": digest, "charset": charset, "received_at": now}
    db.run(_insert.values(**row))


def any_free(db: Read, now: Instant) -> bool:
    """Returns whether `claim` would find a push. Takes no lock."""
    return bool(db.scalar(_has_free, now=now))


def claim(db: Write, *, now: Instant, until: Instant) -> Push | None:
    """Claim the longest waiting free push until `until`. Returns None if there is none."""
    return db.one(Push, _claim, now=now, until=until)


def remove(db: Write, push_id: int) -> None:
    db.run(_delete, push=push_id)
