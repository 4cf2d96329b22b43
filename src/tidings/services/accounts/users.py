"""Creates, changes and deletes users."""

from __future__ import annotations

import secrets
from collections.abc import Iterable, Mapping
from functools import cache
from typing import Any
from zoneinfo import available_timezones

from msgspec import Struct, structs

from tidings.base.errors import Forbidden, InvalidField, InvalidInput, NotFound
from tidings.base.messages import msg
from tidings.base.text import normalize_for_search
from tidings.domain.accounts import user_changes
from tidings.domain.accounts.events import COMMAND_LINE, AccountEvent, EventKind, Origin
from tidings.domain.accounts.users import User, validate_password, validate_username
from tidings.engine.database import Database, Read, Write
from tidings.services.accounts.passwords import hash_password, unusable_hash
from tidings.services.clock import Clock
from tidings.services.listeners import Listeners
from tidings.storage.accounts import pending_sign_ins, sessions, users
from tidings.storage.entries import counters, entries
from tidings.storage.feeds import bulk, categories

FIRST_CATEGORY = "All"
# What the log of an account has of its changes. The values are told, except those of other services.
_TOLD = ("username", "is_admin", "allow_account_password_in_apps", *user_changes.FOREIGN_IDS)
_SPEEDS = ("default_reading_speed", "cjk_reading_speed")


class NewUser(Struct, frozen=True):
    """A user to add, whose values are valid."""

    username: str
    password_hash: str
    is_admin: bool
    foreign_ids: dict[str, str]

    def __repr__(self) -> str:
        return f"NewUser({self.username!r})"


def prepare_user(username: str, password: str | None, *, is_admin: bool = False, **foreign_ids: str) -> NewUser:
    """Return a user to add. It hashes the password, which takes a while: not within a transaction.

    password: None for a user without one. Raises InvalidField for invalid values.
    """
    fields = {"username": username, **foreign_ids} | ({} if password is None else {"password": password})
    values = user_changes.validate(fields, zones=known_zones())
    password_hash = unusable_hash() if password is None else hash_password(values["password"])
    return NewUser(values["username"], password_hash, is_admin, foreign_ids)


# What accounts begin with.
_AS_NEW = {one.name: one.default for one in structs.fields(User) if one.name in ("language", "timezone")}


