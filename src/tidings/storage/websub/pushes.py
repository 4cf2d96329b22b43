"""What hubs pushed, kept until a worker has stored it. One subscription's pushes are taken one after the other."""

from __future__ import annotations

from msgspec import Struct
from sqlalchemy import bindparam, delete, exists, func, or_, select, update

from tidings.domain.times import Instant
from tidings.storage.engine.database import Read, Write, columns
from tidings.storage.engine.upsert import upsert
from tidings.storage.schema import websub_pushes


class Push(Struct, frozen=True):
    """attempts: this one included."""

    id: int
    subscription_id: int
    charset: str
    body: bytes
    received_at: Instant
    attempts: int


_earlier = websub_pushes.alias("earlier")
_is_first = ~exists().where(
    _earlier.c.subscription_id == websub_pushes.c.subscription_id, _earlier.c.id < websub_pushes.c.id
)
_is_free = or_(websub_pushes.c.claimed_until.is_(None), websub_pushes.c.claimed_until <= bindparam("now"))
_waiting = select(websub_pushes.c.id).where(_is_first, _is_free)
_any_waiting = select(exists(_waiting))
_next = _waiting.order_by(websub_pushes.c.id).limit(1).with_for_update(of=websub_pushes, skip_locked=True)
_take = (
    update(websub_pushes)
    .where(websub_pushes.c.id.in_(_next.scalar_subquery()))
    .values(claimed_until=bindparam("until"), attempts=websub_pushes.c.attempts + 1)
    .returning(*columns(websub_pushes, Push))
)
_of = websub_pushes.c.subscription_id == bindparam("subscription")
_count = select(func.count()).select_from(websub_pushes).where(_of)
_add = upsert(websub_pushes, ["subscription_id", "digest"])
_remove = delete(websub_pushes).where(websub_pushes.c.id == bindparam("push"))


def waiting(db: Read, subscription_id: int) -> int:
    return int(db.scalar(_count, subscription=subscription_id))


def add(db: Write, subscription_id: int, body: bytes, *, digest: bytes, charset: str, now: Instant) -> None:
    """The same body again, while the first one still waits, is dropped."""
    row = {"subscription_id": subscription_id, "body": body, "digest": digest, "charset": charset, "received_at": now}
    db.run(_add.values(**row))


def any_free(db: Read, now: Instant) -> bool:
    return bool(db.scalar(_any_waiting, now=now))


def take(db: Write, *, now: Instant, until: Instant) -> Push | None:
    """The longest waiting one that nobody holds, held until then."""
    return db.one(Push, _take, now=now, until=until)


def remove(db: Write, push_id: int) -> None:
    db.run(_remove, push=push_id)
