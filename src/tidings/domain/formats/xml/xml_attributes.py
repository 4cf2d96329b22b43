"""Values that an element inherits from its ancestors: xml:base and xml:lang."""

from __future__ import annotations

import re
from typing import Final

from lxml.etree import _Element

from tidings.domain.formats.urls import web_url

_BASE: Final = "{http://www.w3.org/XML/1998/namespace}base"
_LANG: Final = "{http://www.w3.org/XML/1998/namespace}lang"
_LANGUAGE: Final = re.compile(r"[a-z0-9-]{1,50}")


def declared_base(element: _Element, inherited: str, url: str) -> str:
    """Returns the base URL that `xml:base` sets inside an element, "" if there is none.

    inherited: the base URL of the parent. url: the URL of the document, the base of the outermost `xml:base`.
    Source: XML Base, section 4.
    """
    # Most elements have no attributes; testing that first is several times faster.
    value = element.get(_BASE) if element.keys() else None
    return (web_url(value, inherited or url) or inherited) if value else inherited


def element_language(element: _Element, inherited: str = "") -> str:
    """Returns the language inside an element. inherited: the language of its parent."""
    value = element.get(_LANG) if element.keys() else None
    return inherited if value is None else normalize_language(value)


def normalize_language(text: str) -> str:
    """Returns a language code such as `de-at`; "" for a text that cannot be one."""
    if not text:
        return ""
    code = text.strip().lower().replace("_", "-")
    return code if _LANGUAGE.fullmatch(code) else ""
