"""Reads what publishers write: bytes in, values out. Feeds, dates, HTML, articles, icons and the rules about them.

The main functions are here by name. Each is loaded when it is first used, so that importing this package costs nothing:

    from tidings.content import clean, parse_feed

    feed = parse_feed(body, url="https://example.org/feed.xml")
    html = clean(feed.entries[0].content, base_url=feed.entries[0].base_url)

parse_feed        the body of a response ─► ParsedFeed: RSS, Atom, RDF, CDF or JSON Feed, even if it is damaged
parse_date        a date as publishers write it ─► microseconds since 1970 in UTC, or None
clean             a publisher's HTML ─► HTML that is safe in a page of one's own
clean_with_text   the same, and its text
text_of           clean HTML ─► its words
resolve_web_url   a URL as written on a page ─► absolute, or "" if it is not http or https
strip_tracking    a URL ─► without tracking parameters
extract_article   WebPage ─► Article: the main content of a page, and where it continues
read_page_links   a web page ─► PageLinks, its link elements and anchors
declared_feeds    PageLinks ─► the feeds that the page declares
linked_feeds      PageLinks ─► links that look like feeds
common_locations  the address of a site ─► usual addresses of feeds
declared_icons    PageLinks ─► the icons that the page declares, the best first
compile_rules     RuleTexts ─► CompiledRules, which `tidings.content.rules.pipeline` applies to entries

The values are structs of `tidings.content.model`; the errors are in `tidings.content.errors`: `parse_feed` raises
NotAFeed or FeedUnreadable, rules raise InvalidRule, nothing else raises. Further parts: `pictures` (formats, headers
and smaller copies), `search` (terms and queries of full-text search), `urls`, and `xml` (elements, and the repair of
damaged documents).

Nothing here opens a file or a connection, asks what time it is, reads a setting, or knows users and databases: what a
function needs is an argument. `extract_article` may need seconds and much memory for a hostile page: run it in a
process with limits.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from tidings.content.articles import Article, WebPage
    from tidings.content.articles.extract import extract_article
    from tidings.content.cleaning import CleaningPolicy, clean, clean_with_text, text_of
    from tidings.content.dates import parse_date
    from tidings.content.discovery import common_locations, declared_feeds, linked_feeds
    from tidings.content.discovery.page_links import read_page_links
    from tidings.content.formats import parse_feed
    from tidings.content.icons import declared_icons
    from tidings.content.model import ParsedEntry, ParsedFeed
    from tidings.content.rules.pipeline import RuleTexts, compile_rules
    from tidings.content.urls import resolve_web_url, strip_tracking

__all__ = [
    "Article",
    "CleaningPolicy",
    "ParsedEntry",
    "ParsedFeed",
    "RuleTexts",
    "WebPage",
    "clean",
    "clean_with_text",
    "common_locations",
    "compile_rules",
    "declared_feeds",
    "declared_icons",
    "extract_article",
    "linked_feeds",
    "parse_date",
    "parse_feed",
    "read_page_links",
    "resolve_web_url",
    "strip_tracking",
    "text_of",
]

# The module of each name. Imported on first use: readability alone takes half a second to load.
_MODULES = {
    "articles": ("Article", "WebPage"),
    "articles.extract": ("extract_article",),
    "cleaning": ("CleaningPolicy", "clean", "clean_with_text", "text_of"),
    "dates": ("parse_date",),
    "discovery": ("common_locations", "declared_feeds", "linked_feeds"),
    "discovery.page_links": ("read_page_links",),
    "formats": ("parse_feed",),
    "icons": ("declared_icons",),
    "model": ("ParsedEntry", "ParsedFeed"),
    "rules.pipeline": ("RuleTexts", "compile_rules"),
    "urls": ("resolve_web_url", "strip_tracking"),
}
_MODULE_OF = {name: module for module, names in _MODULES.items() for name in names}


def __getattr__(name: str) -> Any:
    """Return a name of `__all__` from the module that has it (PEP 562)."""
    if name not in _MODULE_OF:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_MODULE_OF[name]}"), name)
