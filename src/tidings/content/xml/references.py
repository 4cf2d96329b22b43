"""Entity and character references that the XML parser would reject or lose."""

from __future__ import annotations

import re
from collections.abc import Mapping
from html.entities import html5
from typing import Final

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
