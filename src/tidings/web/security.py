"""Protection of pages: CSRF tokens, the origin of forms, and the Content-Security-Policy."""

from __future__ import annotations

import hashlib
import hmac
import secrets
from collections.abc import Mapping
from functools import lru_cache

from tidings.content.cleaning.frames import PLAYERS
from tidings.http.origins import is_foreign
from tidings.http.requests import Request

TOKEN_FIELD = "csrf"  # noqa: S105 - its name


def new_token() -> str:
    return secrets.token_urlsafe(32)


def csrf_token(secret: str) -> str:
    """Return the CSRF token for a secret that only this browser and the server have. It does not reveal the secret."""
    return hmac.new(secret.encode("utf-8", "replace"), b"tidings form", hashlib.sha256).hexdigest()[:40]


def is_valid_token(sent: str, expected: str) -> bool:
    return hmac.compare_digest(sent.encode(), expected.encode())


def is_cross_site(request: Request, base_url: str) -> bool:
    """Return whether the browser says that the form was sent by a page of another site.

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


def local_path(path: str) -> str:
    """Return the path if it leads to one of our pages, else ""."""
    is_absolute = path.startswith("/") and not path.startswith("//")
    return path if is_absolute and path.isascii() and path.isprintable() and not set(path) & set('\\ "<>') else ""


_PLAYERS = " ".join(f"https://{host} https://www.{host}" for host in sorted(PLAYERS))


@lru_cache(maxsize=256)
def page_headers(
    font_hosts: str = "",
    player_hosts: frozenset[str] = frozenset(),
    *,
    own_pictures: bool = False,
    own_sounds: bool = False,
    own_frames: bool = False,
) -> Mapping[str, str]:
    """Return the security headers of a page.

    font_hosts: additional hosts for styles and fonts, separated by spaces; validated when the user set them.

    player_hosts: additional hosts whose frames may be shown.

    own_pictures: all pictures of articles come through the media proxy, so that other sources are not allowed;
    own_sounds: the same for audio and video.

    own_frames: the page shows another page of ours in a frame, whose headers must allow it (OUTLINE_HEADERS).
    """
    players = "".join(f" {host}:* www.{host}:*" for host in sorted(player_hosts))
    own = " 'self'" if own_frames else ""
    pictures = "'self'" if own_pictures else "*"
    sounds = "'self'" if own_sounds else "*"
    fonts = "".join(f" https://{host}" for host in font_hosts.split())
    policy = (
        "default-src 'none'",
        "script-src 'self'",
        f"style-src 'self'{fonts}",
        f"font-src 'self'{fonts}",
        # Pictures and sounds of articles come from any host, unless the media proxy fetches them.
        f"img-src {pictures} data:",
        f"media-src {sounds}",
        f"frame-src {_PLAYERS}{players}{own}",
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
        **COMMON_HEADERS,
    }


COMMON_HEADERS = {
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "no-referrer",
}
# For the outline of a publisher's page, in a frame of one of our pages. Its origin is ours so that the script of our
# page can see what is clicked. Nothing in it runs, loads, is sent or leads elsewhere: by the cleaning, by this policy,
# and by the sandbox of the frame.
OUTLINE_HEADERS = {
    "Content-Security-Policy": (
        "default-src 'none'; style-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'self'; "
        "sandbox allow-same-origin"
    ),
    "X-Frame-Options": "SAMEORIGIN",
}
# For responses that are not pages: images, files, JSON. Nothing in them runs.
SANDBOX_HEADERS = {
    "Content-Security-Policy": "default-src 'none'; style-src 'unsafe-inline'; sandbox",
    **COMMON_HEADERS,
}
