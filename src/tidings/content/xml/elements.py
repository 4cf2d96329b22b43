"""Reads elements: children by name, text, inner HTML."""

from __future__ import annotations

import re
from copy import deepcopy
from typing import Final

from lxml import etree
from lxml.etree import _Element

from tidings.content.formats.text import unwrap_cdata
from tidings.content.urls import relative_url
from tidings.content.xml.namespaces import TagNames
from tidings.content.xml.serialization import to_html

XML_BASE: Final = "{http://www.w3.org/XML/1998/namespace}base"
_URL_ATTRIBUTES: Final = ("href", "src", "poster")
_TAG: Final = re.compile(r"</?[a-z][a-z0-9]*[\s/>]", re.IGNORECASE)
# Listing attributes takes quadratic time in lxml; no element of a feed has this many.
_MAX_ATTRIBUTES: Final = 64


class ElementFields(dict[str, list[_Element]]):
    """The children of one element by short name, each list in document order."""

    __slots__ = ("element",)

    def __init__(self, element: _Element, names: TagNames) -> None:
        self.element = element
        # A slice is one call into lxml, which is cheaper than one call per child.
        for child in element[:]:
            name = names[child.tag]  # type: ignore[index]
            if name in self:
                self[name].append(child)
            else:
                self[name] = [child]

    def text(self, *names: str) -> str:
        """Return the trimmed text of the first name that has text; of repeated elements, the last one with text."""
        for name in names:
            # Most names are absent; this test is the cheapest.
            if name in self:
                for child in reversed(self[name]):
                    if text := text_of(child).strip():
                        return text
        return ""

    def raw_text(self, *names: str) -> str:
        """Return the same as `text`, not trimmed."""
        for name in names:
            if name in self:
                for child in reversed(self[name]):
                    text = text_of(child)
                    if text and not text.isspace():
                        return text
        return ""

    def body(self, *names: str) -> tuple[_Element | None, str]:
        """Return the element that `raw_text` reads, and its content as HTML.

        Some publishers do not escape their HTML.
        """
        for name in names:
            if name in self:
                for child in reversed(self[name]):
                    markup = unwrap_cdata(inner_html(child))
                    if markup and not markup.isspace():
                        return child, markup
        return None, ""

    def texts(self, *names: str) -> list[str]:
        """Return the trimmed non-empty texts of all elements with these names."""
        values = []
        for name in names:
            if name in self:
                for child in self[name]:
                    if text := text_of(child).strip():
                        values.append(text)  # noqa: PERF401 - twice as fast as two nested comprehensions
        return values

    def elements(self, *names: str) -> list[_Element]:
        """Return all elements with these names, grouped by name."""
        return [child for name in names for child in self.get(name, ())]

    def attribute(self, name: str, key: str) -> str:
        """Return the trimmed attribute of the first element of this name that has it, else ""."""
        for child in self.get(name, ()):
            if value := attribute(child, key):
                return value
        return ""


def text_of(element: _Element) -> str:
    """Return all text inside the element, without markup."""
    if len(element) == 0:
        return element.text or ""
    return "".join(map(str, element.itertext()))


def all_values(element: _Element) -> str:
    """Return all texts and attributes inside a small element, joined: its identity if it has no other."""
    values = (part for child in element.iter(etree.Element) for part in (*_attribute_values(child), child.text or ""))
    return "|".join(part.strip() for part in map(str, values) if part and not part.isspace())


def attribute(element: _Element, key: str) -> str:
    """Return an attribute, trimmed, in any case; "" if absent. key: lower case."""
    value = element.get(key)
    if value is not None:
        return value.strip()
    names = element.keys()
    # Usually all names are in lower case, so that no other spelling can match.
    return "" if not names or "".join(names).islower() else _attribute_ignoring_case(element, names, key)


def _attribute_ignoring_case(element: _Element, names: list[str], key: str) -> str:
    if len(names) > _MAX_ATTRIBUTES:
        return ""
    return next((value.strip() for name, value in element.items() if name.lower() == key), "")


def _attribute_values(element: _Element) -> list[str]:
    return [str(value) for value in element.values()] if len(element.attrib) <= _MAX_ATTRIBUTES else []


def inner_html(element: _Element, *, is_xhtml: bool = False) -> str:
    """Return the content as HTML. Text without child elements already is HTML, as in RSS.

    Text next to child elements is HTML as well if it holds tags: the publisher escaped only a part of the content.
    is_xhtml: the element is declared as XHTML, where text is never markup.
    """
    if len(element) == 0:
        return element.text or ""
    box = _copy_without_namespaces(element)
    if not is_xhtml and _holds_tags(box):
        return "".join([box.text or "", *(_outer_html(child) + (child.tail or "") for child in box)])
    return to_html(box)[len("<div>") : -len("</div>")]


def _holds_tags(element: _Element) -> bool:
    texts = (element.text, *(child.tail for child in element))
    return any("<" in text and _TAG.search(text) for text in texts if text)


def _outer_html(element: _Element) -> str:
    return to_html(element, with_tail=False)


def _resolve_urls(element: _Element, base: str) -> None:
    """Applies an `xml:base` inside of content, which HTML does not have. Source: XML Base, section 4."""
    for each in element.iter(etree.Element):
        for name in _URL_ATTRIBUTES:
            if (written := each.get(name)) is not None and not written.startswith("#"):
                each.set(name, relative_url(written.strip(), base.strip()))


def _copy_without_namespaces(element: _Element) -> _Element:
    """Return a `div` with a copy of the content in which prefixed and XHTML names are plain HTML names."""
    box = deepcopy(element)
    box.tag, box.tail = "div", None
    box.attrib.clear()
    for child in box.iterdescendants(etree.Element):
        try:
            child.tag = str(child.tag).rpartition("}")[2].rpartition(":")[2]
        except ValueError:
            # A repaired document may hold `a:1`, and `1` is not a valid name.
            child.tag = "span"
        for name in [name for name in child.attrib if str(name).startswith("{")]:
            if name == XML_BASE:
                _resolve_urls(child, str(child.attrib[name]))
            del child.attrib[name]
    etree.cleanup_namespaces(box)
    return box
