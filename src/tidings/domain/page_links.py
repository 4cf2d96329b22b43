"""What the markup of a web page says about other addresses: its feeds, its icons, its own proper address.

bytes | decode | tame | parse | link, a, base, meta
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Final
from urllib.parse import urlsplit

from msgspec import Struct
from selectolax.lexbor import LexborHTMLParser, LexborNode

from tidings.domain.cleaning import web_address
from tidings.domain.cleaning.nesting import tame
from tidings.domain.formats.charset import decode

# Links to feeds and icons stand in the head; lists of feeds in the first megabytes, if at all.
_READ_BYTES: Final = 3 * 2**20
_MOST_LINKS: Final = 5_000
_LONGEST_TEXT: Final = 200
# Characters; pictures may stand in the address itself.
_LONGEST_URL: Final = 2_000
_LONGEST_DATA: Final = 300_000

_META_BYTES: Final = 1024
_META_CHARSET: Final = re.compile(rb"<meta[^>]{0,200}?charset\s*=\s*[\"']?\s*([A-Za-z0-9._:-]{1,40})", re.IGNORECASE)
_FEED_SCHEME: Final = re.compile(r"(?:feed|itpc|pcast|podcast)s?:(?://)?(?=(https?:)?)", re.IGNORECASE)


class Link(Struct, frozen=True):
    """A `link` or `a` element. rel: lower case. type: lower case, without parameters.

    url: absolute, http or https, without fragment; that of an icon may be a data: address.
    text: the title attribute, else (of an `a`) what is shown. sizes: as written.
    """

    url: str
    rel: frozenset[str] = frozenset()
    type: str = ""
    text: str = ""
    sizes: str = ""


class PageLinks(Struct, frozen=True):
    """In document order. canonical: the page's proper address, "" when it names none."""

    canonical: str = ""
    links: tuple[Link, ...] = ()
    anchors: tuple[Link, ...] = ()


def read(body: bytes, *, url: str, charset: str | None = None) -> PageLinks:
    """url: where the page was found; relative addresses start there, or at its `base`. Never raises."""
    page = LexborHTMLParser(tame(page_text(body[:_READ_BYTES], charset)))
    base = url
    for node in page.css("base[href]")[:1]:
        base = _resolve(url, _attributes(node).get("href", "")) or url
    links = [_link(node, base) for node in page.css("link[href]")[:_MOST_LINKS]]
    anchors = [_link(node, base) for node in page.css("a[href]")[:_MOST_LINKS]]
    found = [link for link in links if link.url]
    return PageLinks(
        canonical=next((link.url for link in found if "canonical" in link.rel), ""),
        links=tuple(found),
        anchors=tuple(anchor for anchor in anchors if anchor.url),
    )


def page_text(body: bytes, charset: str | None = None) -> str:
    """A page as text: UTF-8 where it is that, else by the Content-Type, its `meta`, or a guess."""
    if not charset and (found := _META_CHARSET.search(body[:_META_BYTES])):
        charset = found[1].decode("ascii")
    return decode(body, charset)


def _link(node: LexborNode, base: str) -> Link:
    attributes = _attributes(node)
    text = attributes.get("title", "")
    if not text.strip() and node.tag == "a":
        text = node.text(deep=True)
    return Link(
        url=_resolve(base, attributes.get("href", "")),
        rel=frozenset(attributes.get("rel", "").lower().split()),
        type=attributes.get("type", "").partition(";")[0].strip().lower(),
        text=" ".join(text[: 10 * _LONGEST_TEXT].split())[:_LONGEST_TEXT],
        sizes=attributes.get("sizes", "").lower(),
    )


def _attributes(node: LexborNode) -> Mapping[str, str]:
    return {name: value or "" for name, value in node.attributes.items()}


def _resolve(base: str, address: str) -> str:
    """Links made for feed readers begin with feed: instead of, or in front of, http:."""
    address = address.strip()
    if address[:11].lower() == "data:image/" and len(address) <= _LONGEST_DATA:
        return address
    if scheme := _FEED_SCHEME.match(address):
        address = address[scheme.end() :] if scheme[1] else "http://" + address[scheme.end() :]
    if address.startswith("//"):
        address = base.partition("//")[0] + address
    found = web_address(base, address).partition("#")[0]
    try:
        urlsplit(found)
    except ValueError:
        return ""
    return found if len(found) <= _LONGEST_URL else ""
