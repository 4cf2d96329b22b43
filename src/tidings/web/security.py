"""What protects pages: tokens in forms, where a form comes from, and what a page may load."""

from __future__ import annotations

import hashlib
import hmac
import secrets
from collections.abc import Mapping
from functools import lru_cache

from tidings.domain.cleaning.frames import PLAYERS
from tidings.http.origins import is_foreign
from tidings.http.requests import Request

TOKEN_FIELD = "csrf"  # noqa: S105 - its name


def new_token() -> str:
    return secrets.token_urlsafe(32)


def csrf_token(secret: str) -> str:
    """secret: what only this browser and we know; nothing of it can be told from the token."""
    return hmac.new(secret.encode("utf-8", "replace"), b"tidings form", hashlib.sha256).hexdigest()[:40]


def is_genuine(given: str, expected: str) -> bool:
    return hmac.compare_digest(given.encode(), expected.encode())


def is_from_elsewhere(request: Request, base_url: str) -> bool:
    """Whether the browser says that the form stands on somebody else's page.

    Browsers without Sec-Fetch-Site, and those on plain http, say "null" as Origin because of our Referrer-Policy:
    then the token decides alone.
    """
    site = request.headers.get("sec-fetch-site", "")
    if site:
        return site not in ("same-origin", "none")
    origin = request.headers.get("origin", "")
    if origin in ("", "null"):
        return False
    return is_foreign(origin, request, base_url)


def own_path(path: str) -> str:
    """A path of ours to go on to, or "" for what would lead elsewhere."""
    begins_well = path.startswith("/") and not path.startswith("//")
    return path if begins_well and path.isascii() and path.isprintable() and not set(path) & set('\\ "<>') else ""


_PLAYERS = " ".join(f"https://{host} https://www.{host}" for host in sorted(PLAYERS))


@lru_cache(maxsize=256)
def page_headers(font_hosts: str = "", player_hosts: frozenset[str] = frozenset()) -> Mapping[str, str]:
    """font_hosts: where the style sheet of the user may load from besides; checked when they were set.

    player_hosts: whose frames may be shown besides those we know.
    """
    players = "".join(f" {host}:* www.{host}:*" for host in sorted(player_hosts))
    elsewhere = "".join(f" https://{host}" for host in font_hosts.split())
    policy = (
        "default-src 'none'",
        "script-src 'self'",
        f"style-src 'self'{elsewhere}",
        f"font-src 'self'{elsewhere}",
        # Pictures and sounds of articles come from wherever their publishers keep them.
        "img-src * data:",
        "media-src *",
        f"frame-src {_PLAYERS}{players}",
        "connect-src 'self'",
        "form-action 'self'",
        "base-uri 'none'",
        "frame-ancestors 'none'",
        "manifest-src 'self'",
        "worker-src 'self'",
    )
    return {
        "Content-Security-Policy": "; ".join(policy),
        "Cross-Origin-Opener-Policy": "same-origin",
        **OTHER_HEADERS,
    }


OTHER_HEADERS = {
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "no-referrer",
}
# For what is not a page of ours: a picture, or text for machines.
NOTHING_RUNS = {"Content-Security-Policy": "default-src 'none'; style-src 'unsafe-inline'; sandbox", **OTHER_HEADERS}
