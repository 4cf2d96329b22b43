"""Cookies: which there are, and how they are written (RFC 6265)."""

from __future__ import annotations

from urllib.parse import quote, unquote

from msgspec import Struct
from starlette.responses import Response

# Who is signed in.
SESSION = "tidings_session"
# That somebody has signed in here before: guessers do not shut this browser out.
KNOWN = "tidings_known"
# Before that: what the token of the sign-in form is derived from.
VISITOR = "tidings_visitor"
# What the next page tells.
NOTICE = "tidings_notice"
# What the button beside it undoes.
UNDO = "tidings_undo"
# How this device shows things.
DEVICE = "tidings_view"

LONGEST_NOTICE = 300
# The longest that browsers keep one (draft-ietf-httpbis-rfc6265bis, section 5.5).
KNOWN_LASTS_S = 400 * 86_400


class Cookie(Struct, frozen=True):
    """lasts_s: None as long as the browser is open, 0 to remove it."""

    name: str
    value: str
    lasts_s: int | None = None

    def add_to(self, response: Response, path: str, *, is_secure: bool) -> None:
        """path: below which it is sent. No script ever reads one."""
        response.set_cookie(
            known_as(self.name, path, is_secure=is_secure),
            self.value,
            max_age=self.lasts_s,
            path=path or "/",
            secure=is_secure,
            httponly=True,
            samesite="lax",
        )


def known_as(name: str, path: str, *, is_secure: bool) -> str:
    """With a prefix that browsers know: then nobody without https, and no neighbour under the same domain, can set it.

    Source: draft-ietf-httpbis-rfc6265bis, section 4.1.3. `__Host-` asks for the path "/".
    """
    if not is_secure:
        return name
    return f"__Secure-{name}" if path else f"__Host-{name}"


def pack(text: str) -> str:
    return quote(text[:LONGEST_NOTICE], safe="")


def unpack(value: str) -> str:
    return unquote(value)[:LONGEST_NOTICE]
