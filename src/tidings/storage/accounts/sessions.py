"""Sessions of signed-in browsers."""

from __future__ import annotations

from collections.abc import Collection

from sqlalchemy import bindparam, delete, insert, select, update

from tidings.base.times import Instant
from tidings.domain.accounts.sessions import Session
from tidings.engine.database import Read, Write, columns
from tidings.engine.statements import in_list
from tidings.storage.schema import sessions

_select_all = select(*columns(sessions, Session))
_select_by_hash = _select_all.where(
    sessions.c.token_hash == bindparam("digest"), sessions.c.expires_at > bindparam("now")
)
_is_owned = sessions.c.user_id == bindparam("user")
_select_valid = _select_all.where(_is_owned, sessions.c.expires_at > bindparam("now")).order_by(
    sessions.c.last_seen_at.desc(), sessions.c.id.desc()
)
_select_valid_ids = select(sessions.c.id).where(
    in_list(sessions.c.user_id, "users"), in_list(sessions.c.id, "ids"), sessions.c.expires_at > bindparam("now")
)
_set_last_seen = (
    update(sessions)
    .where(_is_owned, sessions.c.id == bindparam("session"))
    .values(last_seen_at=bindparam("seen"), expires_at=bindparam("until"))
)
_renew = (
    update(sessions)
    .where(_is_owned, sessions.c.id == bindparam("session"))
    .values(
        token_hash=bindparam("digest"),
        last_seen_at=bindparam("seen"),
        expires_at=bindparam("until"),
        method=bindparam("how"),
        authenticated_at=bindparam("proved"),
    )
)
_delete = delete(sessions).where(_is_owned, sessions.c.id == bindparam("session"))
_delete_others = delete(sessions).where(_is_owned, sessions.c.id != bindparam("kept"))
_select_expired = select(sessions.c.id).where(sessions.c.expires_at <= bindparam("now")).limit(bindparam("limit"))
_delete_expired = delete(sessions).where(sessions.c.id.in_(_select_expired.scalar_subquery()))


def by_hash(db: Read, digest: bytes, now: Instant) -> Session | None:
    """Return the session with this token hash; None if it does not exist or has expired."""
    return db.one(Session, _select_by_hash, digest=digest, now=now)


def list_all(db: Read, user_id: int, now: Instant) -> list[Session]:
    """Return the valid sessions of the user, the most recently used first."""
    return db.all(Session, _select_valid, user=user_id, now=now)


def valid_ids(db: Read, user_ids: Collection[int], session_ids: Collection[int], now: Instant) -> set[int]:
    """Return which of these sessions of these users have not ended."""
    return set(db.scalars(_select_valid_ids, users=user_ids, ids=sorted(set(session_ids)), now=now))


def add(db: Write, user_id: int, session: Session, *, digest: bytes) -> int:
    """Add a session and return its id. session: its `id` is ignored. digest: hash of the token."""
    return db.insert(
        insert(sessions).values(
            user_id=user_id,
            token_hash=digest,
            created_at=session.created_at,
            last_seen_at=session.last_seen_at,
            expires_at=session.expires_at,
            user_agent=session.user_agent,
            address=session.address,
            method=session.method,
            authenticated_at=session.authenticated_at,
        )
    )


def renew(db: Write, user_id: int, session: Session, *, digest: bytes) -> bool:
    """Store that the user of a session has signed in again. Returns False if the session has ended.

    digest: hash of the new token, which replaces the one before.
    """
    return (
        db.run(
            _renew,
            user=user_id,
            session=session.id,
            digest=digest,
            seen=session.last_seen_at,
            until=session.expires_at,
            how=session.method,
            proved=session.authenticated_at,
        )
        > 0
    )


def set_last_seen(db: Write, user_id: int, session_id: int, *, seen: Instant, until: Instant) -> None:
    """Record a request of the session and move its expiry. until: when it expires."""
    db.run(_set_last_seen, user=user_id, session=session_id, seen=seen, until=until)


def remove(db: Write, user_id: int, session_id: int) -> bool:
    """Delete a session. Returns False if the user has no such session."""
    return db.run(_delete, user=user_id, session=session_id) > 0


def remove_others(db: Write, user_id: int, kept: int | None = None) -> int:
    """Delete all sessions of a user except `kept`, if given. Returns how many."""
    return db.run(_delete_others, user=user_id, kept=kept or 0)


def remove_expired(db: Write, *, now: Instant, limit: int) -> int:
    """Delete up to `limit` expired sessions. Returns how many."""
    return db.run(_delete_expired, now=now, limit=limit)
