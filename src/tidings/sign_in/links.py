"""Links that are used once: invitations by administrators, and sign-ins that the command line has made."""

from __future__ import annotations

import secrets
from typing import Final

from tidings.base.errors import InvalidField, NotFound
from tidings.base.messages import msg
from tidings.base.text import reject_nul
from tidings.base.times import DAY, HOUR, Instant
from tidings.domain.accounts.events import COMMAND_LINE, AccountEvent, EventKind, Origin
from tidings.domain.accounts.sessions import token_digest
from tidings.domain.accounts.users import User
from tidings.engine.database import Database, Read
from tidings.services.accounts.users import Users, by_name, prepare_user
from tidings.services.clock import Clock
from tidings.services.listeners import Listeners
from tidings.sign_in import account_links_store, limits_store
from tidings.sign_in.account_links_store import AccountLink
from tidings.sign_in.limits_model import Limits
from tidings.storage.accounts import users

TOKEN_BYTES: Final = 32
INVITATION_LIFETIME: Final = Instant(DAY)
SIGN_IN_LIFETIME: Final = Instant(HOUR)
MAX_NOTE: Final = 200

NO_PASSWORDS: Final = msg("Accounts have no passwords here: sign in in one of the other ways.")
UNKNOWN_LINK = msg("This link was used, or is too old: ask for another one.")


class AccountLinks:
    def __init__(self, database: Database, clock: Clock, listeners: Listeners) -> None:
        self._database = database
        self._clock = clock
        self._listeners = listeners
        self._users = Users(database, clock, listeners)

    def invite(self, caller: User, origin: Origin, *, note: str, is_admin: bool, limits: Limits) -> str:
        """Invite someone to create an account. Returns the token at the end of the link, which is not stored.

        note: for whom it is, in the words of the administrator. Raises InvalidField.
        """
        note = reject_nul(note.strip(), field="note")
        if len(note) > MAX_NOTE:
            raise InvalidField("note", msg("too long, {max:,} characters at most.", max=MAX_NOTE))
        token, now = secrets.token_urlsafe(TOKEN_BYTES), self._clock()
        link = AccountLink(
            0,
            None,
            note,
            caller.username,
            is_admin,
            limits.validated().packed(),
            now,
            Instant(now + INVITATION_LIFETIME),
        )
        with self._database.writing() as db:
            account_links_store.add(db, link, digest=token_digest(token))
            self._listeners.tell_account(
                db,
                AccountEvent.of(EventKind.INVITED, caller, at=now, origin=origin, detail=note),
            )
        return token

    def invitations(self) -> list[AccountLink]:
        """Return the open invitations, the newest first."""
        with self._database.reading() as db:
            return [one for one in account_links_store.invitations(db, self._clock()) if _may_invite(db, one)]

    def withdraw(self, caller: User, link_id: int, origin: Origin) -> None:
        """Delete an invitation. Raises NotFound."""
        with self._database.writing() as db:
            note = account_links_store.remove_invitation(db, link_id)
            if note is None:
                raise NotFound(msg("There is no invitation {id}.", id=link_id))
            self._listeners.tell_account(
                db,
                AccountEvent.of(EventKind.INVITATION_REMOVED, caller, at=self._clock(), origin=origin, detail=note),
            )

    def invitation(self, token: str) -> AccountLink | None:
        """Return the invitation with this token, None if it was used, has expired, or its administrator is none now."""
        with self._database.reading() as db:
            link = account_links_store.by_hash(db, token_digest(token), self._clock())
            return link if link and link.for_user_id is None and _may_invite(db, link) else None

    def accept(self, token: str, username: str, password: str, origin: Origin) -> User:
        """Create the account that an invitation allows, once. Raises NotFound, and InvalidField for its values."""
        link = self.invitation(token)
        if link is None:
            raise NotFound(UNKNOWN_LINK)
        new = prepare_user(username, password, is_admin=link.is_admin)
        with self._database.writing() as db:
            user = self._users.add(db, new, origin=origin)
            limits = Limits.unpacked(link.limits)
            if limits != Limits():
                limits_store.set_limits(db, user.id, limits)
            if not _may_invite(db, link) or not account_links_store.use(db, link.id):
                raise NotFound(UNKNOWN_LINK)
            return user

    def make_sign_in(self, username: str) -> str:
        """Return the token of a link with which a user signs in once. Earlier ones are void. Raises NotFound."""
        token, now = secrets.token_urlsafe(TOKEN_BYTES), self._clock()
        with self._database.writing() as db:
            user = by_name(db, username)
            account_links_store.remove_of_user(db, user.id)
            link = AccountLink(0, user.id, "", "", False, "{}", now, Instant(now + SIGN_IN_LIFETIME))
            account_links_store.add(db, link, digest=token_digest(token))
            self._listeners.tell_account(db, AccountEvent.of(EventKind.INVITED, user, at=now, origin=COMMAND_LINE))
        return token

    def owner(self, token: str) -> User | None:
        """Return who may sign in with a link, None if it was used or has expired."""
        link = self._find(token)
        if link is None or link.for_user_id is None:
            return None
        with self._database.reading() as db:
            return users.get(db, link.for_user_id)

    def use_sign_in(self, token: str) -> User:
        """Return who signs in with a link, once. Raises NotFound."""
        link, user = self._find(token), self.owner(token)
        if link is not None and user is not None:
            with self._database.writing() as db:
                if account_links_store.use(db, link.id):
                    return user
        raise NotFound(UNKNOWN_LINK)

    def _find(self, token: str) -> AccountLink | None:
        with self._database.reading() as db:
            return account_links_store.by_hash(db, token_digest(token), self._clock())


def _may_invite(db: Read, link: AccountLink) -> bool:
    """Return whether the administrator who made an invitation is one still: else links would outlast the role."""
    inviter = users.by_name(db, link.invited_by)
    return inviter is not None and inviter.is_admin
