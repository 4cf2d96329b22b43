"""Damaged XML to well-formed XML, losing as little as possible.

One pass over the tags, in linear time. Close tags that nothing opened are dropped, open elements that another's
close tag ends are closed, signs that are not markup are escaped, attributes are quoted, entities resolved, whatever
XML forbids is taken out, and at the end everything still open is closed.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping
from typing import Final

from msgspec import Struct

from tidings.domain.formats.references import References

# The XML parser gives up at 2,048; no feed goes deeper than its HTML does.
_DEEPEST: Final = 200

# Possessive quantifiers: where something is broken, nothing is tried twice.
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
# Elements that hold text and never each other: where one starts inside another, a close tag is missing.
_LEAVES: Final = frozenset(
    {"title", "link", "guid", "pubdate", "description", "comments", "category", "id", "updated", "published",
     "content:encoded", "dc:creator", "dc:date", "dc:subject", "language", "lastbuilddate"}
)  # fmt: skip


class Repaired(Struct, frozen=True):
    """is_cut_off: the text ended inside an item, which was left out."""

    text: str
    is_cut_off: bool


def repair(text: str, entities: Mapping[str, str]) -> Repaired:
    """text: from the root's `<` on. entities: what the DOCTYPE declares, name to plain text."""
    return _Repair(_FORBIDDEN.sub("", text), entities).run()


