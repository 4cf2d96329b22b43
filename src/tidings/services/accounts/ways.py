"""The ways into an account: the password, and what slices add to it."""

from __future__ import annotations

from collections.abc import Sequence

from tidings.base.errors import InvalidInput
from tidings.base.messages import msg
from tidings.domain.accounts.events import Method
from tidings.domain.accounts.sessions import Session
from tidings.domain.accounts.users import User
from tidings.engine.database import Database, Read, Write
from tidings.services.accounts import passwords
from tidings.services.listeners import AccountWay, Listeners, SignInWay
from tidings.storage.accounts import users


class LastWayIn(InvalidInput):
    """Without this way, nobody could sign in to the account any more."""


class AccountWays:
    def __init__(self, database: Database, listeners: Listeners) -> None:
        self._database = database
        self._listeners = listeners

    @property
    def offered(self) -> Sequence[SignInWay]:
        """The ways that the sign-in page offers besides the password."""
        return self._listeners.sign_in_ways

    @property
    def accepts_passwords(self) -> bool:
        """Whether users sign in with the passwords of their accounts."""
        return not self._listeners.passwords_disabled

    def has_password(self, user_id: int) -> bool:
        """Return whether the user can sign in with a password."""
        with self._database.reading() as db:
            return self._has_password(db, user_id)

    def of(self, db: Read, user: User) -> list[AccountWay]:
        """Return all ways into an account, the password first."""
        own = [AccountWay(method=Method.PASSWORD)] if self._has_password(db, user.id) else []
        return own + [way for list_ways in self._listeners.account_ways for way in list_ways(db, user)]

    def ensure_another(self, db: Write, user: User, method: Method, id_: int = 0) -> None:
        """Raise LastWayIn unless there is a way into the account besides this one.

        Call it in the transaction that removes the way. It locks the row of the user: of two transactions that remove
        a way each, the second sees what the first has done.
        """
        users.lock(db, user.id)
        if not any((way.method, way.id) != (method, id_) for way in self.of(db, user)):
            raise LastWayIn(
                msg("This is the last way into the account: set a password or add another way first."),
            )

    def second_step(self, db: Read, user: User, method: Method) -> str | None:
        """Return the path of the page that asks for a second step after this method; None if it lets in alone."""
        return self._listeners.second_step(db, user, method)

    async def sign_out_url(self, session: Session) -> str | None:
        """Return where a user is signed out whose session began elsewhere, "" if that is not known; else None.

        Call it in the event loop, before the session ends.
        """
        for find in self._listeners.sign_out_urls:
            if (url := await find(session)) is not None:
                return url
        return None

    def _has_password(self, db: Read, user_id: int) -> bool:
        return self.accepts_passwords and passwords.is_usable(users.password_hash(db, user_id))
