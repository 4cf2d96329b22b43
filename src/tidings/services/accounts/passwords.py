"""Hashing passwords with argon2id, and remembering for a while which ones were verified."""

from __future__ import annotations

import hashlib
import hmac
import secrets
import threading
from collections import OrderedDict

from argon2 import PasswordHasher
from argon2.exceptions import Argon2Error, InvalidHashError

from tidings.domain.times import MINUTE, Instant

# RFC 9106 leaves the choice to the site; this is OWASP's first recommendation: about 20 ms and 19 MiB a check.
_hasher = PasswordHasher(time_cost=2, memory_cost=19 * 1024, parallelism=1)
REMEMBERED_FOR = 10 * MINUTE
MOST_REMEMBERED = 10_000


def hash_password(password: str) -> str:
    return _hasher.hash(password)


def matches(password_hash: str, password: str) -> bool:
    try:
        return _hasher.verify(password_hash, password)
    except (Argon2Error, InvalidHashError):
        return False


# Compared with when the name is unknown, so that the time of an answer does not tell which names exist.
UNKNOWN_USER_HASH = hash_password(secrets.token_hex())


class VerifiedPasswords:
    """Basic authentication sends the password with every call; hashing it every time would cost 20 ms each.

    A verified pair is kept for ten minutes as a digest under a key that this process made up. The stored hash is part
    of it: a changed password is unknown at once, in every process.
    """

    def __init__(self) -> None:
        self._key = secrets.token_bytes(32)
        self._until: OrderedDict[bytes, Instant] = OrderedDict()
        self._lock = threading.Lock()

    def remember(self, password_hash: str, password: str, now: Instant) -> None:
        with self._lock:
            self._until[self._digest(password_hash, password)] = Instant(now + REMEMBERED_FOR)
            while len(self._until) > MOST_REMEMBERED:
                self._until.popitem(last=False)

    def knows(self, password_hash: str, password: str, now: Instant) -> bool:
        return self._until.get(self._digest(password_hash, password), 0) > now

    def _digest(self, password_hash: str, password: str) -> bytes:
        message = f"{len(password_hash)}:{password_hash}{password}".encode("utf-8", "surrogatepass")
        return hmac.digest(self._key, message, hashlib.sha256)
