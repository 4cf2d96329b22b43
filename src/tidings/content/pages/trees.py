"""The three ways of looking into a document: CSS, XPath and paths into JSON, with the same functions.

`items` finds the items of the page, `values` the values of a field in one item, and `instead` what is there when it
finds none.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator
from functools import lru_cache
from itertools import islice
from typing import Any, Final, Protocol

import msgspec
from lxml import etree, html
from lxml.etree import _Element
from msgspec import Struct
from selectolax.lexbor import LexborHTMLParser, LexborNode

from tidings.base.messages import msg
from tidings.content.cleaning.sanitize import limit_nesting
from tidings.content.errors import PageUnreadable
from tidings.content.formats.json_feed import as_text
from tidings.content.formats.text import collapse_whitespace, escape_html
from tidings.content.pages.json_path import JsonPath, find, first_failure, names_in, parse_path
from tidings.content.pages.selectors import FieldSelector, compile_xpath

# Values of one field in one item.
MAX_VALUES: Final = 100
# Characters of one value.
MAX_VALUE_CHARS: Final = 2_000_000

# Attributes that have the value of a field better than the element's text does.
_ATTRIBUTES: Final[dict[str, tuple[str, ...]]] = {
    "link": ("href",),
    "image": ("src", "data-src", "href", "content"),
    "enclosure": ("src", "href"),
    "date": ("datetime",),
}
# Elements whose content is not text of the page.
_WITHOUT_TEXT: Final = ("script", "style")
# The value of a script: the whole text, or what is assigned.
_SCRIPT_VALUE: Final = re.compile(r"\A\s*(?=[\[{])|=\s*(?=[\[{])")
# Scripts of a page that are looked at.
_MAX_SCRIPTS: Final = 50


class Value(Struct, frozen=True):
    """A value of a field."""

    text: str
    markup: str
    """As HTML."""


def plain(text: str) -> Value:
    """Return a value that is text, on one line."""
    text = text[:MAX_VALUE_CHARS]
    return Value(collapse_whitespace(text), escape_html(text))


class PageTree(Protocol):
    """A document that can be looked into."""

    def items(self, selector: str) -> list[Any]: ...

    def page_values(self, field: FieldSelector) -> list[Value]:
        """Return the values of the whole document."""

    def values(self, item: Any, name: str, field: FieldSelector) -> list[Value]: ...

    def instead(self, item: Any) -> tuple[str, ...]:
        """Return the names of what an item has, for someone whose selector finds nothing."""

    def without_items(self, selector: str) -> tuple[str, tuple[str, ...]]:
        """Return the part of the selector that finds nothing, and what is there instead."""

    @property
    def title(self) -> str: ...

    @property
    def base(self) -> str:
        """The `base` of the page, "" without one."""


# CSS


class CssTree:
    def __init__(self, text: str) -> None:
        self._tree = LexborHTMLParser(limit_nesting(text))
        self._tree.strip_tags(list(_WITHOUT_TEXT))

    @property
    def title(self) -> str:
        return css_title(self._tree)

    @property
    def base(self) -> str:
        node = self._tree.css_first("base[href]")
        return (node.attributes.get("href") or "") if node else ""

    def items(self, selector: str) -> list[LexborNode]:
        return self._tree.css(selector)

    def page_values(self, field: FieldSelector) -> list[Value]:
        nodes = self._tree.css(field.selector) if field.selector else []
        return [value for node in nodes[:MAX_VALUES] if (value := _css_value(node, "", field.attribute))]

    def values(self, item: LexborNode, name: str, field: FieldSelector) -> list[Value]:
        nodes = css_below(item, field.selector)
        return [value for node in nodes[:MAX_VALUES] if (value := _css_value(node, name, field.attribute))]

    def instead(self, item: LexborNode) -> tuple[str, ...]:
        return tuple(islice(dict.fromkeys(_names_below(item)), 15))

    def without_items(self, selector: str) -> tuple[str, tuple[str, ...]]:
        return selector, ()


def css_title(tree: LexborHTMLParser) -> str:
    """Return the title of a page."""
    node = tree.css_first("title")
    return collapse_whitespace(node.text()) if node else ""


def css_below(item: LexborNode, selector: str) -> list[LexborNode]:
    """Return what the selector finds in an item, or the item itself if it is what the selector means."""
    if not selector:
        return [item]
    found = item.css(selector)
    return [node for node in found if node.mem_id != item.mem_id] or found


def _css_value(node: LexborNode, name: str, attribute: str) -> Value | None:
    attributes = node.attributes
    if attribute:
        # An attribute without a value is None.
        return plain(attributes[attribute] or "") if attribute in attributes else None
    for each in _ATTRIBUTES.get(name, ()):
        if written := attributes.get(each):
            return plain(written)
    return Value(collapse_whitespace(node.text()[:MAX_VALUE_CHARS]), (node.html or "")[:MAX_VALUE_CHARS])


def _names_below(item: LexborNode) -> Iterator[str]:
    for node in islice(item.css("*"), 200):
        classes = (node.attributes.get("class") or "").split()
        yield ".".join([node.tag or "", *classes[:2]])


# XPath


class XPathTree:
    def __init__(self, text: str) -> None:
        # Bytes, since a text with an encoding declaration is refused.
        encoded = limit_nesting(text).encode("utf-8", "replace")
        parser = html.HTMLParser(encoding="utf-8", no_network=True, huge_tree=True)
        try:
            self.root = html.document_fromstring(encoded, parser=parser)
        except (etree.ParserError, etree.XMLSyntaxError) as error:
            raise PageUnreadable(msg("The page has no HTML.")) from error
        etree.strip_elements(self.root, *_WITHOUT_TEXT, with_tail=False)

    @property
    def title(self) -> str:
        return collapse_whitespace(str(self.root.findtext(".//title") or ""))

    @property
    def base(self) -> str:
        node = self.root.find(".//base[@href]")
        return "" if node is None else str(node.get("href"))

    def items(self, selector: str) -> list[_Element]:
        found = _evaluated(selector, self.root)
        return [each for each in found if isinstance(each, _Element)] if isinstance(found, list) else []

    def page_values(self, field: FieldSelector) -> list[Value]:
        return self.values(self.root, "", field)

    def values(self, item: _Element, name: str, field: FieldSelector) -> list[Value]:
        found = _evaluated(field.selector, item) if field.selector else [item]
        results = found[:MAX_VALUES] if isinstance(found, list) else [found]
        return [value for each in results if (value := _xpath_value(each, name, field.attribute))]

    def instead(self, item: _Element) -> tuple[str, ...]:
        return tuple(islice(dict.fromkeys(_element_names(item)), 15))

    def without_items(self, selector: str) -> tuple[str, tuple[str, ...]]:
        return selector, ()


@lru_cache(64)
def _compiled(expression: str) -> etree.XPath:
    return compile_xpath(expression)


def _evaluated(expression: str, context: _Element) -> Any:
    try:
        return _compiled(expression)(context)
    except etree.XPathError as error:
        raise PageUnreadable(
            msg("The XPath {expression} cannot be evaluated: {reason}.", expression=expression, reason=str(error))
        ) from error


def _xpath_value(found: Any, name: str, attribute: str) -> Value | None:
    if isinstance(found, _Element):
        if attribute:
            written = found.get(attribute)
            return None if written is None else plain(str(written))
        for each in _ATTRIBUTES.get(name, ()):
            if written := found.get(each):
                return plain(str(written))
        if not isinstance(found.tag, str):
            return None
        text = "".join(found.itertext("*"))[:MAX_VALUE_CHARS]
        markup = str(etree.tostring(found, encoding="unicode", method="html", with_tail=False))
        return Value(collapse_whitespace(text), markup[:MAX_VALUE_CHARS])
    if isinstance(found, bool) or found is None:
        return None
    text = as_text(found)
    return plain(text) if text else None


def _element_names(item: _Element) -> Iterator[str]:
    for element in islice(item.iterdescendants("*"), 200):
        classes = str(element.get("class") or "").split()
        yield ".".join([str(element.tag), *classes[:2]])


# JSON


class JsonTree:
    """documents: the JSON values; a page may have several scripts."""

    def __init__(self, documents: Iterable[Any], *, title: str = "", base: str = "") -> None:
        self.documents = list(documents)
        self.title = title
        self.base = base

    def items(self, selector: str) -> list[Any]:
        path = _path(selector)
        found: list[Any] = []
        for document in self.documents:
            values = find(path, document)
            # `posts` means the same as `posts[*]`.
            found += values[0] if len(values) == 1 and isinstance(values[0], list) else values
        return found

    def page_values(self, field: FieldSelector) -> list[Value]:
        return [value for document in self.documents for value in self.values(document, "", field)]

    def values(self, item: Any, name: str, field: FieldSelector) -> list[Value]:  # noqa: ARG002 - as in `PageTree`
        found = find(_path(field.selector), item)[:MAX_VALUES] if field.selector else [item]
        flat = [each for value in found for each in (value if isinstance(value, list) else (value,))]
        return [_json_value(text) for each in flat[:MAX_VALUES] if (text := as_text(each))]

    def instead(self, item: Any) -> tuple[str, ...]:
        return names_in(item)

    def without_items(self, selector: str) -> tuple[str, tuple[str, ...]]:
        path = _path(selector)
        for document in self.documents:
            if failed := first_failure(path, document):
                return f"{failed.missing} ({failed.reached})", failed.found
        return selector, ()


@lru_cache(64)
def _path(text: str) -> JsonPath:
    return parse_path(text)


def _json_value(text: str) -> Value:
    is_html = "<" in text and ">" in text
    return Value(collapse_whitespace(text[:MAX_VALUE_CHARS]), text[:MAX_VALUE_CHARS]) if is_html else plain(text)


def json_tree(text: str) -> JsonTree:
    """Return the JSON of a document. Raises PageUnreadable, which says where it is wrong."""
    try:
        return JsonTree([_decoded(text)])
    except ValueError as error:
        begins = text.lstrip()[:1]
        if begins == "<":
            raise PageUnreadable(msg("The address answers with a page, not with JSON.")) from error
        raise PageUnreadable(msg("The JSON cannot be read: {reason}.", reason=str(error))) from error


def json_in_page(text: str, script: str) -> JsonTree:
    """Return the JSON in the scripts of a page. Raises PageUnreadable if there is none."""
    tree = LexborHTMLParser(limit_nesting(text))
    nodes = tree.css(script)[:_MAX_SCRIPTS]
    if not nodes:
        there = dict.fromkeys(_script_name(node) for node in islice(tree.css("script"), _MAX_SCRIPTS))
        raise PageUnreadable(
            msg(
                "script: the page has no {selector}. It has {found}.",
                selector=script,
                found=", ".join(there) or "no scripts",
            )
        )
    documents: list[Any] = []
    reason = ""
    for node in nodes:
        source = node.text()
        try:
            documents.append(_json_in_script(source))
        except ValueError as error:
            reason = str(error)
    if not documents:
        raise PageUnreadable(
            msg("script: {selector} has no JSON that can be read: {reason}.", selector=script, reason=reason)
        )
    base = tree.css_first("base[href]")
    return JsonTree(documents, title=css_title(tree), base=(base.attributes.get("href") or "") if base else "")


def _json_in_script(source: str) -> Any:
    """Return the JSON, even after an assignment as in `window.state = {…};`."""
    start = _SCRIPT_VALUE.search(source)
    if start is None:
        raise ValueError("no object or list")
    try:
        value, _ = json.JSONDecoder(strict=False).raw_decode(source, start.end())
    except RecursionError as error:
        raise ValueError("nested too deeply") from error
    return value


def _decoded(text: str) -> Any:
    try:
        return msgspec.json.decode(text)
    except (msgspec.DecodeError, UnicodeEncodeError) as error:
        try:
            return json.JSONDecoder(strict=False).decode(text)
        except RecursionError:
            raise ValueError("nested too deeply") from error
    except RecursionError as error:
        raise ValueError("nested too deeply") from error


def _script_name(node: LexborNode) -> str:
    attributes = node.attributes
    if attributes.get("id"):
        return f"script#{attributes['id']}"
    return f'script[type="{attributes["type"]}"]' if attributes.get("type") else "script"
