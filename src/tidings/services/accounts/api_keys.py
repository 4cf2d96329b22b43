"""Creates and deletes API keys."""

from __future__ import annotations

import secrets

from tidings.base.errors import InvalidField, NotFound
from tidings.base.messages import msg
from tidings.domain.accounts.api_keys import description_key, validate_description
from tidings.engine.database import Database
from tidings.services.clock import Clock
from tidings.storage.accounts import api_keys
from tidings.storage.accounts.api_keys import ApiKey

TOKEN_BYTES = 32


class ApiKeys:
    def __init__(self, database: Database, clock: Clock) -> None:
        self._database = database
        self._clock = clock

    def create(self, user_id: int, description: str, *, needs_icon_object: bool = False) -> ApiKey:
        """Create a key with a random token. Raises InvalidField if the user has one with this description.

        needs_icon_object: it is for an app that fails at a feed whose icon is null.
        """
        description = validate_description(description)
        key, token = description_key(description), secrets.token_hex(TOKEN_BYTES)
        with self._database.writing() as db:
            if api_keys.description_taken(db, user_id, key):
                raise InvalidField(
                    "description",
                    msg("you already have a key for {description}.", description=repr(description.strip()[:60])),
                )
            return api_keys.add(
                db,
                user_id,
                description=description,
                description_key=key,
                token=token,
                now=self._clock(),
                needs_icon_object=needs_icon_object,
            )

    def delete(self, user_id: int, key_id: int) -> None:
        """Delete a key of the user. Raises NotFound."""
        with self._database.writing() as db:
            if not api_keys.remove(db, user_id, key_id):
                raise NotFound(msg("There is no API key {id}.", id=key_id))
