"""Sign-ins that lack their second step."""

from __future__ import annotations

from sqlalchemy import bindparam, delete, insert, select

from tidings.base.times import Instant
from tidings.domain.accounts.sessions import PendingSignIn
from tidings.engine.database import Read, Write, columns
from tidings.storage.schema import pending_sign_ins

_table = pending_sign_ins
_select_by_hash = select(*columns(_table, PendingSignIn)).where(
    _table.c.token_hash == bindparam("digest"), _table.c.expires_at > bindparam("now")
)
_delete = delete(_table).where(_table.c.user_id == bindparam("user"), _table.c.id == bindparam("pending"))
_delete_of_user = delete(_table).where(_table.c.user_id == bindparam("user"))
_select_expired = select(_table.c.id).where(_table.c.expires_at <= bindparam("now")).limit(bindparam("limit"))
_delete_expired = delete(_table).where(_table.c.id.in_(_select_expired.scalar_subquery()))


def by_hash(db: Read, digest: bytes, now: Instant) -> PendingSignIn | None:
    """Return the sign-in with this token hash; None if it does not exist or has expired."""
    return db.one(PendingSignIn, _select_by_hash, digest=digest, now=now)


def add(db: Write, user_id: int, pending: PendingSignIn, *, digest: bytes) -> None:
    """Add a sign-in. pending: its `id` is ignored. digest: hash of the token."""
    db.run(
        insert(_table).values(
            user_id=user_id,
            token_hash=digest,
            method=pending.method,
            next=pending.next,
            is_shared=pending.is_shared,
            note=pending.note,
            expires_at=pending.expires_at,
        )
    )


def remove(db: Write, user_id: int, pending_id: int) -> bool:
    """Delete a sign-in. Returns False if it was used already."""
    return db.run(_delete, user=user_id, pending=pending_id) > 0


def remove_all(db: Write, user_id: int) -> None:
    """Delete all of a user."""
    db.run(_delete_of_user, user=user_id)


def remove_expired(db: Write, now: Instant, limit: int) -> int:
    """Delete up to `limit` expired sign-ins. Returns how many."""
    return db.run(_delete_expired, now=now, limit=limit)
