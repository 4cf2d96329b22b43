"""Sessions: a browser signed in as a user."""

from __future__ import annotations

import hashlib

from msgspec import Struct

from tidings.base.times import DAY, MINUTE, Instant

# A session ends after this time without a request.
SESSION_LIFETIME = Instant(30 * DAY)
# `last_seen_at` is not written more often than this.
LAST_SEEN_INTERVAL = Instant(1 * MINUTE)
MAX_USER_AGENT = 500


class Session(Struct, frozen=True):
    """A user who is signed in with a browser. Address and browser are from the request that started the session."""

    id: int
    user_id: int
    created_at: Instant
    last_seen_at: Instant
    expires_at: Instant
    user_agent: str
    address: str


def token_digest(token: str) -> bytes:
    """Return the form in which a session token is stored. Tokens are random, so that no slow hash is needed."""
    return hashlib.sha256(token.encode("utf-8", "replace")).digest()
