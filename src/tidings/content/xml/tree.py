"""Parses text to a tree of elements, well-formed or not."""

from __future__ import annotations

import re
from typing import Final

from lxml import etree
from lxml.etree import _Element
from msgspec import Struct

from tidings.base.text import unescape_html
from tidings.content.formats.charset import DecodedText
from tidings.content.formats.detect import DocumentRoot
from tidings.content.formats.limits import is_certainly_within_limits, limit_damaged_xml, limit_xml
from tidings.content.xml.parser import xml_parser
from tidings.content.xml.repair import repair_xml

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
