"""Reads the tokens of the Google Reader API from headers and forms."""

from __future__ import annotations

import hmac
import re
from collections.abc import Awaitable, Callable
from typing import Final

from msgspec import Struct

from tidings.domain.accounts.events import Origin
from tidings.domain.accounts.users import User
from tidings.http.requests import Request
from tidings.services.accounts.app_logins import AppLogin
from tidings.services.accounts.authentication import Credentials

# Clients differ in spaces and in the case of letters.
_HEADER: Final = re.compile(r"\s*GoogleLogin\s+auth\s*=\s*\"?([^\s\",]+)", re.IGNORECASE)
# Reeder sends this instead of an edit token.
_PLACEHOLDER: Final = "x"
# News+ keeps this many characters of an edit token.
_NEWSPLUS_LENGTH: Final = 64


class ReaderCaller(Struct):
    """login: None if no credentials are needed, and until the body of a POST is read."""

    origin: Origin
    login: AppLogin | None = None

    @property
    def user(self) -> User:
        assert self.login is not None
        return self.login.user


class PublicUrl(Struct, frozen=True):
    """text: the URL of the service as users enter it, without a slash at its end."""

    text: str


class PasswordCheck(Struct, frozen=True):
    """verify: returns the login of a name and a password; raises Unauthorized or SignInThrottled."""

    verify: Callable[[Credentials], Awaitable[AppLogin]]


def token_of(request: Request) -> str:
    """Return the token of the header `Authorization: GoogleLogin auth=…`, "" without one."""
    match = _HEADER.match(request.headers.get("authorization", ""))
    return match[1] if match else ""


def is_accepted_edit_token(sent: str, token: str) -> bool:
    """Return whether a POST with a valid header may have this T.

    Several clients send none, an empty one or a placeholder. That is safe: the header is a secret that no browser adds
    by itself, which is what the edit token was against. A wrong one is refused, so that a client asks for a new one.
    """
    expected = token[:_NEWSPLUS_LENGTH] if len(sent) == _NEWSPLUS_LENGTH else token
    return sent in ("", _PLACEHOLDER) or hmac.compare_digest(sent.encode(), expected.encode())