class Users:
    def __init__(self, database: Database, clock: Clock, listeners: Listeners | None = None) -> None:
        self._database = database
        self._clock = clock
        self._listeners = listeners or Listeners()

    def create(
        self,
        username: str,
        password: str | None,
        *,
        caller: User | None = None,
        origin: Origin = COMMAND_LINE,
        is_admin: bool = False,
        google_id: str = "",
        openid_connect_id: str = "",
    ) -> User:
        """Create a user with one category. Raises InvalidField for invalid values and for names that are taken.

        password: None for a user who signs in in other ways only, until a password is set.
        caller: the administrator who creates the user; None if it is nobody with an account.
        """
        new = prepare_user(
            username, password, is_admin=is_admin, google_id=google_id, openid_connect_id=openid_connect_id
        )
        with self._database.writing() as db:
            return self.add(db, new, caller=caller, origin=origin)

    def add(self, db: Write, new: NewUser, *, caller: User | None = None, origin: Origin = COMMAND_LINE) -> User:
        """Add a user in a transaction that has more to do. Raises InvalidField for names that are taken."""
        _ensure_free(db, new.foreign_ids)
        user = self._add(db, new.username, new.password_hash, is_admin=new.is_admin, **new.foreign_ids)
        self._tell(db, EventKind.USER_CREATED, user, caller, origin, "administrator" if new.is_admin else "")
        return user

    def begin_as_browser(self, user: User, *, language: str, timezone: str) -> None:
        """Give an account that signs in for the first time the language and the time zone of its browser.

        What has been chosen for it stays, and so does the zone if the browser's is not known here.
        """
        if user.last_login_at is not None:
            return
        told = {"language": language, "timezone": timezone if user_changes.is_zone(timezone, known_zones()) else ""}
        values = {name: value for name, value in told.items() if value and getattr(user, name) == _AS_NEW[name]}
        with self._database.writing() as db:
            users.change(db, user.id, **values)

    def update(
        self,
        caller: User,
        user_id: int,
        fields: Mapping[str, Any],
        *,
        session_id: int | None = None,
        origin: Origin = COMMAND_LINE,
    ) -> User:
        """Change a user and return the result. `caller` is an administrator or the user, who cannot become one.

        fields: the fields of the API that were sent. A new password ends all sessions of the user but `session_id`.
        Raises Forbidden, NotFound and InvalidField.
        """
        # Before the user is looked up, so that callers without permission do not learn which ids exist.
        _permit_update(caller, user_id, fields)
        if "password" in fields and self._listeners.passwords_disabled:
            raise Forbidden(msg("Passwords cannot be changed: nobody signs in with one here."))
        with self._database.reading() as db:
            by_id(db, user_id)
        values = user_changes.validate(fields, zones=known_zones())
        if "password" in values:
            values["password_hash"] = hash_password(values.pop("password"))
        values |= {column: True for name, column in user_changes.CHOSEN.items() if name in values}
        with self._database.writing() as db:
            if values.get("is_admin") is False:
                _ensure_another_admin(db, by_id(db, user_id))
            _ensure_free(db, values, besides=user_id)
            user = by_id(db, user_id)
            if _changes(user, values, _SPEEDS):
                values["reading_times_after"] = 0
            if _changes(user, values, user_changes.RULES):
                # The next checks add entries that the documents have and that are not blocked any more.
                counters.lock_all(db, user_id)
                bulk.forget_documents(db, user_id)
            users.change(db, user_id, **values)
            if _changes(user, values, ("category_titles",)):
                categories.retitle(db, user_id)
            changed = by_id(db, user_id)
            if "password_hash" in values:
                self._end_sessions(db, user_id, session_id)
                self._tell(db, EventKind.PASSWORD_CHANGED, changed, caller, origin)
            if told := [_told(changed, name) for name in _TOLD if _changes(user, values, (name,))]:
                self._tell(db, EventKind.USER_CHANGED, changed, caller, origin, ", ".join(told))
            return changed

    def delete(self, caller: User, user_id: int, origin: Origin = COMMAND_LINE) -> None:
        """Delete a user with all data. Raises NotFound, and InvalidInput for the caller or the only administrator."""
        if user_id == caller.id:
            raise InvalidInput(msg("You cannot delete your own account: ask another administrator."), field="user_id")
        with self._database.writing() as db:
            self._remove(db, by_id(db, user_id), caller, origin)

    def ensure_admin(self, username: str, password: str | None) -> str | None:
        """Create an administrator if there are no users. Returns the generated password, or None if none was."""
        with self._database.reading() as db:
            if users.count(db):
                return None
        chosen = password or secrets.token_urlsafe(12)
        name, password_hash = validate_username(username), hash_password(validate_password(chosen))
        with self._database.writing() as db:
            # Two processes may start at the same time: only one finds the table empty.
            if users.count(db):
                return None
            user = self._add(db, name, password_hash, is_admin=True)
            self._tell(db, EventKind.USER_CREATED, user, None, COMMAND_LINE, "administrator")
        return None if password else chosen

    def set_password(self, username: str, password: str) -> None:
        """Set the password of a user and end all sessions. Raises NotFound."""
        password_hash = hash_password(validate_password(password))
        with self._database.writing() as db:
            user = by_name(db, username)
            users.change(db, user.id, password_hash=password_hash)
            self._end_sessions(db, user.id, None)
            self._tell(db, EventKind.PASSWORD_CHANGED, user, None, COMMAND_LINE)

    def remove_second_factors(self, username: str) -> int:
        """Remove the second factors of a user, and return their number. Raises NotFound."""
        with self._database.writing() as db:
            user = by_name(db, username)
            count = sum(remove(db, user) for remove in self._listeners.second_factor_removals)
            if count:
                self._tell(db, EventKind.FACTOR_REMOVED, user, None, COMMAND_LINE)
            return count

    def remove(self, username: str) -> None:
        """Delete a user by name, with all data. Raises NotFound, and InvalidInput for the only administrator."""
        with self._database.writing() as db:
            self._remove(db, by_name(db, username), None, COMMAND_LINE)

    def find(self, username: str) -> User:
        """Return the user with this name. Raises NotFound."""
        with self._database.reading() as db:
            return by_name(db, username)

    def require_free(self, username: str) -> None:
        """Raise InvalidInput unless a new user may have this name."""
        name = validate_username(username)
        with self._database.reading() as db:
            _ensure_free(db, {"username": name})

    def list_all(self) -> list[User]:
        with self._database.reading() as db:
            return users.list_all(db)

    def mark_read(self, user_id: int) -> int:
        """Mark all unread entries read, even those dated in the future. Returns their number."""
        now = self._clock()
        with self._database.writing() as db:
            count = entries.mark_read(db, user_id, now=now)
            self._listeners.tell_marked_read(db, user_id, count, now)
            return count

    def _add(self, db: Write, username: str, password_hash: str, *, is_admin: bool, **more: Any) -> User:
        _ensure_free(db, {"username": username})
        user_id = users.add(
            db, username=username, password_hash=password_hash, is_admin=is_admin, now=self._clock(), **more
        )
        categories.add(
            db, user_id, title=FIRST_CATEGORY, title_key=normalize_for_search(FIRST_CATEGORY), hide_globally=False
        )
        return by_id(db, user_id)

    def _remove(self, db: Write, user: User, caller: User | None, origin: Origin) -> None:
        if user.is_admin:
            _ensure_another_admin(db, user)
        # Polls lock counters first too: in another order, the two transactions would deadlock.
        counters.lock_all(db, user.id)
        users.remove(db, user.id)
        self._listeners.tell_account(
            db,
            AccountEvent(
                kind=EventKind.USER_REMOVED,
                at=self._clock(),
                user_id=None,
                username=user.username,
                origin=origin,
                actor_id=caller.id if caller else None,
            ),
        )

    def _end_sessions(self, db: Write, user_id: int, kept: int | None) -> None:
        sessions.remove_others(db, user_id, kept)
        pending_sign_ins.remove_all(db, user_id)

    def _tell(
        self, db: Write, kind: EventKind, user: User, caller: User | None, origin: Origin, detail: str = ""
    ) -> None:
        self._listeners.tell_account(
            db,
            AccountEvent.of(
                kind,
                user,
                at=self._clock(),
                origin=origin,
                actor=caller,
                detail=detail,
            ),
        )


