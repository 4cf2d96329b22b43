"""Values that an element inherits from its ancestors: xml:base and xml:lang."""

from __future__ import annotations

import re
from typing import Final

from lxml.etree import _Element

from tidings.content.urls import web_url
from tidings.content.xml.elements import XML_BASE, attribute

_LANG: Final = "{http://www.w3.org/XML/1998/namespace}lang"
_REGISTRIES: Final = ("http://www.iana.org/assignments/", "https://www.iana.org/assignments/")
_LANGUAGE: Final = re.compile(r"[a-z0-9-]{1,50}")


def declared_base(element: _Element, inherited: str, url: str) -> str:
    """Return the base URL that `xml:base` sets inside an element, "" if there is none.

    inherited: the base URL of the parent. url: the URL of the document, the base of the outermost `xml:base`.
    Source: XML Base, section 4.
    """
    # Most elements have no attributes; testing that first is several times faster.
    value = element.get(XML_BASE) if element.keys() else None
    return (web_url(value, inherited or url) or inherited) if value else inherited


def element_language(element: _Element, inherited: str = "") -> str:
    """Return the language inside an element. inherited: the language of its parent."""
    value = element.get(_LANG) if element.keys() else None
    return inherited if value is None else normalize_language(value)


def link_relations(link: _Element) -> tuple[str, ...]:
    """Return the values of `rel`, in lower case, () if it has none. An IRI of the registry counts as its short name.

    Source: RFC 4287, section 4.2.7.2; HTML, section 4.6.7, for several values.
    """
    written = attribute(link, "rel").lower()
    if written.isalpha():
        return (written,)
    return tuple(value.rpartition("/")[2] if value.startswith(_REGISTRIES) else value for value in written.split())


def normalize_language(text: str) -> str:
    """Return a language code such as `de-at`; "" for a text that cannot be one."""
    if not text:
        return ""
    code = text.strip().lower().replace("_", "-")
    return code if _LANGUAGE.fullmatch(code) else ""
