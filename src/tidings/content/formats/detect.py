"""Detects the format of a document by its first element; media types are often wrong."""

from __future__ import annotations

import re
from typing import Final

from msgspec import Struct

from tidings.content.formats.charset import decode
from tidings.content.model import FeedFormat

# Characters before the root. Licences and comments may precede it, but not megabytes of them.
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
# A feed that a browser or an HTML parser took for a page: nothing else is in its body.
_WRAPPER: Final = re.compile(
    r"<html(?:\s[^<>]*+)?>\s*+(?:<head(?:\s[^<>]*+)?>\s*+(?:<meta\s[^<>]*+>\s*+)*+</head>\s*+)?"
    r"<body(?:\s[^<>]*+)?>\s*+(?:<!--\?xml[^<>]*+>\s*+|<\?xml[^<>]*+>\s*+)?",
    re.IGNORECASE,
)
_FIRST_KEY: Final = re.compile(r'\s*\{\s*(?:"|\})')


class DocumentRoot(Struct, frozen=True):
    """The feed's outermost element."""

    format: FeedFormat
    name: str = ""
    prefix: str = ""
    offset: int = 0
    """Its position; the text before it (the prolog) includes any DOCTYPE."""


def detect_format(body: bytes, charset: str | None = None) -> FeedFormat | None:
    """Return the format of what looks like a feed, else None. Reads the first 64 KiB only."""
    root = find_root(decode(body[:_SNIFFED_BYTES], charset))
    return root.format if root else None


def find_root(text: str) -> DocumentRoot | None:
    """Return the outermost element of the feed; None if the document is something else.

    Skips text before it: blank lines, warnings of a script, comments, a second XML declaration.
    """
    if _FIRST_KEY.match(text):
        return DocumentRoot(FeedFormat.JSON)
    offset = 0
    while (offset := text.find("<", offset, _PROLOG_LIMIT)) >= 0:
        tag = _START_TAG.match(text, offset)
        if tag is None:
            offset = _after_non_element(text, offset)
            continue
        prefix, name = tag[1] or "", tag[2].lower()
        if name in _FEED_ROOTS:
            return DocumentRoot(_FEED_ROOTS[name], name, prefix, offset)
        if name == "html" and (wrapper := _WRAPPER.match(text, offset)):
            tag = _START_TAG.match(text, wrapper.end())
            name = tag[2].lower() if tag else ""
            if tag and name in _FEED_ROOTS:
                return DocumentRoot(_FEED_ROOTS[name], name, tag[1] or "", wrapper.end())
            return None
        if name in _PAGE_ROOTS:
            return None
        offset = tag.end()
    return None


def _after_non_element(text: str, offset: int) -> int:
    """Return the position after a comment, a declaration, or a `<` that begins none of these."""
    if text.startswith("<!--", offset):
        return _position_after(text, "-->", offset + 4)
    if text.startswith("<?", offset):
        # Not up to "?>", which may be damaged or missing: the root would be skipped.
        return _position_after(text, ">", offset + 2)
    if text[offset : offset + 9].upper() == "<!DOCTYPE":
        return _after_doctype(text, offset)
    return offset + 1


def _after_doctype(text: str, offset: int) -> int:
    end = _position_after(text, ">", offset)
    subset = text.find("[", offset, end)
    return _position_after(text, "]", subset) if subset >= 0 else end


def _position_after(text: str, closing: str, offset: int) -> int:
    position = text.find(closing, offset)
    return position + len(closing) if position >= 0 else len(text)
