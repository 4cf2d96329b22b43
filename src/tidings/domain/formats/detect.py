"""Which format a document is in, told by its first element rather than by its media type."""

from __future__ import annotations

import re
from typing import Final

from msgspec import Struct

from tidings.domain.feeds import FeedFormat
from tidings.domain.formats.charset import decode

# How far into the text a root may lie: licences and comments before it are real, megabytes of them are not.
_PROLOG_LIMIT: Final = 256 * 1024
_SNIFFED_BYTES: Final = 64 * 1024

_FEED_ROOTS: Final = {
    "rss": FeedFormat.RSS,
    "channel": FeedFormat.RSS,
    "feed": FeedFormat.ATOM,
    "entry": FeedFormat.ATOM,
    "rdf": FeedFormat.RDF,
}
_PAGE_ROOTS: Final = frozenset({"html", "head", "body", "opml", "urlset", "sitemapindex", "svg"})

_START_TAG: Final = re.compile(r"<(?:([A-Za-z_][\w.-]*):)?([A-Za-z_][\w.-]*)(?=[\s/>])")
_FIRST_KEY: Final = re.compile(r'\s*\{\s*(?:"|\})')


class Root(Struct, frozen=True):
    """Where the document proper begins: `prolog` is everything before, with any DOCTYPE."""

    format: FeedFormat
    name: str = ""
    prefix: str = ""
    offset: int = 0


def detect(body: bytes, charset: str | None = None) -> FeedFormat | None:
    """The format of what looks like a feed, or None. Reads the first 64 kB only."""
    root = find_root(decode(body[:_SNIFFED_BYTES], charset))
    return root.format if root else None


def find_root(text: str) -> Root | None:
    """The feed's outermost element, or None if something else comes first.

    Junk before it is passed over: blank lines, warnings of a script, comments, a second declaration.
    """
    if _FIRST_KEY.match(text):
        return Root(FeedFormat.JSON)
    offset = 0
    while (offset := text.find("<", offset, _PROLOG_LIMIT)) >= 0:
        tag = _START_TAG.match(text, offset)
        if tag is None:
            offset = _after_non_element(text, offset)
            continue
        prefix, name = tag[1] or "", tag[2].lower()
        if name in _FEED_ROOTS:
            return Root(_FEED_ROOTS[name], name, prefix, offset)
        if name in _PAGE_ROOTS:
            return None
        offset = tag.end()
    return None


def _after_non_element(text: str, offset: int) -> int:
    """Where to go on after a comment, a declaration, or a `<` that is none of these."""
    if text.startswith("<!--", offset):
        return _after(text, "-->", offset + 4)
    if text.startswith("<?", offset):
        # Not up to "?>", which may be damaged or missing: that would pass over the root.
        return _after(text, ">", offset + 2)
    if text[offset : offset + 9].upper() == "<!DOCTYPE":
        return _after_doctype(text, offset)
    return offset + 1


def _after_doctype(text: str, offset: int) -> int:
    end = _after(text, ">", offset)
    subset = text.find("[", offset, end)
    return _after(text, "]", subset) if subset >= 0 else end


def _after(text: str, closing: str, offset: int) -> int:
    found = text.find(closing, offset)
    return found + len(closing) if found >= 0 else len(text)
