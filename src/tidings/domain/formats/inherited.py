"""What an element inherits from those around it: xml:base and xml:lang."""

from __future__ import annotations

import re
from typing import Final

from lxml.etree import _Element

from tidings.domain.formats.addresses import web

_BASE: Final = "{http://www.w3.org/XML/1998/namespace}base"
_LANG: Final = "{http://www.w3.org/XML/1998/namespace}lang"
_LANGUAGE: Final = re.compile(r"[a-z0-9-]{1,50}")


def declared_base(element: _Element, around: str, url: str) -> str:
    """The base that `xml:base` sets inside an element, "" where nothing does.

    around: the same for what is around the element. url: the document's address, which the outermost base
    may be relative to. Source: XML Base, section 4.
    """
    # Most elements have no attributes, which is seen several times faster than that this one is not among them.
    value = element.get(_BASE) if element.keys() else None
    return (web(value, around or url) or around) if value else around


def language_inside(element: _Element, around: str = "") -> str:
    """The language inside an element whose surroundings are in `around`."""
    value = element.get(_LANG) if element.keys() else None
    return around if value is None else language(value)


def language(text: str) -> str:
    """A language code as `de-at`; "" for what cannot be one."""
    if not text:
        return ""
    code = text.strip().lower().replace("_", "-")
    return code if _LANGUAGE.fullmatch(code) else ""
