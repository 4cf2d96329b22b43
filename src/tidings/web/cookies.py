"""The cookies of the pages, and how they are written (RFC 6265)."""

from __future__ import annotations

from urllib.parse import quote, unquote

from msgspec import Struct
from starlette.responses import Response

# The token of the session.
SESSION = "tidings_session"
# The token of a sign-in that lacks its second step.
PENDING = "tidings_pending"
# Shows that a user has signed in with this browser before: failed attempts elsewhere do not lock it out.
KNOWN = "tidings_known"
# Without a session: begins the names of secrets that the CSRF tokens of sign-in forms are derived from. There are
# several if pages were opened at the same time: none replaces the others'.
VISITOR = "tidings_visitor"
# What the response of an OpenID Connect provider is compared with.
PROVIDER = "tidings_provider"
# The notice that the next page shows.
NOTICE = "tidings_notice"
# What the undo button next to the notice undoes.
UNDO = "tidings_undo"
# This browser is used by several people: the session ends with it, and nothing is kept for reading offline.
SHARED = "tidings_shared"
# The appearance chosen for this device.
DEVICE = "tidings_view"
# Which groups of the sidebar are open on this device.
SIDEBAR = "tidings_sidebar"
# In which order categories that are sorted by unread entries are, until nobody has read for a while.
ORDER = "tidings_order"

ORDER_LASTS_S = 1_800
MAX_NOTICE_CHARS = 300
# The longest time that browsers keep a cookie (draft-ietf-httpbis-rfc6265bis, section 5.5).
KNOWN_LASTS_S = 400 * 86_400


class Cookie(Struct, frozen=True):
    """A cookie to set."""

    name: str
    value: str
    lasts_s: int | None = None
    """None until the browser is closed, 0 to remove it."""

    def add_to(self, response: Response, path: str, *, is_secure: bool) -> None:
        """Add the cookie to a response, HttpOnly. path: the browser sends it with requests below this path."""
        response.set_cookie(
            cookie_name(self.name, path, is_secure=is_secure),
            self.value,
            max_age=self.lasts_s,
            path=path or "/",
            secure=is_secure,
            httponly=True,
            samesite="lax",
        )


def cookie_name(name: str, path: str, *, is_secure: bool) -> str:
    """Return the cookie's name with the prefix that browsers enforce.

    Pages on plain http and on sibling domains cannot set a cookie with such a prefix.

    Source: draft-ietf-httpbis-rfc6265bis, section 4.1.3. `__Host-` asks for the path "/".
    """
    if not is_secure:
        return name
    return f"__Secure-{name}" if path else f"__Host-{name}"


def pack(text: str) -> str:
    return quote(text[:MAX_NOTICE_CHARS], safe="")


def unpack(value: str) -> str:
    return unquote(value)[:MAX_NOTICE_CHARS]
