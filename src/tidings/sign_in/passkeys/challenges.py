"""Challenges for passkeys: signed, so that nothing is stored for visitors who only open the sign-in page.

    issue: nonce │ expiry │ HMAC(server secret, purpose, browser, nonce, expiry) ─► the authenticator signs it
    check: ours, for this purpose and browser, not expired                       ─► `passkey_store.spend`: it works once

A challenge is valid for five minutes in the browser for which it was made, and for one purpose. One that was used is
stored until it would have expired: a copied response is refused.
"""

from __future__ import annotations

import hashlib
import hmac
from typing import Final

from msgspec import Struct

from tidings.base.times import MINUTE, Instant

LIFETIME: Final = 5 * MINUTE
NONCE_BYTES: Final = 16
_TIME_BYTES: Final = 8
_MAC_BYTES: Final = 32
SIGN_IN: Final = "sign in"


class Challenge(Struct, frozen=True):
    """A challenge that came back in time."""

    nonce: bytes
    expires_at: Instant


def create_purpose(user_id: int) -> str:
    """Return the purpose of a challenge with which a user creates a passkey."""
    return f"create {user_id}"


def second_step_purpose(user_id: int) -> str:
    """Return the purpose of a challenge for the step after the password of this user."""
    return f"second step {user_id}"


def issue(secret: bytes, purpose: str, browser: str, now: Instant, *, nonce: bytes) -> bytes:
    """Return a new challenge.

    secret: of this installation. browser: a secret of the browser, such as its CSRF token. nonce: NONCE_BYTES random
    bytes.
    """
    head = nonce + (now + LIFETIME).to_bytes(_TIME_BYTES, "big")
    return head + _mac(secret, purpose, browser, head)


def check(secret: bytes, challenge: bytes, purpose: str, browser: str, now: Instant) -> Challenge | None:
    """Return a challenge that was issued for this purpose and browser in the last five minutes, else None."""
    if len(challenge) != NONCE_BYTES + _TIME_BYTES + _MAC_BYTES:
        return None
    head, mac = challenge[:-_MAC_BYTES], challenge[-_MAC_BYTES:]
    expires_at = Instant(int.from_bytes(head[NONCE_BYTES:], "big"))
    is_ours = hmac.compare_digest(mac, _mac(secret, purpose, browser, head))
    return Challenge(head[:NONCE_BYTES], expires_at) if is_ours and expires_at > now else None


def _mac(secret: bytes, purpose: str, browser: str, head: bytes) -> bytes:
    message = b"\0".join((b"passkey challenge", purpose.encode(), browser.encode("utf-8", "replace"), head))
    return hmac.digest(secret, message, hashlib.sha256)
