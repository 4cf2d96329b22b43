"""The part of an entry that rewrite rules read and change."""

from __future__ import annotations

import re
from collections.abc import Callable
from urllib.parse import SplitResult, urlsplit

from msgspec import Struct, field

from tidings.content.model import ParsedEnclosure
from tidings.content.rules.budget import RuleBudget

# A public instance, used unless the operator configures another.
DEFAULT_INVIDIOUS_HOST = "yewtu.be"

# Nearly all URLs match, which saves splitting them.
_PLAIN_WEB = re.compile(r"https?://(?:www\.)?+([a-z0-9-][a-z0-9.-]*+)(?::[0-9]++)?+(?=[/?#]|\Z)")


class RuleEntry(Struct, frozen=True, kw_only=True):
    """The parts of an entry that rewrite rules read and change, and what the rules may still use."""

    url: str = ""
    """The URL that the URL rule returned."""
    title: str = ""
    content: str = ""
    """HTML, not cleaned."""
    enclosures: tuple[ParsedEnclosure, ...] = ()
    invidious_host: str = DEFAULT_INVIDIOUS_HOST
    """Host of the Invidious player."""
    budget: RuleBudget = field(default_factory=RuleBudget)
    """What all rules of the entry may use together."""


# May raise RuleBudgetExceeded; the rule is then skipped.
RewriteAction = Callable[[RuleEntry], RuleEntry]


def split_url(url: str) -> SplitResult:
    """Return the same as urlsplit, but empty parts for an invalid URL."""
    try:
        return urlsplit(url)
    except ValueError:
        return SplitResult("", "", "", "", "")


def host_of(url: str) -> str:
    """Return the host in lower case, without `www.`; "" if there is none."""
    if plain := _PLAIN_WEB.match(url):
        return plain[1]
    return (split_url(url).hostname or "").removeprefix("www.")
