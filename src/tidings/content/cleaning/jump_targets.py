"""Jumps within an article: footnotes, tables of contents, and the way back."""

from __future__ import annotations

import re
from typing import Final
from urllib.parse import unquote

from tidings.content.cleaning.attribute_checks import escape_value
from tidings.content.cleaning.ids import prefix_id

_TAG_NAME: Final = re.compile(r"<[a-z0-9]+")


class JumpTargets:
    """The links within one document and what they lead to: each id that a link names is kept, on any element.

    Positions are indexes of the output, which is patched at the end, because a link may come before its target or
    after it.
    """

    __slots__ = ("_kept", "_links", "_named", "_offered")

    def __init__(self) -> None:
        self._kept: set[str] = set()
        self._named: set[str] = set()
        self._offered: list[tuple[int, str]] = []
        self._links: list[tuple[int, str, str]] = []

    def add_kept(self, id_: str) -> None:
        """Records an id that is in the output in any case."""
        self._kept.add(prefix_id(id_))

    def add(self, index: int, id_: str) -> None:
        """Records an id that is kept if a link names it. index: of the start tag, or of an empty text for an anchor."""
        self._offered.append((index, prefix_id(id_)))

    def add_link(self, index: int, name: str, tag: str | None) -> None:
        """Records a link to an id with its prefix. tag: replaces the link's start tag if the document has that id."""
        if tag is None:
            self._named |= {name, unquote(name)}
        else:
            self._links.append((index, name, tag))

    def write_to(self, out: list[str]) -> None:
        """Add the ids to the output, and make jumps of the links to them."""
        if not self._named and not self._links:
            return
        known = self._kept.union(id_ for _, id_ in self._offered)
        for index, name, tag in self._links:
            if name in known or unquote(name) in known:
                out[index] = tag
                self._named |= {name, unquote(name)}
        written, indexes = set(self._kept), {index for index, _ in self._offered}
        for index, id_ in self._offered:
            if id_ not in self._named or id_ in written:
                continue
            written.add(id_)
            attribute = f' id="{escape_value(id_)}"'
            if out[index]:
                tag_name = _TAG_NAME.match(out[index])
                end = tag_name.end() if tag_name else 0
                out[index] = out[index][:end] + attribute + out[index][end:]
                continue
            anchor = f"<span{attribute}></span>"
            if out[index + 1 : index + 2] == ["<br>"] and index + 1 not in indexes:
                out[index : index + 2] = ["<br>", anchor]
            else:
                out[index] = anchor