class _Repair:
    """The state of one pass: what was written, which elements are open, and where their tags were written."""

    def __init__(self, text: str, entities: Mapping[str, str]) -> None:
        self._text = text
        self._last_end = text.rfind(">")
        self._references = References(entities)
        self._out: list[str] = []
        self._open: list[str] = []
        self._open_at: list[int] = []
        self._open_count: Counter[str] = Counter()
        # Where each thing was last found: what lies ahead, or nowhere, is not searched for again.
        self._ahead: dict[str | re.Pattern[str], int] = {}

    def run(self) -> Repaired:
        position, end = self._open_root(), len(self._text)
        while position < end:
            tag = self._text.find("<", position)
            if tag < 0:
                tag = end
            if tag > position:
                self._write_text(self._text[position:tag])
            position = self._markup(tag) if tag < end else end
        is_cut_off = self._drop_open_item()
        self._close_down_to(0)
        return Repaired("".join(self._out), is_cut_off)

    def _open_root(self) -> int:
        """The root is opened in any case, even if nothing but its name can be read."""
        if _OPEN.match(self._text) or _OPEN_BROKEN.match(self._text):
            return self._open_tag(0)
        name = _ROOT_NAME.match(self._text)
        self._write_open(name[1] if name else "rss")
        return self._find(">", 0) + 1 or len(self._text)

    def _drop_open_item(self) -> bool:
        """Take back what was written since the outermost item that is still open; whether there is one."""
        for depth, name in enumerate(self._open):
            if _local(name) in _ITEMS:
                del self._out[self._open_at[depth] :]
                del self._open[depth:]
                return True
        return False

    def _markup(self, start: int) -> int:
        """Deal with what begins at a `<`; the position after it."""
        following = self._text[start + 1 : start + 2]
        if following == "/":
            return self._close_tag(start)
        if following == "!":
            return self._declaration(start)
        if following == "?":
            return self._skip_to("?>", start)
        return self._open_tag(start) if following.isalpha() or following == "_" else self._stray(start)

    def _open_tag(self, start: int) -> int:
        tag = _OPEN.match(self._text, start) or _OPEN_BROKEN.match(self._text, start)
        if tag is None:
            return self._stray(start)
        name, attributes = tag[1], tag[2]
        is_empty = attributes.rstrip().endswith("/")
        self._close_unfinished(name.lower())
        if is_empty:
            self._out.append(f"<{name}{self._attributes(attributes)}/>")
        elif len(self._open) < _DEEPEST:
            self._write_open(name, self._attributes(attributes))
        return tag.end()

    def _write_open(self, name: str, attributes: str = "") -> None:
        self._open.append(name)
        self._open_at.append(len(self._out))
        self._open_count[name.lower()] += 1
        self._out.append(f"<{name}{attributes}>")

    def _close_unfinished(self, name: str) -> None:
        """An item inside anything but a list of items, or a title inside a title: the first was never closed."""
        if _local(name) in _ITEMS and self._open and _local(self._open[-1]) not in _CONTAINERS:
            self._close_down_to(self._innermost_container() + 1)
        elif name in _LEAVES and self._open and self._open[-1].lower() in _LEAVES:
            self._close_down_to(len(self._open) - 1)

    def _close_tag(self, start: int) -> int:
        tag = _CLOSE.match(self._text, start)
        if tag is None:
            return self._stray(start)
        name = tag[1].lower()
        if self._open_count[name] and not self._is_premature(name, tag.end()):
            # The root stays open until the end: after a close tag too early there may be more items.
            self._close_down_to(max(self._innermost(name), 1))
        return tag.end()

    def _is_premature(self, name: str, position: int) -> bool:
        """Whether the close tag of a list of items stands inside an item that goes on."""
        if _local(name) not in _CONTAINERS or not any(self._open_count[item] for item in _ITEMS):
            return False
        end, start = self._find(_ITEM_END, position), self._find(_ITEM_START, position)
        return end >= 0 and (start < 0 or end < start)

    def _declaration(self, start: int) -> int:
        if self._text.startswith("<![CDATA[", start):
            return self._cdata(start)
        if self._text.startswith("<!--", start):
            return self._skip_to("-->", start)
        return self._skip_to(">", start)

    def _cdata(self, start: int) -> int:
        inside = start + len("<![CDATA[")
        end = self._find("]]>", inside)
        boundary = self._find(_BOUNDARY, inside)
        if boundary >= 0 and (end < 0 or boundary < end):
            # The end of this section is damaged: the next "]]>" is that of another item.
            return inside
        self._out.append(f"<![CDATA[{self._text[inside : end if end >= 0 else None]}]]>")
        return end + 3 if end >= 0 else len(self._text)

    def _skip_to(self, closing: str, start: int) -> int:
        end = self._find(closing, start)
        return end + len(closing) if end >= 0 else self._stray(start)

    def _stray(self, start: int) -> int:
        """A `<` that begins nothing is text, unless it begins a tag that the end of the document cut off."""
        if start > self._last_end and not self._text[start + 1 : start + 2].isspace():
            return len(self._text)
        self._out.append("&lt;")
        return start + 1

    def _find(self, what: str | re.Pattern[str], start: int) -> int:
        """The next place at or after `start`, -1 for none. Linear over a whole pass, as `start` only grows."""
        known = self._ahead.get(what)
        if known is not None and (known < 0 or known >= start):
            return known
        if isinstance(what, str):
            found = self._text.find(what, start)
        else:
            place = what.search(self._text, start)
            found = place.start() if place else -1
        self._ahead[what] = found
        return found

    def _write_text(self, text: str) -> None:
        text = text.replace(">", "&gt;") if "]]>" in text else text
        self._out.append(self._references.resolve(text) if "&" in text else text)

    def _attributes(self, source: str) -> str:
        if "=" not in source:
            return ""
        found: dict[str, str] = {}
        for name, double, single, bare in _ATTRIBUTE.findall(source):
            value = double or single or bare.rstrip("/") if not bare.startswith("http") else bare
            if value or not name.startswith("xmlns"):
                found.setdefault(name, value)
        return "".join(f' {name}="{self._attribute_value(value)}"' for name, value in found.items())

    def _attribute_value(self, value: str) -> str:
        value = value.replace("<", "&lt;").replace('"', "&quot;")
        return self._references.resolve(value) if "&" in value else value

    def _innermost(self, name: str) -> int:
        """The depth of the innermost open element of a name."""
        return next(depth for depth in range(len(self._open) - 1, -1, -1) if self._open[depth].lower() == name)

    def _innermost_container(self) -> int:
        """The depth of the innermost open element that lists items, else of the root."""
        for depth in range(len(self._open) - 1, 0, -1):
            if _local(self._open[depth]) in _CONTAINERS:
                return depth
        return 0

    def _close_down_to(self, depth: int) -> None:
        while len(self._open) > depth:
            name = self._open.pop()
            self._open_at.pop()
            self._open_count[name.lower()] -= 1
            self._out.append(f"</{name}>")


def _local(name: str) -> str:
    return name.rpartition(":")[2].lower()
