"""Browsers in which somebody has signed in before: what tells them from those who only know a name.

A browser keeps an id and a signature of it. The key is the stored hash of the password, which nobody outside knows and
every process has: a new password makes all of them strangers again, without a table of browsers.
"""

from __future__ import annotations

import hashlib
import hmac
import secrets

ID_BYTES = 12


def new_token(password_hash: str) -> str:
    """Returns what a browser keeps once somebody has signed in with this password."""
    browser = secrets.token_urlsafe(ID_BYTES)
    return f"{browser}.{_signature(password_hash, browser)}"


def known_id(token: str, password_hash: str) -> str:
    """Returns the id of a browser that has such a token, "" for any other."""
    browser, _, signature = token.partition(".")
    is_genuine = hmac.compare_digest(signature.encode(), _signature(password_hash, browser).encode())
    return browser if is_genuine else ""


def _signature(password_hash: str, browser: str) -> str:
    return hmac.new(password_hash.encode(), f"known browser {browser}".encode(), hashlib.sha256).hexdigest()
