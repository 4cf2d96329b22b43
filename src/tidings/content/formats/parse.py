"""Parses the body of a response into a feed.

bytes | decode | find_root | limit_xml, limit_json | read_document: well-formed, or repaired first | tree below the root
                                                                     | RSS, Atom, JSON Feed or CDF | ParsedFeed

The format follows from the first element, because media types are often wrong. A document's size in memory depends on
its elements more than on its length, so these are limited, far above real feeds: the densest of 200 feeds has a tag or
an attribute for every 27 bytes, the longest has 1,046 entries.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import islice
from typing import Final

from lxml import etree
from lxml.etree import _Element
from msgspec import Struct
from msgspec.structs import replace

from tidings.base.messages import msg
from tidings.base.text import unescape_html
from tidings.base.times import Instant
from tidings.content.errors import FeedUnreadable, NotAFeed
from tidings.content.formats.atom import read_atom
from tidings.content.formats.charset import DecodedText, decode, decode_document
from tidings.content.formats.json_feed import read_json_feed
from tidings.content.formats.rss import read_rss
from tidings.content.model import DocumentLimit, FeedFormat, ParsedFeed
from tidings.content.xml.elements import xml_parser
from tidings.content.xml.repair import repair_xml

# Limits

# Elements, attributes or objects: this many, and one more for each so many characters.
_MIN_ELEMENT_LIMIT: Final = 30_000
_XML_CHARS_PER_ELEMENT: Final = 25
_JSON_CHARS_PER_ELEMENT: Final = 40
# Well-formed text of this length cannot exceed the limit: the shortest element takes four characters.
_ALWAYS_WITHIN_LIMIT_CHARS: Final = 4 * _MIN_ELEMENT_LIMIT

_XML: Final = re.compile(r"""<!\[CDATA\[|<[^/!?]|=\s*+["']""")
_XML_DAMAGED: Final = re.compile("<[^/]|=")
_JSON: Final = re.compile(r"[{\[]")


def is_certainly_within_limits(well_formed: str) -> bool:
    """Return whether well-formed text is too short to exceed the limit, so that it need not be counted."""
    return len(well_formed) <= _ALWAYS_WITHIN_LIMIT_CHARS


def limit_xml(text: str, utf8: bytes | None = None) -> str:
    """Return the text, cut before the first tag beyond the limit on tags and attributes.

    utf8: the same text as UTF-8 if available, because bytes are counted faster.
    """
    limit = _MIN_ELEMENT_LIMIT + len(text) // _XML_CHARS_PER_ELEMENT
    count = text.count("<") + text.count("=") if utf8 is None else utf8.count(b"<") + utf8.count(b"=")
    return _cut_xml(text, limit) if count > limit else text


def limit_damaged_xml(text: str) -> str:
    """Return the text, cut at the limit, for text in which CDATA sections cannot be recognized: every sign counts."""
    limit = _MIN_ELEMENT_LIMIT + len(text) // _XML_CHARS_PER_ELEMENT
    return _cut(text, _XML_DAMAGED, limit) if text.count("<") + text.count("=") > limit else text


def limit_json(text: str) -> str:
    """Return the text, cut before the first object or list beyond the limit."""
    limit = _MIN_ELEMENT_LIMIT + len(text) // _JSON_CHARS_PER_ELEMENT
    return _cut(text, _JSON, limit) if text.count("{") + text.count("[") > limit else text


def _cut(text: str, token: re.Pattern[str], limit: int) -> str:
    first_beyond = next(islice(token.finditer(text), limit, None), None)
    return text if first_beyond is None else text[: first_beyond.start()]


def _cut_xml(text: str, limit: int) -> str:
    """Return the text, cut at the limit. The content of closed CDATA sections does not count."""
    for start, end in _outside_sections(text):
        for match in _XML.finditer(text, start, end):
            limit -= 1
            if limit < 0:
                return text[: match.start()]
    return text


def _outside_sections(text: str) -> Iterator[tuple[int, int]]:
    """Yield where each part of the text outside closed CDATA sections begins and ends."""
    position, last_end = 0, text.rfind("]]>")
    while (start := text.find("<![CDATA[", position, max(last_end, 0))) >= 0:
        yield position, start
        position = text.index("]]>", start)
    yield position, len(text)


# Format

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


# Tree

# Typographic characters of windows-1252, written as numeric references to control characters or as such characters.
_REFERENCE: Final = re.compile(r"&#1([2-5]\d);")
_CONTROL: Final = re.compile(rb"\xc2([\x80-\x9f])")
# Searching for "#", the rarest character of such a reference, is fastest.
_HAS_REFERENCE: Final = re.compile(rb"#(?<=&#)1[2-5]\d;")


class XmlDocument(Struct, frozen=True):
    """A parsed XML document, and what is missing from it."""

    root: _Element | None
    """None if there is no element."""
    is_cut_off: bool = False
    """Whether the text ended inside an item, which was left out."""
    is_limited: bool = False
    """Whether the text was cut at the limit on elements."""


def read_document(source: DecodedText, root: DocumentRoot) -> XmlDocument:
    """Return the tree below the feed's root. Raises lxml.etree.LxmlError if no tree can be built.

    Most documents are well-formed and are parsed directly. The others are repaired first, because the recovery of
    libxml2 loses items: one stray end tag closes all open elements.
    """
    text, utf8 = source.text, source.utf8
    is_short = is_certainly_within_limits(text)
    if not is_short:
        text = limit_xml(text, utf8)
    if utf8 is None or text is not source.text:
        utf8 = _encode(text)
    try:
        document = _read_well_formed(utf8[len(_encode(text[: root.offset])) :])
    except etree.XMLSyntaxError:
        # What is not well-formed can exceed the limit at any length.
        text = limit_xml(text) if is_short else text
        return _read_damaged(text, root, is_limited=text is not source.text)
    return XmlDocument(document, is_limited=text is not source.text)


def _read_well_formed(utf8: bytes) -> _Element:
    start = utf8.find(b"#")
    if start >= 0 and _HAS_REFERENCE.search(utf8, start):
        utf8 = _encode(_without_references(utf8.decode()))
    return etree.fromstring(_without_controls(utf8), xml_parser(huge=True))


def _read_damaged(text: str, root: DocumentRoot, *, is_limited: bool) -> XmlDocument:
    prolog, body = text[: root.offset], text[root.offset :]
    entities = declared_entities(prolog) if "<!" in prolog else {}
    whole = _without_references(body)
    limited = limit_damaged_xml(whole)
    repaired = repair_xml(limited, entities)
    utf8 = _without_controls(_encode(repaired.text))
    tree = etree.fromstring(utf8, xml_parser(recover=True, huge=True))
    return XmlDocument(tree, repaired.is_cut_off, is_limited or limited is not whole)


def _encode(text: str) -> bytes:
    return text.encode("utf-8", "replace")


def _without_references(text: str) -> str:
    return _REFERENCE.sub(_windows_character, text) if "&#1" in text else text


def _without_controls(utf8: bytes) -> bytes:
    # The lead byte of these characters also begins accented letters, so the pattern decides.
    start = utf8.find(b"\xc2")
    return _CONTROL.sub(_windows_control, utf8) if start >= 0 and _CONTROL.search(utf8, start) else utf8


def _windows_character(match: re.Match[str]) -> str:
    code = 100 + int(match[1])
    return bytes([code]).decode("cp1252", "ignore") if 128 <= code <= 159 else match[0]


def _windows_control(match: re.Match[bytes]) -> bytes:
    return match[1].decode("cp1252", "ignore").encode()


_DECLARATION: Final = re.compile(
    r"""<!ENTITY\s+([A-Za-z_][\w.-]{0,63})\s+(?:"([^"<]{0,2000})"|'([^'<]{0,2000})')\s*>"""
)
_ANY_REFERENCE: Final = re.compile(r"&[\w#]+;")
_MAX_ENTITIES: Final = 500


def declared_entities(prolog: str) -> dict[str, str]:
    """Return names and texts of the internal entities declared in a DOCTYPE.

    Only plain text counts. An entity that holds elements, refers to other entities (entity expansion attacks) or is
    external is treated as undeclared.
    """
    entities: dict[str, str] = {}
    for declaration in _DECLARATION.finditer(prolog):
        value = unescape_html(declaration[2] or declaration[3] or "")
        if not _ANY_REFERENCE.search(value):
            entities.setdefault(declaration[1], value)
        if len(entities) >= _MAX_ENTITIES:
            break
    return entities


# Feed


def parse_feed(body: bytes, *, url: str, charset: str | None = None, now: Instant | None = None) -> ParsedFeed:
    """Return the feed of a document.

    body: the decompressed document. url: the URL it was finally fetched from, the base of relative URLs.
    charset: the one that the Content-Type names, if any. now: the time of fetching; later dates become `now`.
    Raises NotAFeed if the document is not a feed, FeedUnreadable if it is a feed that cannot be parsed.
    """
    source = decode_document(body, charset)
    root = find_root(source.text)
    if root is None:
        raise NotAFeed(msg("The address answers, but not with a feed. Look for the feed's own address on the page."))
    if root.format is FeedFormat.JSON:
        limited = limit_json(source.text)
        feed = read_json_feed(limited, url=url, now=now)
        if feed is None:
            raise NotAFeed(msg("The address answers with JSON, but not with a JSON Feed."))
        return _with_element_limit(feed, is_limited=limited is not source.text)
    return _parse_xml(source, root, url, now)


def _parse_xml(source: DecodedText, root: DocumentRoot, url: str, now: Instant | None) -> ParsedFeed:
    try:
        document = read_document(source, root)
    except etree.LxmlError as error:
        raise FeedUnreadable(
            msg("The feed is damaged beyond reading. Tell its publisher, or try again later.")
        ) from error
    if document.root is None:
        raise FeedUnreadable(msg("The feed is damaged beyond reading. Tell its publisher, or try again later."))
    if root.format is FeedFormat.ATOM:
        feed = read_atom(document.root, url=url, is_cut_off=document.is_cut_off, now=now)
    else:
        feed = read_rss(document.root, url=url, feed_format=root.format, is_cut_off=document.is_cut_off, now=now)
    return _with_element_limit(feed, is_limited=document.is_limited)


def _with_element_limit(feed: ParsedFeed, *, is_limited: bool) -> ParsedFeed:
    return replace(feed, limits_reached=feed.limits_reached | {DocumentLimit.ELEMENTS}) if is_limited else feed
