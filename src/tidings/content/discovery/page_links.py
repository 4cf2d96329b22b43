"""Links in the markup of a web page: feeds, icons, the canonical URL.

bytes | decode | limit nesting | parse | link, a, base, meta
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from itertools import islice
from typing import Final
from urllib.parse import urlsplit

from msgspec import Struct
from selectolax.lexbor import LexborHTMLParser, LexborNode

from tidings.content.cleaning.sanitize import limit_nesting
from tidings.content.formats.charset import decode
from tidings.content.urls import resolve_web_url

# Links to feeds and icons are in the head, lists of feeds in the first megabytes.
_READ_BYTES: Final = 3 * 2**20
_MAX_LINKS: Final = 5_000
_MAX_TEXT_CHARS: Final = 200
# Characters. An icon may be a `data:` URL, which is longer.
_MAX_URL_CHARS: Final = 2_000
_MAX_DATA_URL_CHARS: Final = 300_000

_META_BYTES: Final = 1024
_META_CHARSET: Final = re.compile(rb"<meta[^>]{0,200}?charset\s*=\s*[\"']?\s*([A-Za-z0-9._:-]{1,40})", re.IGNORECASE)
_REFRESH: Final = re.compile(r"\s*[\d.]+\s*[;,]?\s*url\s*=\s*[\"']?([^\"']+)", re.IGNORECASE)
# Elements of an anchor without text that are searched for what it means.
_MAX_SEARCHED_ELEMENTS: Final = 10
_MEANINGFUL_ATTRIBUTES: Final = ("aria-label", "alt", "title", "class", "src", "href", "xlink:href")
_FEED_SCHEME: Final = re.compile(r"(?:feed|itpc|pcast|podcast)s?:(?://)?(?=(https?:)?)", re.IGNORECASE)


class PageLink(Struct, frozen=True):
    """A `link` or `a` element."""

    url: str
    """An absolute http or https URL without fragment; an icon may have a `data:` URL."""
    rel: frozenset[str] = frozenset()
    """In lower case."""
    type: str = ""
    """In lower case, without parameters."""
    text: str = ""
    """The title attribute, else the text of an `a`, else names in its icon."""
    sizes: str = ""
    """As written."""


class PageLinks(Struct, frozen=True):
    """The links of a page, each kind in document order."""

    canonical: str = ""
    """The canonical URL, "" if the page declares none."""
    links: tuple[PageLink, ...] = ()
    anchors: tuple[PageLink, ...] = ()
    refresh: str = ""
    """The URL that a `meta` element leads browsers to, "" if there is none."""


def read_page_links(body: bytes, *, url: str, charset: str | None = None) -> PageLinks:
    """Return the links of a page. Never raises.

    url: the page's URL, the base of relative URLs unless the page has a `base` element.
    """
    page = LexborHTMLParser(limit_nesting(page_text(body[:_READ_BYTES], charset)))
    base = url
    for node in page.css("base[href]")[:1]:
        base = _resolve(url, _attributes(node).get("href", "")) or url
    links = [_link(node, base) for node in page.css("link[href]")[:_MAX_LINKS]]
    anchors = [_link(node, base) for node in page.css("a[href]")[:_MAX_LINKS]]
    resolved = [link for link in links if link.url]
    return PageLinks(
        canonical=next((link.url for link in resolved if "canonical" in link.rel), ""),
        links=tuple(resolved),
        anchors=tuple(anchor for anchor in anchors if anchor.url),
        refresh=next(_refreshes(page, base), ""),
    )


def _refreshes(page: LexborHTMLParser, base: str) -> Iterator[str]:
    for node in page.css("meta[http-equiv][content]")[:_MAX_LINKS]:
        attributes = _attributes(node)
        if attributes.get("http-equiv", "").strip().lower() == "refresh" and (
            match := _REFRESH.match(attributes["content"][:_MAX_URL_CHARS])
        ):
            yield _resolve(base, match[1])


def page_text(body: bytes, charset: str | None = None) -> str:
    """Return a page as text. Encoding: UTF-8 if valid, else of the Content-Type or a `meta` element, or guessed."""
    match = _META_CHARSET.search(body[:_META_BYTES])
    return decode(body, charset, match[1].decode("ascii") if match else None)


def _link(node: LexborNode, base: str) -> PageLink:
    attributes = _attributes(node)
    text = attributes.get("title", "")
    if not text.strip() and node.tag == "a":
        text = node.text(deep=True)
        if not text.strip():
            text = _meaning(node)
    return PageLink(
        url=_resolve(base, attributes.get("href", "")),
        rel=frozenset(attributes.get("rel", "").lower().split()),
        type=attributes.get("type", "").partition(";")[0].strip().lower(),
        text=" ".join(text[: 10 * _MAX_TEXT_CHARS].split())[:_MAX_TEXT_CHARS],
        sizes=attributes.get("sizes", "").lower(),
    )


def _meaning(anchor: LexborNode) -> str:
    """Return what the attributes of an anchor without text say, such as `fa fa-rss` or the name of an image."""
    elements = islice(anchor.traverse(), _MAX_SEARCHED_ELEMENTS)
    values = [
        value[:_MAX_TEXT_CHARS]
        for element in elements
        for name in _MEANINGFUL_ATTRIBUTES
        if (value := (element.attributes.get(name) or "")) and not (element is anchor and name == "href")
    ]
    return " ".join(values).replace("_", " ")


def _attributes(node: LexborNode) -> Mapping[str, str]:
    return {name: value or "" for name, value in node.attributes.items()}


def _resolve(base: str, url: str) -> str:
    """Return an absolute URL, or "". Resolves `feed:` and similar schemes, which stand for http or precede it."""
    url = url.strip()
    if url[:11].lower() == "data:image/" and len(url) <= _MAX_DATA_URL_CHARS:
        return url
    if scheme := _FEED_SCHEME.match(url):
        url = url[scheme.end() :] if scheme[1] else "http://" + url[scheme.end() :]
    if url.startswith("//"):
        url = base.partition("//")[0] + url
    url_without_fragment = resolve_web_url(base, url).partition("#")[0]
    try:
        urlsplit(url_without_fragment)
    except ValueError:
        return ""
    return url_without_fragment if len(url_without_fragment) <= _MAX_URL_CHARS else ""
