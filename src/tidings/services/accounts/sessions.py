"""Sessions of browsers: begin, recognise, list and end. And sign-ins that lack their second step."""

from __future__ import annotations

import secrets

import msgspec
from msgspec import Struct

from tidings.base.errors import NotFound
from tidings.base.messages import msg
from tidings.base.times import Instant
from tidings.domain.accounts.events import AccountEvent, EventKind, Method, Origin
from tidings.domain.accounts.sessions import (
    LAST_SEEN_INTERVAL,
    PENDING_LIFETIME,
    SESSION_LIFETIME,
    PendingSignIn,
    Session,
    method_text,
    token_digest,
)
from tidings.domain.accounts.users import User
from tidings.engine.database import Database, Write
from tidings.services.clock import Clock
from tidings.services.listeners import Listeners
from tidings.storage.accounts import pending_sign_ins, sessions, users

TOKEN_BYTES = 32


class SignedIn(Struct, frozen=True):
    """A user with a valid session."""

    user: User
    session: Session
    is_renewed: bool = False
    """Whether the session was extended, so that the cookie has to be sent again."""


class Sessions:
    def __init__(self, database: Database, clock: Clock, listeners: Listeners | None = None) -> None:
        self._database = database
        self._clock = clock
        self._listeners = listeners or Listeners()

    def begin(
        self,
        user: User,
        origin: Origin,
        *,
        second: Method | None = None,
        note: str = "",
        before: SignedIn | None = None,
    ) -> str:
        """Begin a session of a user who has proved who they are. Returns its token, of which only a hash is stored.

        origin: with the method. second: the second step, if there was one. note: see `AccountEvent`.
        before: the session of this browser until now. It goes on with another token if it is the same user's, and ends
        otherwise.
        """
        token, now = secrets.token_urlsafe(TOKEN_BYTES), self._clock()
        method = method_text(origin.method, second) if origin.method else ""
        until = Instant(now + SESSION_LIFETIME)
        with self._database.writing() as db:
            session_id = 0
            if before is not None and before.user.id != user.id:
                self._end(db, before.user, before.session.id, origin)
            elif before is not None:
                renewed = msgspec.structs.replace(
                    before.session, last_seen_at=now, expires_at=until, method=method, authenticated_at=now
                )
                is_open = sessions.renew(db, user.id, renewed, digest=token_digest(token))
                session_id = before.session.id if is_open else 0
            if not session_id:
                session = Session(0, user.id, now, now, until, origin.user_agent, origin.address, method, now)
                session_id = sessions.add(db, user.id, session, digest=token_digest(token))
            users.set_last_login(db, user.id, now)
            self._listeners.tell_account(
                db,
                AccountEvent(
                    kind=EventKind.SIGNED_IN,
                    at=now,
                    user_id=user.id,
                    username=user.username,
                    origin=origin,
                    second_method=second,
                    session_id=session_id,
                    note=note,
                ),
            )
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

    def sign_out(self, signed_in: SignedIn, origin: Origin) -> None:
        """End the session of the browser that asks for it."""
        with self._database.writing() as db:
            self._end(db, signed_in.user, signed_in.session.id, origin)

    def end(self, user: User, session_id: int, origin: Origin) -> None:
        """End a session of the user, from another browser. Raises NotFound."""
        with self._database.writing() as db:
            if not sessions.remove(db, user.id, session_id):
                raise NotFound(msg("There is no session {id}.", id=session_id))
            self._tell(db, EventKind.SESSION_ENDED, user, origin)

    def end_others(self, user: User, session_id: int | None, origin: Origin) -> int:
        """End all sessions of the user except this one, if given. Returns their number."""
        with self._database.writing() as db:
            pending_sign_ins.remove_all(db, user.id)
            count = sessions.remove_others(db, user.id, session_id)
            self._tell(db, EventKind.SESSIONS_ENDED, user, origin)
            return count

    def _end(self, db: Write, user: User, session_id: int, origin: Origin) -> None:
        if sessions.remove(db, user.id, session_id):
            self._tell(db, EventKind.SIGNED_OUT, user, origin)

    def _tell(self, db: Write, kind: EventKind, user: User, origin: Origin) -> None:
        self._listeners.tell_account(db, AccountEvent.of(kind, user, at=self._clock(), origin=origin))


class PendingSignIns:
    """Sign-ins that lack their second step. A browser keeps the token of its own in a cookie."""

    def __init__(self, database: Database, clock: Clock) -> None:
        self._database = database
        self._clock = clock

    def begin(self, user_id: int, method: Method, *, next_path: str, is_shared: bool, note: str = "") -> str:
        """Store that the first step was right. Returns a token, of which only a hash is stored.

        next_path: the path to open afterwards.
        """
        token = secrets.token_urlsafe(TOKEN_BYTES)
        until = Instant(self._clock() + PENDING_LIFETIME)
        pending = PendingSignIn(0, user_id, str(method), next_path, is_shared, note, until)
        with self._database.writing() as db:
            pending_sign_ins.add(db, user_id, pending, digest=token_digest(token))
        return token

    def find(self, token: str) -> tuple[User, PendingSignIn] | None:
        """Return the sign-in with this token and its user; None if there is none, or not any more."""
        if not token:
            return None
        with self._database.reading() as db:
            pending = pending_sign_ins.by_hash(db, token_digest(token), self._clock())
            user = users.get(db, pending.user_id) if pending else None
        return (user, pending) if user and pending else None

    def use(self, pending: PendingSignIn) -> bool:
        """Remove a sign-in whose second step was right. Returns False if it was used already."""
        with self._database.writing() as db:
            return pending_sign_ins.remove(db, pending.user_id, pending.id)
