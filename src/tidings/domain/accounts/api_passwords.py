"""API passwords: what they look like, what they may be called, and the secrets that are derived from them.

    password ─┬─ HMAC ─► password_digest ── HMAC ─► token of the Google Reader API
              └─ MD5 with the username ── HMAC ─► fever_key_digest

The key of each HMAC is the server secret, so that a leaked digest can be neither reversed nor presented. Passwords have
100 random bits: hashing them slowly would gain nothing.
"""

from __future__ import annotations

import hashlib
import hmac
from typing import Final
from urllib.parse import quote

from tidings.base.errors import InvalidField
from tidings.base.messages import msg
from tidings.base.text import reject_nul
from tidings.domain.accounts.api_keys import description_key

MAX_NAME: Final = 200
# Each request of the Google Reader API is compared with all of a user's.
MAX_PASSWORDS: Final = 100
# 32 characters that are hard to confuse: no l and o, no 0 and 1.
ALPHABET: Final = "abcdefghijkmnpqrstuvwxyz23456789"
GROUPS, GROUP_LENGTH = 4, 5


def format_password(random_bytes: bytes) -> str:
    """Return a password that is easy to type, as "k3v7p-…".

    random_bytes: at least 20 bytes, of which five bits each are used.
    """
    letters = "".join(ALPHABET[byte % len(ALPHABET)] for byte in random_bytes[: GROUPS * GROUP_LENGTH])
    return "-".join(letters[start : start + GROUP_LENGTH] for start in range(0, len(letters), GROUP_LENGTH))


def validate_name(name: str) -> str:
    """Return the name without blanks around it. Raises InvalidField if it is empty or too long."""
    name = name.strip()
    if not name:
        raise InvalidField("name", msg("say which app this password is for."))
    if len(name) > MAX_NAME:
        raise InvalidField("name", msg("too long, {max:,} characters at most.", max=MAX_NAME))
    return reject_nul(name, field="name")


def name_key(name: str) -> str:
    """Return the key by which names are compared: case does not count."""
    return description_key(name)


def password_digest(server_secret: bytes, user_id: int, password: str) -> bytes:
    """Return the digest to store for a password. The user is part of it: no digest fits another account."""
    return _hmac(server_secret, "api password", str(user_id), password)


def fever_key(username: str, password: str) -> str:
    """Return what a Fever client sends: the MD5 of name and password in hex. The protocol has nothing else."""
    return hashlib.md5(f"{username}:{password}".encode("utf-8", "replace"), usedforsecurity=False).hexdigest()


def fever_key_digest(server_secret: bytes, key: str) -> bytes:
    """Return the digest by which a Fever key is stored and looked up.

    key: its letters may be in either case. Readrops computes it as a number: zeros at its beginning are missing.
    """
    return _hmac(server_secret, "fever key", key.lower().zfill(32))


def reader_token(server_secret: bytes, username: str, user_id: int, stored: bytes) -> str:
    """Return the token of the Google Reader API, `username/hex digits`. It is the same at each login.

    Characters outside ASCII are percent-encoded: apps send the token in a header.
    stored: the digest of the API password, or the hash of the account's password. Without it there is no token: a
    removed or changed password ends all tokens that were derived from it.
    """
    return f"{quote(username, safe='@')}/{_hmac(server_secret, 'reader token', str(user_id), stored.hex()).hex()}"


def _hmac(key: bytes, *parts: str) -> bytes:
    """Return the digest of several parts, separated by NUL, which only the last one can contain."""
    return hmac.digest(key, "\0".join(parts).encode("utf-8", "replace"), hashlib.sha256)
