"""Tokens for the URLs at which other feed readers can follow a user's lists."""

from __future__ import annotations

import secrets

from tidings.domain.accounts.users import User
from tidings.engine.database import Database
from tidings.services.clock import Clock
from tidings.storage.accounts import users
from tidings.storage.entries import feed_links

TOKEN_BYTES = 24


class FeedLinks:
    def __init__(self, database: Database, clock: Clock) -> None:
        self._database = database
        self._clock = clock

    def token(self, user_id: int) -> str:
        """Return the token of a user; "" if there is none, so that no list can be followed."""
        with self._database.reading() as db:
            return feed_links.token(db, user_id)

    def renew(self, user_id: int) -> str:
        """Create a token, or replace it, which invalidates URLs with the old one. Returns the new token."""
        token = secrets.token_urlsafe(TOKEN_BYTES)
        with self._database.writing() as db:
            feed_links.set_token(db, user_id, token, now=self._clock())
        return token

    def revoke(self, user_id: int) -> None:
        """Delete the token, which invalidates all URLs."""
        with self._database.writing() as db:
            feed_links.remove(db, user_id)

    def owner(self, token: str) -> User | None:
        """Return the user with this token, or None."""
        with self._database.reading() as db:
            user_id = feed_links.owner(db, token[:100])
            return users.get(db, user_id) if user_id is not None else None
