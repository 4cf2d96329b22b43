"""Text to a tree of elements, whatever state the text is in."""

from __future__ import annotations

import re
from typing import Final

from lxml import etree
from lxml.etree import _Element
from msgspec import Struct

from tidings.domain.formats.detect import Root
from tidings.domain.formats.doctype import declared_entities
from tidings.domain.formats.repair import repair
from tidings.domain.formats.size import readable_damaged_xml

# The typographic signs of windows-1252, as numbers that XML gives to control characters, or as these themselves.
_WINDOWS_REFERENCE: Final = re.compile(r"&#1([2-5]\d);")
_CONTROLS: Final = re.compile(rb"\xc2([\x80-\x9f])")


class Document(Struct, frozen=True):
    """root: None when there is no element. is_cut_off: the text ended inside an item, which was left out."""

    root: _Element | None
    is_cut_off: bool = False


def read_document(text: str, root: Root) -> Document:
    """The tree below the feed's root.

    Most documents are well-formed and go straight through. The rest is repaired first, because the recovery
    of libxml2 pairs tags in ways that lose items: one stray close tag ends whatever is open.
    """
    entities = declared_entities(text[: root.offset]) if "<!" in text[: root.offset] else {}
    body = text[root.offset :] if root.offset else text
    # One letter is found much faster than three, and most documents have none.
    if "#" in body and "&#1" in body:
        body = _WINDOWS_REFERENCE.sub(_windows_character, body)
    try:
        return Document(etree.fromstring(_encode(body), _parser(recover=False)))
    except etree.XMLSyntaxError:
        pass
    repaired = repair(readable_damaged_xml(body), entities)
    return Document(etree.fromstring(_encode(repaired.text), _parser(recover=True)), repaired.is_cut_off)


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
    source = text.encode("utf-8", "replace")
    if text.isascii():
        return source
    return _CONTROLS.sub(_windows_control, source) if _CONTROLS.search(source) else source


def _windows_character(found: re.Match[str]) -> str:
    code = 100 + int(found[1])
    return bytes([code]).decode("cp1252", "ignore") if 128 <= code <= 159 else found[0]


def _windows_control(found: re.Match[bytes]) -> bytes:
    return found[1].decode("cp1252", "ignore").encode()
