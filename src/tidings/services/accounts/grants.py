"""Whether what let in a request still would: for responses that last longer than a moment."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

from tidings.base.times import Instant
from tidings.engine.database import Read
from tidings.storage.accounts import api_keys, sessions, users


@dataclass(frozen=True, slots=True)
class Grant:
    """What let in a request: an API key, a session, or else the password of the account."""

    user_id: int
    key_id: int = 0
    session_id: int = 0
    password_hash: str = ""
    """The stored one at that time."""

    def __repr__(self) -> str:
        return f"Grant({self.user_id}, key_id={self.key_id}, session_id={self.session_id})"


def with_password(db: Read, grant: Grant) -> Grant:
    """Return the grant with the hash of the password, if the password is what it is for."""
    if grant.key_id or grant.session_id or grant.password_hash:
        return grant
    return Grant(grant.user_id, password_hash=users.password_hashes(db, [grant.user_id]).get(grant.user_id, ""))


def still_valid(db: Read, grants: Collection[Grant], now: Instant) -> set[Grant]:
    """Return the grants that still hold: keys and sessions that were neither removed nor expire, and same passwords."""
    of_keys = [grant for grant in grants if grant.key_id]
    of_sessions = [grant for grant in grants if grant.session_id]
    of_passwords = [grant for grant in grants if not grant.key_id and not grant.session_id]
    keys = api_keys.valid_ids(db, _users(of_keys), [grant.key_id for grant in of_keys], now) if of_keys else set()
    ids = [grant.session_id for grant in of_sessions]
    open_sessions = sessions.valid_ids(db, _users(of_sessions), ids, now) if ids else set()
    hashes = users.password_hashes(db, _users(of_passwords)) if of_passwords else {}
    return {
        grant
        for grant in grants
        if grant.key_id in keys
        or grant.session_id in open_sessions
        or (grant in of_passwords and hashes.get(grant.user_id) == grant.password_hash)
    }


def _users(grants: Collection[Grant]) -> list[int]:
    return sorted({grant.user_id for grant in grants})
