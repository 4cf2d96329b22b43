"""Hashes passwords with argon2id, and remembers verified ones for some minutes."""

from __future__ import annotations

import hashlib
import hmac
import secrets
import threading
from collections import OrderedDict

from argon2 import PasswordHasher
from argon2.exceptions import Argon2Error, InvalidHashError

from tidings.base.times import MINUTE, Instant

# RFC 9106 leaves the parameters to the site; these are OWASP's first recommendation: about 20 ms and 19 MiB per check.
hasher = PasswordHasher(time_cost=2, memory_cost=19 * 1024, parallelism=1)
REMEMBER_FOR = 10 * MINUTE
MAX_REMEMBERED = 10_000


def hash_password(password: str) -> str:
    return hasher.hash(password)


def unusable_hash() -> str:
    """Return what is stored for a user without a password. It is secret, as hashes are: tokens are signed with it."""
    return f"!{secrets.token_hex(32)}"


def is_usable(password_hash: str) -> bool:
    """Return whether there is a password that this is the hash of."""
    return not password_hash.startswith("!")


def matches(password_hash: str, password: str) -> bool:
    """Verify a password. It takes as long if there is none."""
    try:
        return hasher.verify(password_hash if is_usable(password_hash) else UNKNOWN_USER_HASH, password)
    except (Argon2Error, InvalidHashError):
        return False


# Verified if the username is unknown, so that the response time does not reveal which names exist.
UNKNOWN_USER_HASH = hash_password(secrets.token_hex())


class VerifiedPasswords:
    """A cache of verified passwords, because Basic authentication sends the password with every call.

    Hashing it every time would cost 20 ms. A verified pair is kept for ten minutes as a digest with a random key of
    this process. The digest includes the stored hash, so that a changed password invalidates it immediately, in every
    process.
    """

    def __init__(self) -> None:
        self._key = secrets.token_bytes(32)
        self._until: OrderedDict[bytes, Instant] = OrderedDict()
        self._lock = threading.Lock()

    def remember(self, password_hash: str, password: str, now: Instant) -> None:
        with self._lock:
            self._until[self._digest(password_hash, password)] = Instant(now + REMEMBER_FOR)
            while len(self._until) > MAX_REMEMBERED:
                self._until.popitem(last=False)

    def knows(self, password_hash: str, password: str, now: Instant) -> bool:
        return self._until.get(self._digest(password_hash, password), 0) > now

    def _digest(self, password_hash: str, password: str) -> bytes:
        message = f"{len(password_hash)}:{password_hash}{password}".encode("utf-8", "surrogatepass")
        return hmac.digest(self._key, message, hashlib.sha256)
