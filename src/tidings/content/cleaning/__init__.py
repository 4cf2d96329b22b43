"""Makes HTML and URLs from outside safe to show, and removes tracking.

clean            HTML ─► HTML that is safe in our pages
clean_with_text  the same, and its text
text_of          clean HTML ─► its words
prefix_ids       clean HTML of an older version ─► with a prefix before its ids
resolve_url      a URL as written on a page ─► absolute
resolve_web_url  the same, http and https only
strip_tracking   a URL ─► without tracking parameters
"""

from __future__ import annotations

from msgspec import Struct

from tidings.content.cleaning.depth_limits import MAX_TAGS, close_elements, count_tags, limit_nesting, truncate
from tidings.content.cleaning.ids import prefix_ids
from tidings.content.cleaning.links import LinkCleaner
from tidings.content.cleaning.policy import DEFAULT_POLICY, CleaningPolicy
from tidings.content.cleaning.sanitize import sanitize
from tidings.content.cleaning.text import text_of
from tidings.content.cleaning.writer import CleanHtmlWriter
from tidings.content.urls import resolve_url, resolve_web_url, strip_tracking

__all__ = [
    "DEFAULT_POLICY",
    "CleanedHtml",
    "CleaningPolicy",
    "clean",
    "clean_with_text",
    "prefix_ids",
    "resolve_url",
    "resolve_web_url",
    "strip_tracking",
    "text_of",
]  # fmt: skip

# Cleaning adds attributes to links. Output that grows more than this comes from elements that are reopened many times.
MAX_GROWTH = 20
# The same limit for relative URLs that become absolute.
MAX_URL_GROWTH = 8


class CleanedHtml(Struct, frozen=True):
    """text: the text of the HTML, without tags but with character references and all blanks; see `cleaning.text`."""

    html: str
    text: str


def clean(html: str, *, base_url: str, page_url: str = "", policy: CleaningPolicy = DEFAULT_POLICY) -> str:
    """Return the part of a publisher's HTML that is safe and useful to show. Never raises.

    Cleaning clean HTML changes nothing. The time is linear in the length.
    base_url: absolute base of relative URLs; without it relative URLs are left out.
    page_url: the address of the article, if it is not the base: links to a place in it stay inside the article.
    Allowed: `elements`, `images`, `frames`, `formulas`; allowed URLs: `links`.
    """
    return clean_with_text(html, base_url=base_url, page_url=page_url, policy=policy).html


def clean_with_text(
    html: str, *, base_url: str, page_url: str = "", policy: CleaningPolicy = DEFAULT_POLICY
) -> CleanedHtml:
    """Return the same as `clean` with the text, which would take time to extract from the HTML later."""
    source = html.replace("\0", "") if "\0" in html else html
    try:
        encoded = source.encode()
    except UnicodeEncodeError:
        # JSON can contain lone surrogates, which UTF-8 cannot encode.
        encoded = source.encode(errors="replace")
        source = encoded.decode()
    if "<" not in source and "&" not in source:
        text = source.replace("\r\n", "\n").replace("\r", "\n").replace(">", "&gt;")
        return CleanedHtml(text, text)
    if len(source) > MAX_TAGS:  # a shorter text cannot have more tags
        source = truncate(source)
        encoded = source.encode()
    limited = limit_nesting(source, tags=count_tags(encoded))
    urls = (base_url, page_url)
    cleaned = _sanitize(limited, encoded if limited is source else limited.encode(), urls, policy)
    if len(cleaned.html) > MAX_GROWTH * len(source) + 10_000:
        closed = close_elements(source)
        cleaned = _sanitize(closed, closed.encode(), urls, policy)
    return cleaned


def _sanitize(source: str, encoded: bytes, urls: tuple[str, str], policy: CleaningPolicy) -> CleanedHtml:
    """Return the clean HTML of a source. encoded: the source in UTF-8, the input of the parser.

    urls: base_url and page_url of `clean`.
    """
    writer = _sanitize_once(source, encoded, urls, policy)
    if writer.needs_second_pass:
        again = "".join(writer.out)
        writer = _sanitize_once(again, again.encode(), urls, policy)
    return CleanedHtml("".join(writer.out), "".join(writer.text_parts))


def _sanitize_once(source: str, encoded: bytes, urls: tuple[str, str], policy: CleaningPolicy) -> CleanHtmlWriter:
    base_url, page_url = urls
    max_url_chars = MAX_URL_GROWTH * len(source) + 10_000
    links = LinkCleaner(base_url, policy.referring_hosts, page_url=page_url, max_url_chars=max_url_chars)
    return sanitize(encoded, links, policy)
