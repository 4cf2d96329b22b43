"""Whose account an identity at the provider opens. The identity is issuer and subject, never a name."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from tidings.base.errors import NotFound
from tidings.base.messages import Message, msg
from tidings.domain.accounts.events import AccountEvent, EventKind, Method, Origin
from tidings.domain.accounts.users import User
from tidings.engine.database import Database, Read, Write
from tidings.services.accounts.users import Users, prepare_user
from tidings.services.accounts.ways import AccountWays
from tidings.services.clock import Clock
from tidings.services.concurrent_changes import repeat_if_concurrent
from tidings.services.listeners import AccountWay, Listeners
from tidings.sign_in.openid import store
from tidings.sign_in.openid.claims import Profile, Subject
from tidings.sign_in.openid.errors import NotAdmitted
from tidings.sign_in.openid.model import MAX_ID_TOKEN, Identity, ProviderSession, SessionNote
from tidings.sign_in.openid.provider import OpenIdConfig
from tidings.storage.accounts import sessions, users


class NameTaken(NotAdmitted):
    """There is an account with this name, which is not linked with the identity: it may be someone else's."""

    status = 409

    def __init__(self, username: str) -> None:
        super().__init__(_NAME_TAKEN.with_values(username=username), f"the account {username!r} is not linked with it")
        self.username = username


