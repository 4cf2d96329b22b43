"""Sessions of browsers that are signed in."""

from __future__ import annotations

from sqlalchemy import bindparam, delete, insert, select, update

from tidings.domain.accounts.sessions import Session
from tidings.domain.times import Instant
from tidings.storage.engine.database import Read, Write, columns
from tidings.storage.schema import sessions

_all = select(*columns(sessions, Session))
_by_hash = _all.where(sessions.c.token_hash == bindparam("digest"), sessions.c.expires_at > bindparam("now"))
_mine = sessions.c.user_id == bindparam("user")
_listed = _all.where(_mine, sessions.c.expires_at > bindparam("now")).order_by(
    sessions.c.last_seen_at.desc(), sessions.c.id.desc()
)
_visit = (
    update(sessions)
    .where(_mine, sessions.c.id == bindparam("session"))
    .values(last_seen_at=bindparam("seen"), expires_at=bindparam("until"))
)
_remove = delete(sessions).where(_mine, sessions.c.id == bindparam("session"))
_remove_others = delete(sessions).where(_mine, sessions.c.id != bindparam("kept"))
_expired = select(sessions.c.id).where(sessions.c.expires_at <= bindparam("now")).limit(bindparam("limit"))
_remove_expired = delete(sessions).where(sessions.c.id.in_(_expired.scalar_subquery()))


def by_hash(db: Read, digest: bytes, now: Instant) -> Session | None:
    """None as well when it has expired."""
    return db.one(Session, _by_hash, digest=digest, now=now)


def list_all(db: Read, user_id: int, now: Instant) -> list[Session]:
    """The one that was seen last comes first."""
    return db.all(Session, _listed, user=user_id, now=now)


def add(db: Write, user_id: int, session: Session, *, digest: bytes) -> int:
    """session: its id does not count."""
    return db.insert(
        insert(sessions).values(
            user_id=user_id,
            token_hash=digest,
            created_at=session.created_at,
            last_seen_at=session.last_seen_at,
            expires_at=session.expires_at,
            user_agent=session.user_agent,
            address=session.address,
        )
    )


def set_visit(db: Write, user_id: int, session_id: int, *, seen: Instant, until: Instant) -> None:
    db.run(_visit, user=user_id, session=session_id, seen=seen, until=until)


def remove(db: Write, user_id: int, session_id: int) -> bool:
    return db.run(_remove, user=user_id, session=session_id) > 0


def remove_others(db: Write, user_id: int, kept: int | None = None) -> int:
    """All of a user but one, or really all; how many."""
    return db.run(_remove_others, user=user_id, kept=kept or 0)


def remove_expired(db: Write, *, now: Instant, limit: int) -> int:
    """So many at most; how many it were."""
    return db.run(_remove_expired, now=now, limit=limit)
