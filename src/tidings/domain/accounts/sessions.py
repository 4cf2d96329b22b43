"""Sessions: a browser that is signed in."""

from __future__ import annotations

import hashlib

from msgspec import Struct

from tidings.domain.times import DAY, MINUTE, Instant

# Of days without a visit.
LASTS = Instant(30 * DAY)
WRITE_VISIT_EVERY = Instant(1 * MINUTE)
MAX_USER_AGENT = 500


class Session(Struct, frozen=True):
    """user_agent, address: as they were when it began."""

    id: int
    user_id: int
    created_at: Instant
    last_seen_at: Instant
    expires_at: Instant
    user_agent: str
    address: str


def digest(token: str) -> bytes:
    """What is kept of a token. It is random enough: nothing slower is needed."""
    return hashlib.sha256(token.encode("utf-8", "replace")).digest()
