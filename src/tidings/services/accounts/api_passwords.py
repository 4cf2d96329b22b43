"""Making and removing API passwords."""

from __future__ import annotations

import secrets

from msgspec import Struct

from tidings.base.errors import InvalidField, InvalidInput, NotFound
from tidings.base.messages import msg
from tidings.domain.accounts.api_passwords import (
    MAX_PASSWORDS,
    fever_key,
    fever_key_digest,
    format_password,
    name_key,
    password_digest,
    validate_name,
)
from tidings.domain.accounts.events import COMMAND_LINE, AccountEvent, EventKind, Origin
from tidings.domain.accounts.users import User
from tidings.engine.database import Database, Write
from tidings.services.accounts.server_secret import ServerSecret
from tidings.services.clock import Clock
from tidings.services.listeners import Listeners
from tidings.storage.accounts import api_passwords
from tidings.storage.accounts.api_passwords import ApiPassword

RANDOM_BYTES = 20


class NewApiPassword(Struct, frozen=True):
    """An API password that was just created."""

    stored: ApiPassword
    password: str
    """In plain text, which is not stored anywhere."""

    def __repr__(self) -> str:
        return f"NewApiPassword({self.stored.id})"


class ApiPasswords:
    def __init__(self, database: Database, clock: Clock, listeners: Listeners | None = None) -> None:
        self._database = database
        self._clock = clock
        self._listeners = listeners or Listeners()
        self._secret = ServerSecret(database)

    def create(self, user: User, name: str, origin: Origin = COMMAND_LINE) -> NewApiPassword:
        """Make a password for an app. Raises InvalidInput for a name that is used already, or for too many."""
        name = validate_name(name)
        key = name_key(name)
        password = format_password(secrets.token_bytes(RANDOM_BYTES))
        secret = self._secret.get()
        with self._database.writing() as db:
            if api_passwords.name_taken(db, user.id, key):
                raise InvalidField("name", msg("you already have a password for {name}.", name=repr(name[:60])))
            if api_passwords.count(db, user.id) >= MAX_PASSWORDS:
                raise InvalidInput(msg("You have {max} API passwords: delete one first.", max=MAX_PASSWORDS))
            stored = api_passwords.add(
                db,
                user.id,
                name=name,
                name_key=key,
                password_digest=password_digest(secret, user.id, password),
                fever_key_digest=fever_key_digest(secret, fever_key(user.username, password)),
                now=self._clock(),
            )
            self._tell(db, EventKind.API_PASSWORD_CREATED, user, name, origin)
        return NewApiPassword(stored, password)

    def list_all(self, user_id: int) -> list[ApiPassword]:
        """Return the API passwords of a user, by name."""
        with self._database.reading() as db:
            return api_passwords.list_all(db, user_id)

    def delete(self, user: User, password_id: int, origin: Origin = COMMAND_LINE) -> None:
        """Delete an API password: all tokens and keys derived from it are refused from now on. Raises NotFound."""
        with self._database.writing() as db:
            name = api_passwords.remove(db, user.id, password_id)
            if name is None:
                raise NotFound(msg("There is no API password {id}.", id=password_id))
            self._tell(db, EventKind.API_PASSWORD_REMOVED, user, name, origin)

    def _tell(self, db: Write, kind: EventKind, user: User, name: str, origin: Origin) -> None:
        self._listeners.tell_account(
            db,
            AccountEvent.of(kind, user, at=self._clock(), origin=origin, detail=name),
        )
