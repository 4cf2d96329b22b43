"""URLs as users type them: without a scheme, and of sites that may have no https."""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable
from typing import TypeVar

from tidings.domain.feeds.feed_changes import has_credentials, names_scheme, normalize_scheme
from tidings.net.errors import AddressRefused, FetchTimeout, NetworkError, TlsError

Result = TypeVar("Result")

# Errors of sites that may still answer without TLS.
_NO_TLS = (NetworkError, TlsError, FetchTimeout)
# URLs from other programs: feed:https://…, feed://…
_SCHEME = re.compile(r"[a-z][a-z0-9+.-]*://", re.IGNORECASE)


def complete_url(text: str) -> str:
    """Return a complete URL. In `text` the scheme may be missing, or be `feed:`."""
    url = normalize_scheme(text)
    if not url or _SCHEME.match(url):
        return url
    return normalize_scheme(f"https:{url}" if url.startswith("//") else f"https://{url}")


async def reach(
    typed: str, fetch: Callable[[str], Awaitable[Result]], *, has_secrets: bool = False, completes: bool = True
) -> Result:
    """Return what `fetch` returns for the URL that was typed; for http, if no scheme was typed and https fails.

    `feed://host` counts as without a scheme. completes: whether a URL may lack one altogether.
    has_secrets: credentials are sent in addition to those in the URL. Without TLS others on the way could read them, so
    that only https is tried, and the user has to type http://. Raises what `fetch` raises for https if http gets no
    answer either, and otherwise what it raises for http.
    """
    url = complete_url(typed) if completes else normalize_scheme(typed)
    try:
        return await fetch(url)
    except _NO_TLS as error:
        if has_secrets or has_credentials(url) or names_scheme(typed):
            raise
        try:
            return await fetch(f"http{url.removeprefix('https')}")
        except (*_NO_TLS, AddressRefused):
            raise error from None
