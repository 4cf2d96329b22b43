"""Cookies: which there are, and how they are written (RFC 6265)."""

from __future__ import annotations

from urllib.parse import quote, unquote

from msgspec import Struct

# Who is signed in.
SESSION = "tidings_session"
# Before that: what the token of the sign-in form is derived from.
VISITOR = "tidings_visitor"
# What the next page tells.
NOTICE = "tidings_notice"
# What the button beside it undoes.
UNDO = "tidings_undo"
# How this device shows things.
DEVICE = "tidings_view"

LONGEST_NOTICE = 300


class Cookie(Struct, frozen=True):
    """lasts_s: None as long as the browser is open, 0 to remove it."""

    name: str
    value: str
    lasts_s: int | None = None

    def header(self, path: str, *, is_secure: bool) -> str:
        """path: below which it is sent. No script ever reads one."""
        name = known_as(self.name, path, is_secure=is_secure)
        parts = [f"{name}={self.value}", f"Path={path or '/'}", "HttpOnly", "SameSite=Lax"]
        if self.lasts_s is not None:
            parts.append(f"Max-Age={self.lasts_s}")
        if is_secure:
            parts.append("Secure")
        return "; ".join(parts)


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
