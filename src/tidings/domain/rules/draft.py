"""An entry on its way through the rewrite rules."""

from __future__ import annotations

import re
from collections.abc import Callable
from urllib.parse import SplitResult, urlsplit

from msgspec import Struct

from tidings.domain.feeds import ParsedEnclosure

# A public instance, used until the operator names another.
DEFAULT_INVIDIOUS_HOST = "yewtu.be"

# Nothing to take apart: nearly every address there is.
_PLAIN_WEB = re.compile(r"https?://(?:www\.)?+([a-z0-9-][a-z0-9.-]*+)(?::[0-9]++)?+(?=[/?#]|\Z)")


class Draft(Struct, frozen=True, kw_only=True):
    """url: after the address rule. content: HTML, not cleaned. invidious_host: whose player to show."""

    url: str = ""
    title: str = ""
    content: str = ""
    enclosures: tuple[ParsedEnclosure, ...] = ()
    invidious_host: str = DEFAULT_INVIDIOUS_HOST


# May raise GaveUp; the draft then stays as it was.
Action = Callable[[Draft], Draft]


def split_url(url: str) -> SplitResult:
    """As urlsplit, but an address that cannot be read has no parts."""
    try:
        return urlsplit(url)
    except ValueError:
        return SplitResult("", "", "", "", "")


def host_of(url: str) -> str:
    """In lower case, without `www.`; "" when there is none."""
    if plain := _PLAIN_WEB.match(url):
        return plain[1]
    return (split_url(url).hostname or "").removeprefix("www.")
