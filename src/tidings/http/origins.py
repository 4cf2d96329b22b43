"""Detects requests that a page of another site made the browser send, by Sec-Fetch-* and Origin (CSRF).

Sources: W3C Fetch Metadata Request Headers, RFC 6454 (Origin), and the Fetch standard for `no-cors`.
"""

from __future__ import annotations

from urllib.parse import urlsplit

from tidings.http.requests import Request

# What a form of another site can send without a CORS preflight: the safelisted content types of the Fetch standard.
FORM_TYPES = ("application/x-www-form-urlencoded", "multipart/form-data", "text/plain")


def origin_of(url: str) -> str:
    """Return the origin of a URL as browsers send it: scheme, host, and a port that is not the scheme's own."""
    parts = urlsplit(url)
    default = {"http": ":80", "https": ":443"}.get(parts.scheme, "")
    host = parts.netloc.rpartition("@")[2].lower()
    return f"{parts.scheme}://{host.removesuffix(default) if default else host}"


def is_foreign(origin: str, request: Request, base_url: str) -> bool:
    """Return whether an Origin is not this service. base_url: its public URL, for proxies that change Host."""
    try:
        host = urlsplit(origin).netloc
    except ValueError:
        return True
    return host not in (request.headers.get("host", ""), urlsplit(base_url).netloc)


def is_sent_by_another_site(request: Request, base_url: str) -> bool:
    """Return whether a form or script of another site sent this without a CORS preflight.

    Programs send neither Sec-Fetch-* nor Origin. A script with a preflight (`cors`) has to set the credentials itself,
    so it already has them.
    """
    site, mode = request.headers.get("sec-fetch-site", ""), request.headers.get("sec-fetch-mode", "")
    if site or mode:
        return site in ("cross-site", "same-site") and mode in ("navigate", "no-cors")
    origin = request.headers.get("origin", "")
    content_type = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    return bool(origin) and content_type in FORM_TYPES and is_foreign(origin, request, base_url)
