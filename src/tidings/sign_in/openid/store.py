"""The statements of linked identities, and of sessions that have begun at the provider."""

from __future__ import annotations

from sqlalchemy import bindparam, delete, insert, select, update

from tidings.base.times import Instant
from tidings.engine.database import Read, Write, columns
from tidings.engine.statements import upsert
from tidings.sign_in.openid.model import Identity, ProviderSession
from tidings.sign_in.tables import identities, provider_sessions

_select = select(*columns(identities, Identity))
_select_by_subject = _select.where(
    identities.c.issuer == bindparam("issuer"), identities.c.subject == bindparam("subject")
)
_select_by_user = _select.where(identities.c.user_id == bindparam("user")).order_by(identities.c.id)
_is_owned = (identities.c.user_id == bindparam("user"), identities.c.id == bindparam("identity"))
_set_used = update(identities).where(*_is_owned).values(last_used_at=bindparam("now"), name=bindparam("shown"))
_delete = delete(identities).where(*_is_owned)
_set_session = upsert(
    provider_sessions, ["session_id"], update=("user_id", "issuer", "subject", "provider_session_id", "id_token")
)
_select_sessions = select(*columns(provider_sessions, ProviderSession))
_select_session = _select_sessions.where(
    provider_sessions.c.user_id == bindparam("user"), provider_sessions.c.session_id == bindparam("session")
)
_select_by_provider_session = _select_sessions.where(
    provider_sessions.c.issuer == bindparam("issuer"), provider_sessions.c.provider_session_id == bindparam("sid")
)
_select_sessions_of_subject = _select_sessions.where(
    provider_sessions.c.issuer == bindparam("issuer"), provider_sessions.c.subject == bindparam("subject")
)


def by_subject(db: Read, issuer: str, subject: str) -> Identity | None:
    """Return the identity with this subject, whosever it is; None if it is linked with nobody."""
    return db.one(Identity, _select_by_subject, issuer=issuer, subject=subject)


def list_all(db: Read, user_id: int) -> list[Identity]:
    """Return the identities that are linked with the user."""
    return db.all(Identity, _select_by_user, user=user_id)


def add(db: Write, user_id: int, *, issuer: str, subject: str, name: str, now: Instant) -> int:
    """Link an identity with the user, and return its id."""
    return db.insert(
        insert(identities).values(
            user_id=user_id, issuer=issuer, subject=subject, name=name, created_at=now, last_used_at=now
        )
    )


def set_used(db: Write, user_id: int, identity_id: int, *, name: str, now: Instant) -> None:
    """Record a sign-in with the identity."""
    db.run(_set_used, user=user_id, identity=identity_id, shown=name, now=now)


def remove(db: Write, user_id: int, identity_id: int) -> bool:
    """Unlink an identity. Returns False if the user has no such identity."""
    return db.run(_delete, user=user_id, identity=identity_id) > 0


def set_session(db: Write, session: ProviderSession) -> None:
    """Store how a session of ours belongs to one at the provider."""
    db.run(
        _set_session.values(
            session_id=session.session_id,
            user_id=session.user_id,
            issuer=session.issuer,
            subject=session.subject,
            provider_session_id=session.provider_session_id,
            id_token=session.id_token,
        )
    )


def session(db: Read, user_id: int, session_id: int) -> ProviderSession | None:
    """Return how a session of the user began at the provider; None if it began in another way."""
    return db.one(ProviderSession, _select_session, user=user_id, session=session_id)


def sessions_of(db: Read, issuer: str, subject: str, provider_session_id: str) -> list[ProviderSession]:
    """Return the sessions of one session at the provider; of all sessions of the subject if it is "".

    The provider speaks of all its users.
    """
    if provider_session_id:
        found = db.all(ProviderSession, _select_by_provider_session, issuer=issuer, sid=provider_session_id)
        return [one for one in found if subject in ("", one.subject)]
    return db.all(ProviderSession, _select_sessions_of_subject, issuer=issuer, subject=subject)
