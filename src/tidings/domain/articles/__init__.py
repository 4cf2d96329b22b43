"""The article inside a web page.

page ─► text ─► the feed's scraper rule ─► what readers look for ─► a second opinion, where that looks poor
                                                  └─► pictures that got lost on the way

`extract` is imported apart, where it runs: what it needs takes half a second and a lot of memory to load.
"""

from __future__ import annotations

from urllib.parse import urlsplit

from msgspec import Struct

# As what pages are sent; others are documents of another kind, or not for reading at all.
HTML_TYPES = frozenset({"text/html", "application/xhtml+xml"})


class Page(Struct, frozen=True):
    """A page as it was fetched. charset: what the answer said of it, if anything. url: where it was found.

    scraper_rules: text of the feed's rule; "" when it has none, or when the page is not on the site it was made for.
    """

    body: bytes
    charset: str
    url: str
    scraper_rules: str = ""


class Article(Struct, frozen=True):
    """What was found on a page. content: HTML, neither rewritten nor cleaned; "" when there is no article.

    base_url: what relative addresses are relative to. complaints: of the scraper rule.
    """

    content: str
    base_url: str
    complaints: tuple[str, ...] = ()


class Outcome(Struct, frozen=True):
    """What looking for an article came to. article: None when it failed. failure: of ours, for the log."""

    article: Article | None
    failure: str = ""


def is_same_host(url: str, other: str) -> bool:
    """Whether a scraper rule made for `url` fits a page that was found at `other`."""
    try:
        return urlsplit(url).hostname == urlsplit(other).hostname
    except ValueError:
        return False
