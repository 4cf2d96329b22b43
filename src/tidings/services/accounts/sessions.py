"""Sessions of browsers: begin, recognise, list and end."""

from __future__ import annotations

import secrets

import msgspec
from msgspec import Struct

from tidings.base.errors import NotFound
from tidings.base.messages import msg
from tidings.base.times import Instant
from tidings.domain.accounts.sessions import LAST_SEEN_INTERVAL, MAX_USER_AGENT, SESSION_LIFETIME, Session, token_digest
from tidings.domain.accounts.users import User
from tidings.engine.database import Database
from tidings.services.clock import Clock
from tidings.storage.accounts import sessions, users

TOKEN_BYTES = 32


class SignedIn(Struct, frozen=True):
    """A user with a valid session."""

    user: User
    session: Session
    is_renewed: bool = False
    """Whether the session was extended, so that the cookie has to be sent again."""


class Sessions:
    def __init__(self, database: Database, clock: Clock) -> None:
        self._database = database
        self._clock = clock

    def begin(self, user_id: int, *, user_agent: str, address: str) -> str:
        """Begin a session after the password was verified. Returns its token, of which only a hash is stored."""
        token, now = secrets.token_urlsafe(TOKEN_BYTES), self._clock()
        agent = "".join(letter for letter in user_agent[:MAX_USER_AGENT] if letter.isprintable())
        session = Session(0, user_id, now, now, Instant(now + SESSION_LIFETIME), agent, address[:100])
        with self._database.writing() as db:
            sessions.add(db, user_id, session, digest=token_digest(token))
        return token

    def recognise(self, token: str) -> SignedIn | None:
        """Return the user and the session of a token, or None if there is no such session or it has ended.

        The visit is stored at most once a minute.
        """
        now = self._clock()
        with self._database.reading() as db:
            session = sessions.by_hash(db, token_digest(token), now)
            user = users.get(db, session.user_id) if session else None
        if session is None or user is None:
            return None
        if now - session.last_seen_at < LAST_SEEN_INTERVAL:
            return SignedIn(user, session)
        until = Instant(now + SESSION_LIFETIME)
        with self._database.writing() as db:
            sessions.set_last_seen(db, session.user_id, session.id, seen=now, until=until)
        renewed = msgspec.structs.replace(session, last_seen_at=now, expires_at=until)
        return SignedIn(user, renewed, is_renewed=True)

    def list_all(self, user_id: int) -> list[Session]:
        """Return the sessions of a user, the last used first."""
        with self._database.reading() as db:
            return sessions.list_all(db, user_id, self._clock())

    def end(self, user_id: int, session_id: int) -> None:
        """End a session of the user. Raises NotFound."""
        with self._database.writing() as db:
            if not sessions.remove(db, user_id, session_id):
                raise NotFound(msg("There is no session {id}.", id=session_id))

    def end_others(self, user_id: int, session_id: int) -> int:
        """End all sessions of the user except this one. Returns their number."""
        with self._database.writing() as db:
            return sessions.remove_others(db, user_id, session_id)
