"""Text to a tree of elements, whatever state the text is in."""

from __future__ import annotations

import re
from typing import Final

from lxml import etree
from lxml.etree import _Element
from msgspec import Struct

from tidings.domain.formats.charset import Source
from tidings.domain.formats.detect import Root
from tidings.domain.formats.doctype import declared_entities
from tidings.domain.formats.repair import repair
from tidings.domain.formats.size import is_surely_readable, readable_damaged_xml, readable_xml

# The typographic signs of windows-1252, as numbers that XML gives to control characters, or as these themselves.
_REFERENCE: Final = re.compile(r"&#1([2-5]\d);")
_CONTROL: Final = re.compile(rb"\xc2([\x80-\x9f])")
# Whether there is such a reference is seen faster when one looks for its rarest sign.
_HAS_REFERENCE: Final = re.compile(rb"#(?<=&#)1[2-5]\d;")


class Document(Struct, frozen=True):
    """root: None when there is no element. is_cut_off: the text ended inside an item, which was left out.
    is_damaged: it was repaired, as well as that goes.
    """

    root: _Element | None
    is_cut_off: bool = False
    is_damaged: bool = False


def read_document(source: Source, root: Root) -> Document:
    """The tree below the feed's root.

    Most documents are well-formed and go straight through. The rest is repaired first, because the recovery
    of libxml2 pairs tags in ways that lose items: one stray close tag ends whatever is open.
    """
    text, utf8 = source.text, source.utf8
    if not is_surely_readable(text):
        text = readable_xml(text, utf8)
    if utf8 is None or text is not source.text:
        utf8 = _encode(text)
    try:
        return Document(_read_well_formed(utf8[len(_encode(text[: root.offset])) :]))
    except etree.XMLSyntaxError:
        return _read_damaged(readable_xml(text), root)


def _read_well_formed(utf8: bytes) -> _Element:
    start = utf8.find(b"#")
    if start >= 0 and _HAS_REFERENCE.search(utf8, start):
        utf8 = _encode(_without_references(utf8.decode()))
    return etree.fromstring(_without_controls(utf8), _parser(recover=False))


def _read_damaged(text: str, root: Root) -> Document:
    prolog, body = text[: root.offset], text[root.offset :]
    entities = declared_entities(prolog) if "<!" in prolog else {}
    repaired = repair(readable_damaged_xml(_without_references(body)), entities)
    utf8 = _without_controls(_encode(repaired.text))
    return Document(etree.fromstring(utf8, _parser(recover=True)), repaired.is_cut_off, is_damaged=True)


def _parser(*, recover: bool) -> etree.XMLParser:
    """A fresh parser: one is not safe to share between threads.

    Nothing is loaded from anywhere, and a DOCTYPE never gets here, so there is nothing to expand either.
    Depth stays limited (2,048 levels), long texts do not.
    """
    return etree.XMLParser(
        encoding="utf-8",
        recover=recover,
        resolve_entities=False,
        no_network=True,
        load_dtd=False,
        huge_tree=True,
        remove_comments=True,
        remove_pis=True,
    )


def _encode(text: str) -> bytes:
    return text.encode("utf-8", "replace")


def _without_references(text: str) -> str:
    return _REFERENCE.sub(_windows_character, text) if "&#1" in text else text


def _without_controls(utf8: bytes) -> bytes:
    # Without accents, or without blanks that must not break, there is nothing to look for.
    start = utf8.find(b"\xc2")
    return _CONTROL.sub(_windows_control, utf8) if start >= 0 and _CONTROL.search(utf8, start) else utf8


def _windows_character(found: re.Match[str]) -> str:
    code = 100 + int(found[1])
    return bytes([code]).decode("cp1252", "ignore") if 128 <= code <= 159 else found[0]


def _windows_control(found: re.Match[bytes]) -> bytes:
    return found[1].decode("cp1252", "ignore").encode()
