"""Tokens of browsers in which a user has signed in before, so that attackers who have the name do not lock them out.

A token is an id and a signature of it. The key is the stored hash of the password, which every process can read and
only the service has: a new password invalidates all tokens, and no table of browsers is needed.
"""

from __future__ import annotations

import hashlib
import hmac
import secrets

ID_BYTES = 12


def new_token(password_hash: str) -> str:
    """Returns a new token for a browser in which the user signed in with this password."""
    browser = secrets.token_urlsafe(ID_BYTES)
    return f"{browser}.{_signature(password_hash, browser)}"


def known_id(token: str, password_hash: str) -> str:
    """Returns the id of the browser if the token is genuine, else ""."""
    browser, _, signature = token.partition(".")
    is_genuine = hmac.compare_digest(signature.encode(), _signature(password_hash, browser).encode())
    return browser if is_genuine else ""


def _signature(password_hash: str, browser: str) -> str:
    return hmac.new(password_hash.encode(), f"known browser {browser}".encode(), hashlib.sha256).hexdigest()
