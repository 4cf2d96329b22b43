"""A sign-in that has been started in a browser and waits for the provider's response.

It is kept in a cookie of that browser, signed, so that every web worker can complete it, and nothing is stored for
sign-ins that nobody completes.
"""

from __future__ import annotations

import hashlib
import hmac
import secrets
from base64 import urlsafe_b64decode, urlsafe_b64encode
from typing import Final
from urllib.parse import urlencode

import msgspec
from msgspec import Struct

from tidings.base.times import MINUTE, Instant

LIFETIME: Final = Instant(10 * MINUTE)
# Characters of the wanted page; a longer one is not kept.
MAX_NEXT: Final = 1500
_PURPOSE: Final = b"a sign-in at the provider"


class Transaction(Struct, frozen=True, kw_only=True):
    """What the response of the provider is compared with."""

    started_at: Instant
    state: str
    nonce: str
    verifier: str
    """The secret of PKCE (RFC 7636), whose hash the provider got."""
    next: str = ""
    """The page to open afterwards."""
    user_id: int = 0
    """Who is signed in already, and confirms that, or links the identity; 0 for nobody."""
    session_id: int = 0
    """The session in which that was asked for."""
    is_link: bool = False
    """The identity is to be linked with the account."""
    max_age_s: int | None = None
    """How long ago the user may have proved to the provider who they are; None if that does not matter."""

    @property
    def challenge(self) -> str:
        """The hash of the verifier, S256."""
        return _encode(hashlib.sha256(self.verifier.encode()).digest())


def start_transaction(
    now: Instant,
    *,
    next_path: str = "",
    user_id: int = 0,
    session_id: int = 0,
    is_link: bool = False,
    max_age_s: int | None = None,
) -> Transaction:
    """Return a new transaction with secrets that nobody can guess."""
    return Transaction(
        started_at=now,
        state=secrets.token_urlsafe(24),
        nonce=secrets.token_urlsafe(24),
        verifier=secrets.token_urlsafe(48),
        next=next_path if len(next_path) <= MAX_NEXT else "",
        user_id=user_id,
        session_id=session_id,
        is_link=is_link,
        max_age_s=max_age_s,
    )


def pack(transaction: Transaction, secret: bytes) -> str:
    """Return the value of the cookie. secret: the secret of this installation."""
    content = _encode(msgspec.json.encode(transaction))
    return f"{content}.{_signature(content, secret)}"


def unpack(value: str, secret: bytes, now: Instant) -> Transaction | None:
    """Return the transaction of a cookie; None if it is not genuine or too old."""
    content, _, signature = value.partition(".")
    if not value.isascii() or not hmac.compare_digest(signature, _signature(content, secret)):
        return None
    try:
        found = msgspec.json.decode(urlsafe_b64decode(content + "=" * (-len(content) % 4)), type=Transaction)
    except ValueError:
        return None
    return found if found.started_at <= now < found.started_at + LIFETIME else None


def authorization_url(
    transaction: Transaction, *, endpoint: str, client_id: str, redirect_url: str, scopes: str
) -> str:
    """Return the URL at the provider to which the browser is sent."""
    parameters = {
        "response_type": "code",
        "client_id": client_id,
        "redirect_uri": redirect_url,
        "scope": scopes,
        "state": transaction.state,
        "nonce": transaction.nonce,
        "code_challenge": transaction.challenge,
        "code_challenge_method": "S256",
    }
    if transaction.max_age_s is not None:
        parameters["max_age"] = str(transaction.max_age_s)
    return f"{endpoint}{'&' if '?' in endpoint else '?'}{urlencode(parameters)}"


def _signature(content: str, secret: bytes) -> str:
    key = hmac.new(secret, _PURPOSE, hashlib.sha256).digest()
    return _encode(hmac.new(key, content.encode(), hashlib.sha256).digest())


def _encode(data: bytes) -> str:
    return urlsafe_b64encode(data).rstrip(b"=").decode()
