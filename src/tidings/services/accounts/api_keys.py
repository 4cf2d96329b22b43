"""Creates and deletes API keys."""

from __future__ import annotations

import secrets

from tidings.base.errors import InvalidField, NotFound
from tidings.base.messages import msg
from tidings.domain.accounts.api_keys import description_key, validate_description
from tidings.domain.accounts.events import COMMAND_LINE, MAX_DETAIL, AccountEvent, EventKind, Origin
from tidings.domain.accounts.rights import ALL_RIGHTS, Rights
from tidings.domain.accounts.users import User
from tidings.engine.database import Database, Write
from tidings.services.clock import Clock
from tidings.services.listeners import Listeners
from tidings.storage.accounts import api_keys
from tidings.storage.accounts.api_keys import ApiKey

TOKEN_BYTES = 32


class ApiKeys:
    def __init__(self, database: Database, clock: Clock, listeners: Listeners | None = None) -> None:
        self._database = database
        self._clock = clock
        self._listeners = listeners or Listeners()

    def create(
        self,
        user: User,
        description: str,
        origin: Origin = COMMAND_LINE,
        *,
        rights: Rights = ALL_RIGHTS,
        is_token_kept: bool = True,
        needs_icon_object: bool = False,
    ) -> ApiKey:
        """Create a key with a random token. Raises InvalidField if the user has one with this description.

        is_token_kept: lists show the token again; otherwise only its hash is stored.
        needs_icon_object: it is for an app that fails at a feed whose icon is null.
        """
        description = validate_description(description)
        key, token = description_key(description), secrets.token_hex(TOKEN_BYTES)
        with self._database.writing() as db:
            if api_keys.description_taken(db, user.id, key):
                raise InvalidField(
                    "description",
                    msg("you already have a key for {description}.", description=repr(description.strip()[:60])),
                )
            created = api_keys.add(
                db,
                user.id,
                description=description,
                description_key=key,
                token=token,
                now=self._clock(),
                rights=rights,
                is_token_kept=is_token_kept,
                needs_icon_object=needs_icon_object,
            )
            self._tell(db, EventKind.API_KEY_CREATED, user, created.description, origin)
            return created

    def delete(self, user: User, key_id: int, origin: Origin = COMMAND_LINE) -> None:
        """Delete a key of the user. Raises NotFound."""
        with self._database.writing() as db:
            description = api_keys.remove(db, user.id, key_id)
            if description is None:
                raise NotFound(msg("There is no API key {id}.", id=key_id))
            self._tell(db, EventKind.API_KEY_REMOVED, user, description, origin)

    def _tell(self, db: Write, kind: EventKind, user: User, description: str, origin: Origin) -> None:
        self._listeners.tell_account(
            db,
            AccountEvent.of(kind, user, at=self._clock(), origin=origin, detail=description.strip()[:MAX_DETAIL]),
        )
