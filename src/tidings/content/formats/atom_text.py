"""Atom text constructs and content as HTML or plain text, by the rules of RFC 4287 and of Atom 0.3."""

from __future__ import annotations

import base64
import binascii
from typing import Final

from lxml.etree import _Element

from tidings.content.formats import text
from tidings.content.xml.elements import attribute, inner_html, text_of

_HTML: Final = frozenset({"html", "text/html"})
# Base64 of what most publishers mean to be HTML.
_BINARY: Final = "application/octet-stream"
_PLAIN: Final = frozenset({"", "text", "text/plain"})
# Types that need no normalization; the usual case.
_COMMON_TYPES: Final = frozenset({"html", "text", "xhtml"})


def element_to_html(element: _Element) -> str:
    """Return the content of the element as HTML; "" for content that is elsewhere (`src`) or undecodable."""
    media_type, mode, source = _attributes(element)
    if mode == "base64":
        return _html_of_type(_decode_base64(text_of(element)), media_type)
    if mode in ("escaped", "xml") or (not mode and source):
        return _atom03(element, media_type, mode) if mode else ""
    if len(element):
        return _inner_xhtml(element)
    if media_type in _HTML:
        return text.unwrap_cdata(text_of(element))
    if _is_xml(media_type):
        return _inner_xhtml(element)
    if media_type in _PLAIN or media_type.startswith("text/"):
        return text.escape_html(text_of(element))
    return _html_of_type(_decode_base64(text_of(element)), "text/html")


def may_be_escaped_twice(element: _Element | None) -> bool:
    """Return whether the element's content is HTML, or of no declared type and thus perhaps meant as HTML."""
    if element is None:
        return False
    media_type, mode, _ = _attributes(element)
    return media_type in _HTML or (not media_type and not mode and len(element) == 0)


def element_to_text(element: _Element) -> str:
    """Return the content of the element as plain text on one line. Content of an unknown type is text."""
    media_type, mode, _ = _attributes(element)
    if mode or media_type == _BINARY:
        return text.html_to_text(element_to_html(element))
    if media_type in _HTML:
        return text.html_title_to_text(element_to_html(element))
    return text.collapse_whitespace(text_of(element))


def _attributes(element: _Element) -> tuple[str, str, str]:
    """Return the media type and the Atom 0.3 mode, both in lower case, and the value of `src`."""
    count = len(element.keys())
    if not count:
        return "", "", ""
    media_type = attribute(element, "type")
    if media_type in _COMMON_TYPES and count == 1:
        return media_type, "", ""
    return media_type.partition(";")[0].strip().lower(), attribute(element, "mode").lower(), attribute(element, "src")


def _atom03(element: _Element, media_type: str, mode: str) -> str:
    if mode == "xml":
        return _inner_xhtml(element)
    return _html_of_type(text_of(element), media_type)


def _html_of_type(source: str, media_type: str) -> str:
    return text.escape_html(source) if media_type in ("", "text/plain") else source


def _is_xml(media_type: str) -> bool:
    return media_type == "xhtml" or media_type.endswith(("+xml", "/xml"))


def _inner_xhtml(element: _Element) -> str:
    """Return the markup inside the element, without the `div` that RFC 4287 requires around XHTML."""
    is_xhtml = _is_xml(attribute(element, "type").lower())
    if len(element) == 1 and not (element.text or "").strip() and not (element[0].tail or "").strip():
        child = element[0]
        if str(child.tag).rpartition("}")[2].rpartition(":")[2].lower() == "div":
            return inner_html(child, is_xhtml=True) if len(child) else text.escape_html(child.text or "")
    return inner_html(element, is_xhtml=is_xhtml)


def _decode_base64(encoded: str) -> str:
    try:
        return text.remove_unstorable(base64.b64decode(encoded, validate=False).decode())
    except (binascii.Error, ValueError):
        return ""
