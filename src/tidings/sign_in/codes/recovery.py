"""Recovery codes: ten for each user with a second factor, each of which replaces it once."""

from __future__ import annotations

import hashlib
import hmac
import re
from collections.abc import Iterable
from typing import Final

from tidings.domain.accounts.api_passwords import ALPHABET

CODES: Final = 10
GROUPS, GROUP_LENGTH = 3, 5
# Random bytes for one code, of which five bits each are used: 75 bits, too many to try even with the stored digests.
CODE_BYTES: Final = GROUPS * GROUP_LENGTH
LENGTH: Final = GROUPS * GROUP_LENGTH
_SEPARATORS = re.compile(r"[\s-]+")


def format_codes(random_bytes: bytes) -> list[str]:
    """Return ten codes such as "k3v7p-x8mna-qw2hf". random_bytes: CODES * CODE_BYTES of them."""
    letters = "".join(ALPHABET[byte % len(ALPHABET)] for byte in random_bytes)
    groups = [letters[start : start + GROUP_LENGTH] for start in range(0, len(letters), GROUP_LENGTH)]
    return ["-".join(groups[start : start + GROUPS]) for start in range(0, CODES * GROUPS, GROUPS)]


def plain(code: str) -> str:
    """Return a code of any kind without blanks, hyphens and capitals."""
    return _SEPARATORS.sub("", code).lower()


def digest(secret: bytes, user_id: int, code: str) -> bytes:
    """Return the digest by which a code is stored. secret: of this installation. code: as users type it."""
    message = f"recovery code\0{user_id}\0{plain(code)}".encode("utf-8", "replace")
    return hmac.digest(secret, message, hashlib.sha256)


def digests(secret: bytes, user_id: int, codes: Iterable[str]) -> list[bytes]:
    return [digest(secret, user_id, code) for code in codes]
