"""Atom's text constructs and content, both as RFC 4287 defines them and as Atom 0.3 did."""

from __future__ import annotations

import base64
import binascii
from typing import Final

from lxml.etree import _Element

from tidings.domain.formats import text
from tidings.domain.formats.elements import attribute, inner_markup, text_of

_HTML: Final = frozenset({"html", "text/html"})
_PLAIN: Final = frozenset({"", "text", "text/plain"})
# As most write it, and nothing else.
_USUAL: Final = frozenset({"html", "text", "xhtml"})


def as_html(element: _Element) -> str:
    """What the element holds, as HTML; "" for what cannot be shown, such as a reference to elsewhere."""
    kind, mode, source = _attributes(element)
    if mode == "base64":
        return _in_kind(_decoded(text_of(element)), kind)
    if mode in ("escaped", "xml") or (not mode and source):
        return _atom03(element, kind, mode) if mode else ""
    if len(element):
        return _markup(element)
    if kind in _HTML:
        return text_of(element)
    if _is_xml(kind):
        return _markup(element)
    if kind in _PLAIN or kind.startswith("text/"):
        return text.escaped(text_of(element))
    return _in_kind(_decoded(text_of(element)), "text/html")


def as_plain(element: _Element) -> str:
    """What the element says, as plain text in one line."""
    kind, mode, _ = _attributes(element)
    if kind in _HTML or mode or not (kind in _PLAIN or _is_xml(kind)):
        return text.from_html(as_html(element))
    return text.one_line(text_of(element))


def _attributes(element: _Element) -> tuple[str, str, str]:
    """The media type and the mode, both in lower case, and where it refers to."""
    count = len(element.keys())
    if not count:
        return "", "", ""
    kind = attribute(element, "type")
    if kind in _USUAL and count == 1:
        return kind, "", ""
    return kind.partition(";")[0].strip().lower(), attribute(element, "mode").lower(), attribute(element, "src")


def _atom03(element: _Element, kind: str, mode: str) -> str:
    if mode == "xml":
        return _markup(element)
    return _in_kind(text_of(element), kind)


def _in_kind(source: str, kind: str) -> str:
    return text.escaped(source) if kind in ("", "text/plain") else source


def _is_xml(kind: str) -> bool:
    return kind == "xhtml" or kind.endswith(("+xml", "/xml"))


def _markup(element: _Element) -> str:
    """The inside of the element, or of the `div` that XHTML has to be wrapped in."""
    if len(element) == 1 and not (element.text or "").strip() and not (element[0].tail or "").strip():
        child = element[0]
        if str(child.tag).rpartition("}")[2].rpartition(":")[2].lower() == "div":
            return inner_markup(child) if len(child) else text.escaped(child.text or "")
    return inner_markup(element)


def _decoded(encoded: str) -> str:
    try:
        return text.storable(base64.b64decode(encoded, validate=False).decode())
    except (binascii.Error, ValueError):
        return ""
