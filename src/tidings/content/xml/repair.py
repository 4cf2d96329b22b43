"""Repairs damaged XML to well-formed XML with as little loss as possible.

One pass over the tags, in linear time. End tags without a start tag are dropped, elements that an outer end tag
closes are closed first, signs that are not markup are escaped, attributes are quoted, entities are resolved,
forbidden characters are removed, and all open elements are closed at the end.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping
from html.entities import html5
from typing import Final

from msgspec import Struct

# Entity and character references, which the parser would reject or lose

# Characters that expanding a document's own entities may add.
_EXPANSION_BUDGET: Final = 1_000_000

# References to the five entities of XML stay as they are; in a feed with escaped HTML most references are of these.
_REFERENCE: Final = re.compile(
    r"&(?!(?:amp|lt|gt|quot|apos);)(?:#(\d{1,9});|#[xX]([0-9A-Fa-f]{1,8});|([A-Za-z_][\w.-]{0,63});)?"
)


class References:
    """Replaces the references of an XML document (`&name;`) by the text that they stand for.

    entities: the entities that the document declares. References to unknown entities stay as text.
    """

    def __init__(self, entities: Mapping[str, str]) -> None:
        self._entities = entities
        self._budget = _EXPANSION_BUDGET

    def resolve(self, text: str) -> str:
        """Return text that contains only references to the entities of XML itself."""
        return _REFERENCE.sub(self._replace, text)

    def _replace(self, match: re.Match[str]) -> str:
        decimal, hexadecimal, name = match.groups()
        if name:
            return self._named(name)
        if decimal or hexadecimal:
            return _numbered(int(decimal) if decimal else int(hexadecimal, 16))
        return "&amp;"

    def _named(self, name: str) -> str:
        value = self._entities.get(name) or html5.get(f"{name};")
        if value is None or len(value) > self._budget:
            return f"&amp;{name};"
        self._budget -= len(value) if name in self._entities else 0
        return _escape(value)


def _numbered(code: int) -> str:
    is_allowed = code in (9, 10, 13) or 32 <= code <= 0xD7FF or 0xE000 <= code <= 0xFFFD or 0x10000 <= code <= 0x10FFFF
    return f"&#{code};" if is_allowed else ""


def _escape(text: str) -> str:
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;").replace('"', "&quot;")


# The XML parser stops at 2,048 levels; real feeds are not deeper than their HTML.
_MAX_DEPTH: Final = 200

# Possessive quantifiers prevent backtracking on broken input.
_NAME: Final = r"[A-Za-z_\u00c0-\ufffd][\w.\-]*+(?::[\w.\-]++)?"
_OPEN: Final = re.compile(rf"""<({_NAME})((?:\s(?:[^<>"']++|"[^"<]*+"|'[^'<]*+')*+)?)>""")
_OPEN_BROKEN: Final = re.compile(rf"<({_NAME})((?:[\s/][^<>]*+)?)>")
_ROOT_NAME: Final = re.compile(rf"<({_NAME})")
_CLOSE: Final = re.compile(rf"</\s*+({_NAME})[^<>]*+>")
_ATTRIBUTE: Final = re.compile(rf"""(?<![\w.:\-])({_NAME})\s*+=\s*+(?:"([^"]*+)"|'([^']*+)'|([^\s"'<>]++))""")
_FORBIDDEN: Final = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\ufffe\uffff\ud800-\udfff]")

_ITEMS: Final = frozenset({"item", "entry"})
_CONTAINERS: Final = frozenset({"channel", "feed", "rss", "rdf"})
_ITEM_START: Final = re.compile(r"<(?:\w+:)?(?:item|entry)\b", re.IGNORECASE)
_ITEM_END: Final = re.compile(r"</(?:\w+:)?(?:item|entry)\b", re.IGNORECASE)
# Where one item ends and another begins, or the list of items ends.
_BOUNDARY: Final = re.compile(
    r"</(?:\w+:)?(?:item|entry)\s*>\s*<(?:\w+:)?(?:item|entry|/channel|/feed)\b", re.IGNORECASE
)
# Elements that hold text and never each other: if one starts inside another, an end tag is missing.
_TEXT_ELEMENTS: Final = frozenset(
    {"title", "link", "guid", "pubdate", "description", "comments", "category", "id", "updated", "published",
     "content:encoded", "dc:creator", "dc:date", "dc:subject", "language", "lastbuilddate"}
)  # fmt: skip
# Elements of HTML that have no end tag, unless RSS or Atom have an element of that name. Source: HTML, section 13.1.2.
_VOID_ELEMENTS: Final = frozenset({"area", "br", "col", "embed", "hr", "img", "input", "param", "wbr"})


class RepairedXml(Struct, frozen=True):
    """A document made well-formed."""

    text: str
    is_cut_off: bool
    """Whether the text ended inside an item, which was left out."""


def repair_xml(text: str, entities: Mapping[str, str]) -> RepairedXml:
    """Return well-formed XML.

    text: starts with the `<` of the root. entities: names and texts declared in the DOCTYPE.
    """
    return _XmlRepair(_FORBIDDEN.sub("", text), entities).run()


class _XmlRepair:
    """One pass over a document that makes it well-formed.

    Keeps the output, the open elements, and the positions of their start tags in the output.
    """

    def __init__(self, text: str, entities: Mapping[str, str]) -> None:
        self._text = text
        self._last_end = text.rfind(">")
        self._references = References(entities)
        self._out: list[str] = []
        self._open: list[str] = []
        self._open_at: list[int] = []
        self._open_count: Counter[str] = Counter()
        # Last position found for each pattern, so that no text is searched twice.
        self._next_found: dict[str | re.Pattern[str], int] = {}

    def run(self) -> RepairedXml:
        position, end = self._open_root(), len(self._text)
        while position < end:
            tag = self._text.find("<", position)
            if tag < 0:
                tag = end
            if tag > position:
                self._write_text(self._text[position:tag])
            position = self._handle_markup(tag) if tag < end else end
        is_cut_off = self._drop_open_item()
        self._close_down_to(0)
        return RepairedXml("".join(self._out), is_cut_off)

    def _open_root(self) -> int:
        """Writes the start tag of the root, even if only its name can be read. Returns the position after it."""
        if _OPEN.match(self._text) or _OPEN_BROKEN.match(self._text):
            return self._handle_start_tag(0)
        name = _ROOT_NAME.match(self._text)
        self._write_open(name[1] if name else "rss")
        return self._find(">", 0) + 1 or len(self._text)

    def _drop_open_item(self) -> bool:
        """Removes the output since the start of the outermost open item. Returns whether there was one."""
        for depth, name in enumerate(self._open):
            if _local_name(name) in _ITEMS:
                del self._out[self._open_at[depth] :]
                del self._open[depth:]
                return True
        return False

    def _handle_markup(self, start: int) -> int:
        """Handles the markup that starts with the `<` at `start`. Returns the position after it."""
        following = self._text[start + 1 : start + 2]
        if following == "/":
            return self._handle_end_tag(start)
        if following == "!":
            return self._handle_declaration(start)
        if following == "?":
            return self._skip_to("?>", start)
        return (
            self._handle_start_tag(start)
            if following.isalpha() or following == "_"
            else self._write_stray_bracket(start)
        )

    def _handle_start_tag(self, start: int) -> int:
        tag = _OPEN.match(self._text, start) or _OPEN_BROKEN.match(self._text, start)
        if tag is None:
            return self._write_stray_bracket(start)
        name, attributes = tag[1], tag[2]
        is_empty = attributes.rstrip().endswith("/") or name.lower() in _VOID_ELEMENTS
        self._close_unfinished(name.lower())
        if is_empty:
            self._out.append(f"<{name}{self._attributes(attributes)}/>")
        elif len(self._open) < _MAX_DEPTH:
            self._write_open(name, self._attributes(attributes))
        return tag.end()

    def _write_open(self, name: str, attributes: str = "") -> None:
        self._open.append(name)
        self._open_at.append(len(self._out))
        self._open_count[name.lower()] += 1
        self._out.append(f"<{name}{attributes}>")

    def _close_unfinished(self, name: str) -> None:
        """Closes an element whose end tag is missing.

        That is the case if an item starts outside a container, or a text element inside another one.
        """
        if _local_name(name) in _ITEMS and self._open and _local_name(self._open[-1]) not in _CONTAINERS:
            self._close_down_to(self._innermost_container_depth() + 1)
        elif name in _TEXT_ELEMENTS and self._open and self._open[-1].lower() in _TEXT_ELEMENTS:
            self._close_down_to(len(self._open) - 1)

    def _handle_end_tag(self, start: int) -> int:
        tag = _CLOSE.match(self._text, start)
        if tag is None:
            return self._write_stray_bracket(start)
        name = tag[1].lower()
        if self._open_count[name] and not self._is_premature(name, tag.end()):
            # The root stays open until the end: more items may follow an early end tag.
            self._close_down_to(max(self._innermost_depth(name), 1))
        return tag.end()

    def _is_premature(self, name: str, position: int) -> bool:
        """Return whether the end tag of a container is inside an item that continues after it."""
        if _local_name(name) not in _CONTAINERS or not any(self._open_count[item] for item in _ITEMS):
            return False
        end, start = self._find(_ITEM_END, position), self._find(_ITEM_START, position)
        return end >= 0 and (start < 0 or end < start)

    def _handle_declaration(self, start: int) -> int:
        if self._text.startswith("<![CDATA[", start):
            return self._handle_cdata(start)
        if self._text.startswith("<!--", start):
            return self._skip_to("-->", start)
        return self._skip_to(">", start)

    def _handle_cdata(self, start: int) -> int:
        inside = start + len("<![CDATA[")
        end = self._find("]]>", inside)
        boundary = self._find(_BOUNDARY, inside)
        if boundary >= 0 and (end < 0 or boundary < end):
            # The end of this section is damaged: the next "]]>" belongs to another item.
            return inside
        self._out.append(f"<![CDATA[{self._text[inside : end if end >= 0 else None]}]]>")
        return end + 3 if end >= 0 else len(self._text)

    def _skip_to(self, closing: str, start: int) -> int:
        end = self._find(closing, start)
        return end + len(closing) if end >= 0 else self._write_stray_bracket(start)

    def _write_stray_bracket(self, start: int) -> int:
        """Writes a `<` that begins no markup as text, or drops a tag that the end of the document cut off."""
        if start > self._last_end and not self._text[start + 1 : start + 2].isspace():
            return len(self._text)
        self._out.append("&lt;")
        return start + 1

    def _find(self, what: str | re.Pattern[str], start: int) -> int:
        """Return the next position of a pattern at or after `start`, -1 for none.

        Takes linear time over a pass, because `start` only grows.
        """
        known = self._next_found.get(what)
        if known is not None and (known < 0 or known >= start):
            return known
        if isinstance(what, str):
            position = self._text.find(what, start)
        else:
            place = what.search(self._text, start)
            position = place.start() if place else -1
        self._next_found[what] = position
        return position

    def _write_text(self, text: str) -> None:
        text = text.replace(">", "&gt;") if "]]>" in text else text
        self._out.append(self._references.resolve(text) if "&" in text else text)

    def _attributes(self, source: str) -> str:
        if "=" not in source:
            return ""
        attributes: dict[str, str] = {}
        for name, double, single, bare in _ATTRIBUTE.findall(source):
            value = double or single or bare.rstrip("/") if not bare.startswith("http") else bare
            if value or not name.startswith("xmlns"):
                attributes.setdefault(name, value)
        return "".join(f' {name}="{self._attribute_value(value)}"' for name, value in attributes.items())

    def _attribute_value(self, value: str) -> str:
        value = value.replace("<", "&lt;").replace('"', "&quot;")
        return self._references.resolve(value) if "&" in value else value

    def _innermost_depth(self, name: str) -> int:
        """Return the depth of the innermost open element with this name."""
        return next(depth for depth in range(len(self._open) - 1, -1, -1) if self._open[depth].lower() == name)

    def _innermost_container_depth(self) -> int:
        """Return the depth of the innermost open element that contains items, else the root's."""
        for depth in range(len(self._open) - 1, 0, -1):
            if _local_name(self._open[depth]) in _CONTAINERS:
                return depth
        return 0

    def _close_down_to(self, depth: int) -> None:
        while len(self._open) > depth:
            name = self._open.pop()
            self._open_at.pop()
            self._open_count[name.lower()] -= 1
            self._out.append(f"</{name}>")


def _local_name(name: str) -> str:
    return name.rpartition(":")[2].lower()