class OpenIdAccounts:
    """Signs in whom the provider has signed in, and links identities with accounts."""

    def __init__(
        self, config: OpenIdConfig, database: Database, clock: Clock, listeners: Listeners, *, users: Users
    ) -> None:
        self._config = config
        self._database = database
        self._clock = clock
        self._listeners = listeners
        self._users = users
        self._ways = AccountWays(database, listeners)

    def sign_in(self, profile: Profile, origin: Origin) -> User:
        """Return the user that the identity is linked with, or a new one. Raises NotAdmitted."""
        self._check_groups(profile)
        return repeat_if_concurrent(lambda: self._sign_in(profile, replace(origin, method=Method.OPENID)))

    def confirm(self, profile: Profile, caller: User) -> User:
        """Return the user who has proved again who they are. Raises NotAdmitted if it is someone else."""
        self._check_groups(profile)
        with self._database.writing() as db:
            identity = store.by_subject(db, profile.issuer, profile.subject)
            if identity is None or identity.user_id != caller.id:
                raise NotAdmitted(
                    _OTHER_PERSON.with_values(username=caller.username), "it is not linked with the account"
                )
            store.set_used(db, caller.id, identity.id, name=profile.shown_name, now=self._clock())
        return caller

    def link(self, profile: Profile, caller: User, origin: Origin) -> None:
        """Link an identity with the account of the caller. Raises NotAdmitted if it belongs to another account."""
        self._check_groups(profile)
        with self._database.writing() as db:
            identity = store.by_subject(db, profile.issuer, profile.subject)
            if identity is not None and identity.user_id != caller.id:
                raise NotAdmitted(_LINKED_ELSEWHERE, "it is linked with another account")
            if identity is None:
                self._link(db, caller, profile, origin)

    def unlink(self, caller: User, identity_id: int, origin: Origin) -> None:
        """Unlink an identity. Raises NotFound, and LastWayIn for the last way into the account."""
        with self._database.writing() as db:
            identity = next((one for one in store.list_all(db, caller.id) if one.id == identity_id), None)
            if identity is None:
                raise NotFound(msg("There is no linked sign-in {id}.", id=identity_id))
            self._ways.ensure_another(db, caller, Method.OPENID, identity_id)
            store.remove(db, caller.id, identity_id)
            self._tell(db, EventKind.IDENTITY_UNLINKED, caller, origin, identity.name)

    def list_all(self, user_id: int) -> list[Identity]:
        with self._database.reading() as db:
            return store.list_all(db, user_id)

    def session(self, user_id: int, session_id: int) -> ProviderSession | None:
        """Return how a session began at the provider; None if it began in another way."""
        with self._database.reading() as db:
            return store.session(db, user_id, session_id)

    def end_sessions(self, subject: Subject, origin: Origin) -> int:
        """End the sessions that a logout token names. Returns their number."""
        origin = replace(origin, method=Method.OPENID)
        with self._database.writing() as db:
            found = store.sessions_of(db, subject.issuer, subject.subject, subject.session_id)
            for one in found:
                user = users.get(db, one.user_id)
                if user is not None and sessions.remove(db, one.user_id, one.session_id):
                    self._tell(db, EventKind.SESSION_ENDED, user, origin, "signed out at the provider")
        return len(found)

    # Listeners

    def ways_of(self, db: Read, user: User) -> Sequence[AccountWay]:
        """Return the identities with which the user can sign in."""
        return [
            AccountWay(method=Method.OPENID, id=one.id, name=f"{self._config.name}: {one.name}")
            for one in store.list_all(db, user.id)
        ]

    def remember_session(self, db: Write, event: AccountEvent) -> None:
        """Store how a session that begins belongs to one at the provider."""
        is_ours = event.kind is EventKind.SIGNED_IN and event.origin.method is Method.OPENID
        if not is_ours or event.session_id is None or event.user_id is None or not event.note:
            return
        note = SessionNote.unpack(event.note)
        store.set_session(
            db,
            ProviderSession(
                event.session_id, event.user_id, note.issuer, note.subject, note.provider_session_id, note.id_token
            ),
        )

    # Steps

    def _check_groups(self, profile: Profile) -> None:
        allowed = self._config.allowed_groups
        if allowed is not None and not allowed & set(profile.groups):
            raise NotAdmitted(_NOT_IN_GROUP, f"is in none of the allowed groups, but in {_listed(profile.groups)}")

    def _sign_in(self, profile: Profile, origin: Origin) -> User:
        with self._database.reading() as db:
            is_known = store.by_subject(db, profile.issuer, profile.subject) is not None
        new = None
        if not is_known:
            self._check_new(profile)
            new = prepare_user(profile.username, None, is_admin=self._is_admin(profile) or False)
        with self._database.writing() as db:
            identity = store.by_subject(db, profile.issuer, profile.subject)
            user = users.get(db, identity.user_id) if identity else None
            if identity is not None and user is not None:
                store.set_used(db, user.id, identity.id, name=profile.shown_name, now=self._clock())
                return self._with_role(db, user, profile, origin)
            if new is None:
                raise NotAdmitted(_NO_ACCOUNT, "its account was removed at this moment")
            if users.by_name(db, new.username) is not None:
                raise NameTaken(new.username)
            added = self._users.add(db, new, origin=origin)
            self._link(db, added, profile, origin)
            return added

    def _check_new(self, profile: Profile) -> None:
        """Raise NotAdmitted unless someone without an account may get one."""
        if not profile.username:
            raise NotAdmitted(_NO_NAME, "the provider sent neither preferred_username nor email that can be a username")
        with self._database.reading() as db:
            is_taken = users.by_name(db, profile.username) is not None
        if is_taken:
            raise NameTaken(profile.username)
        if not self._config.creates_users:
            raise NotAdmitted(_NO_ACCOUNT, "it has no account, and TIDINGS_OAUTH2_USER_CREATION is off")

    def _is_admin(self, profile: Profile) -> bool | None:
        """Return whether the provider makes the user an administrator; None if it does not decide about that."""
        groups = self._config.admin_groups
        return None if groups is None else bool(groups & set(profile.groups))

    def _with_role(self, db: Write, user: User, profile: Profile, origin: Origin) -> User:
        """Return the user with the role that the provider's groups say. The last administrator stays one."""
        is_admin = self._is_admin(profile)
        if is_admin is None or is_admin == user.is_admin:
            return user
        if not is_admin and users.lock_admins(db) == [user.id]:
            return user
        users.change(db, user.id, is_admin=is_admin)
        role = "is_admin: true, by groups of the provider" if is_admin else "is_admin: false, by groups of the provider"
        self._tell(db, EventKind.USER_CHANGED, user, origin, role)
        return users.get(db, user.id) or user

    def _link(self, db: Write, user: User, profile: Profile, origin: Origin) -> None:
        now = self._clock()
        store.add(db, user.id, issuer=profile.issuer, subject=profile.subject, name=profile.shown_name, now=now)
        self._tell(db, EventKind.IDENTITY_LINKED, user, origin, profile.shown_name)

    def _tell(self, db: Write, kind: EventKind, user: User, origin: Origin, detail: str) -> None:
        self._listeners.tell_account(
            db,
            AccountEvent.of(kind, user, at=self._clock(), origin=origin, detail=detail),
        )


def note_of(profile: Profile) -> str:
    """Return what is kept with the session of someone whom the provider has signed in."""
    token = profile.id_token if len(profile.id_token) <= MAX_ID_TOKEN else ""
    return SessionNote(profile.issuer, profile.subject, profile.session_id, token).pack()


def _listed(groups: Sequence[str]) -> str:
    return ", ".join(map(repr, groups[:20])) if groups else "no group"


_NAME_TAKEN: Message = msg(
    "There already is an account {username} here, and it is not linked with your sign-in. If it is yours: sign in to "
    "it in another way, and link the two."
)
_OTHER_PERSON = msg(
    "The sign-in service has signed in someone else than {username}. Sign out there, and try again with the right "
    "account."
)
_LINKED_ELSEWHERE = msg(
    "This sign-in is already linked with another account of this service. Unlink it there first, or use another one."
)
_NOT_IN_GROUP = msg(
    "Your account at the sign-in service may not use Tidings: it is in none of the groups that may. Ask its "
    "administrator."
)
_NO_NAME = msg(
    "The sign-in service sends no name that an account here could have. Tell its administrator: it has to send "
    "preferred_username, or a verified email address."
)
_NO_ACCOUNT = msg("You have no account here. Ask the administrator of this service to create one.")
