"""Entities that a document declares itself, as far as they are harmless."""

from __future__ import annotations

import re
from typing import Final

from tidings.base.text import unescape_html

_DECLARATION: Final = re.compile(
    r"""<!ENTITY\s+([A-Za-z_][\w.-]{0,63})\s+(?:"([^"<]{0,2000})"|'([^'<]{0,2000})')\s*>"""
)
_REFERENCE: Final = re.compile(r"&[\w#]+;")
_MAX_ENTITIES: Final = 500


def declared_entities(prolog: str) -> dict[str, str]:
    """Returns names and texts of the internal entities declared in a DOCTYPE.

    Only plain text counts. An entity that holds elements, refers to other entities (entity expansion attacks) or is
    external is treated as undeclared.
    """
    entities: dict[str, str] = {}
    for declaration in _DECLARATION.finditer(prolog):
        value = unescape_html(declaration[2] or declaration[3] or "")
        if not _REFERENCE.search(value):
            entities.setdefault(declaration[1], value)
        if len(entities) >= _MAX_ENTITIES:
            break
    return entities
