"""Sessions: a browser signed in as a user."""

from __future__ import annotations

import hashlib

from msgspec import Struct

from tidings.base.times import DAY, MINUTE, Instant
from tidings.domain.accounts.events import Method

# A session ends after this time without a request.
SESSION_LIFETIME = Instant(30 * DAY)
# `last_seen_at` is not written more often than this.
LAST_SEEN_INTERVAL = Instant(1 * MINUTE)
# What can take over an account asks for another proof of who the user is when the last one is older.
FRESH_FOR = Instant(10 * MINUTE)
# A sign-in that lacks its second step is forgotten after this time.
PENDING_LIFETIME = Instant(10 * MINUTE)


class Session(Struct, frozen=True):
    """A user who is signed in with a browser. Address and browser are from the request that started the session."""

    id: int
    user_id: int
    created_at: Instant
    last_seen_at: Instant
    expires_at: Instant
    user_agent: str
    address: str
    method: str = ""
    """How the user signed in: a method, or two joined by a plus sign. Empty for sessions of earlier versions."""
    authenticated_at: Instant = Instant(0)
    """When the user last proved who they are."""


class PendingSignIn(Struct, frozen=True):
    """A sign-in that lacks its second step. It is not a session: it opens nothing but the page of that step."""

    id: int
    user_id: int
    method: str
    """The first step."""
    next: str
    """The path to open afterwards."""
    is_shared: bool
    """Other people use this browser too."""
    note: str
    """What the way of signing in keeps with the session."""
    expires_at: Instant


def is_fresh(session: Session, now: Instant) -> bool:
    """Return whether the user has proved who they are within the last minutes."""
    return now - session.authenticated_at < FRESH_FOR


def method_text(first: Method, second: Method | None = None) -> str:
    """Return how a user signed in, as sessions store it."""
    return f"{first}+{second}" if second else str(first)


def token_digest(token: str) -> bytes:
    """Return the form in which a session token is stored. Tokens are random, so that no slow hash is needed."""
    return hashlib.sha256(token.encode("utf-8", "replace")).digest()