def _told(user: User, name: str) -> str:
    """Return what the log says of a changed field."""
    return name if name in user_changes.FOREIGN_IDS else f"{name}: {str(getattr(user, name)).lower()}"


def _changes(user: User, values: Mapping[str, Any], names: Iterable[str]) -> bool:
    """Return whether the values change one of these fields."""
    return any(name in values and values[name] != getattr(user, name) for name in names)


def by_id(db: Read, user_id: int) -> User:
    """Return the user with this id. Raises NotFound."""
    user = users.get(db, user_id)
    if user is None:
        raise NotFound(msg("There is no user {id}.", id=user_id))
    return user


def by_name(db: Read, username: str) -> User:
    """Return the user with this name. Raises NotFound."""
    user = users.by_name(db, username)
    if user is None:
        raise NotFound(msg("There is no user called {username}.", username=repr(username)))
    return user


def by_id_or_name(db: Read, text: str) -> User:
    """Return the user with this id or username; a number is an id first. Raises NotFound and InvalidField."""
    if not text.isprintable():  # no username contains such characters, and PostgreSQL refuses some of them
        raise InvalidField("user_id", msg("send an id or a username."))
    is_id = text.isascii() and text.isdigit() and text[0] != "0" and len(text) < 19
    user = users.get(db, int(text)) if is_id else None
    return user or by_name(db, text)


@cache
def known_zones() -> frozenset[str]:
    """Return the names of the time zones of this machine, or of the tzdata package."""
    return frozenset(available_timezones())


def _permit_update(caller: User, user_id: int, fields: Mapping[str, Any]) -> None:
    if caller.is_admin:
        return
    if caller.id != user_id:
        raise Forbidden(msg("Only an administrator may change another user."))
    if fields.get("is_admin"):
        raise InvalidField("is_admin", msg("only an administrator can make someone an administrator."))


def _ensure_another_admin(db: Write, user: User) -> None:
    """Raise InvalidInput if the user is the only administrator.

    Locks all administrators until the transaction ends: two concurrent transactions could otherwise remove both.
    """
    if users.lock_admins(db) == [user.id]:
        raise InvalidInput(
            msg("{username} is the only administrator: make another one first.", username=user.username),
            field="is_admin",
        )


def _ensure_free(db: Read, values: Mapping[str, Any], *, besides: int | None = None) -> None:
    """Raise InvalidField if another user has the username or an external id. besides: the user who may have them."""
    if "username" in values:
        holder = users.by_name(db, values["username"])
        if holder is not None and holder.id != besides:
            raise InvalidField(
                "username", msg("there is already a user called {username}.", username=repr(values["username"]))
            )
    for name in user_changes.FOREIGN_IDS:
        if values.get(name) and users.id_by_foreign_id(db, name, values[name]) not in (None, besides):
            raise InvalidField(name, msg("another user already has this one."))
