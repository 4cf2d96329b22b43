"""Finds the article inside a web page.

decode | apply the feed's scraper rule | else readability | restore lost media | else the element with most of the text

`extract` is not imported here: its dependencies take half a second and much memory to load.
"""

from __future__ import annotations

from urllib.parse import urlsplit

from msgspec import Struct

from tidings.base.messages import Message

# Media types of web pages.
HTML_TYPES = frozenset({"text/html", "application/xhtml+xml"})
# Media types of pages that are shown as the text that they are.
TEXT_TYPES = frozenset({"text/plain", "text/markdown", "text/x-markdown"})


class WebPage(Struct, frozen=True):
    """A page as fetched. charset: from the Content-Type, "" if absent. url: the final URL.

    scraper_rules: the feed's rule; "" if it has none, or if the page is on another host than the rule is for.
    is_continuation: it is the second or a later page of an article, so that the URLs of its content become absolute.
    is_text: it is plain text or Markdown.
    """

    body: bytes
    charset: str
    url: str
    scraper_rules: str = ""
    is_continuation: bool = False
    is_text: bool = False


class Article(Struct, frozen=True):
    """content: HTML, neither rewritten nor cleaned; "" if the page holds no article.

    base_url: base of relative URLs in `content`. warnings: of the scraper rule. next_url: of its next page, or "".
    title: of the page, "" without one. is_scraped: the scraper rule of the feed found it. page_url: the address that
    the page says it has, or else that it was found at; a page may name any address, even another site's.
    """

    content: str
    base_url: str
    warnings: tuple[Message, ...] = ()
    next_url: str = ""
    title: str = ""
    is_scraped: bool = False
    page_url: str = ""


class ExtractionResult(Struct, frozen=True):
    """article: None if extraction failed. failure: the reason, for the log."""

    article: Article | None
    failure: str = ""


def is_same_host(url: str, other: str) -> bool:
    """Return whether both URLs have the same host, so that the scraper rule of one fits the other."""
    try:
        return urlsplit(url).hostname == urlsplit(other).hostname
    except ValueError:
        return False
