"""URLs as users type them: without a scheme, and of sites that may have no https."""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable
from typing import TypeVar

from tidings.base.errors import InvalidInput
from tidings.domain.feeds.feed_changes import has_credentials, normalize_scheme
from tidings.net.errors import FetchError, FetchTimeout, NetworkError, TlsError

Result = TypeVar("Result")

# Errors of sites that may still answer without TLS.
_NO_TLS = (NetworkError, TlsError, FetchTimeout)
# URLs from other programs: feed:https://…, feed://…
_SCHEME = re.compile(r"[a-z][a-z0-9+.-]*://", re.IGNORECASE)


def complete_url(text: str) -> str:
    """Returns a complete URL. In `text` the scheme may be missing, or be `feed:`."""
    url = normalize_scheme(text)
    if url.startswith("//"):
        return f"https:{url}"
    return url if not url or _SCHEME.match(url) else f"https://{url}"


async def reach(typed: str, fetch: Callable[[str], Awaitable[Result]], *, has_secrets: bool = False) -> Result:
    """Returns what `fetch` returns for the URL that was typed; for http, if no scheme was typed and https fails.

    has_secrets: credentials are sent in addition to those in the URL. Without TLS others on the way could read them, so
    that only https is tried, and the user has to type http://. Raises what `fetch` raises for https if http fails too.
    """
    url = complete_url(typed)
    try:
        return await fetch(url)
    except _NO_TLS as error:
        plain = complete_url(f"http://{typed.strip()}")
        if has_secrets or has_credentials(url) or url != f"https{plain.removeprefix('http')}":
            raise
        try:
            return await fetch(plain)
        except (InvalidInput, FetchError):
            raise error from None
