"""Entities a document declares for itself, as far as they are harmless."""

from __future__ import annotations

import html
import re
from typing import Final

_DECLARATION: Final = re.compile(
    r"""<!ENTITY\s+([A-Za-z_][\w.-]{0,63})\s+(?:"([^"<]{0,2000})"|'([^'<]{0,2000})')\s*>"""
)
_REFERENCE: Final = re.compile(r"&[\w#]+;")
_AT_MOST: Final = 500


def declared_entities(prolog: str) -> dict[str, str]:
    """Names and texts of the internal entities declared in a DOCTYPE.

    Only plain text counts: an entity that holds elements, refers to other entities (the way to a bomb) or
    lies outside of the document is as unknown as one that was never declared.
    """
    found: dict[str, str] = {}
    for declaration in _DECLARATION.finditer(prolog):
        value = html.unescape(declaration[2] or declaration[3] or "")
        if not _REFERENCE.search(value):
            found.setdefault(declaration[1], value)
        if len(found) >= _AT_MOST:
            break
    return found
