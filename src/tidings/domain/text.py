"""Checks and normal forms of short texts: names, titles, search terms."""

from __future__ import annotations

import html
import re
from typing import Final

from tidings.domain.errors import InvalidInput
from tidings.domain.messages import msg

_INVISIBLE: Final = re.compile("[\x00-\x08\x0a-\x1f\x7f\ud800-\udfff]")


def reject_nul(value: str, *, field: str) -> str:
    """Returns the value. Raises InvalidInput if it holds a NUL character, which PostgreSQL cannot store."""
    if "\0" in value:
        raise InvalidInput(msg("{field} holds a NUL character: remove it.", field=field), field=field)
    return value


def reject_invisible(value: str, *, field: str) -> str:
    """Returns the value. Raises InvalidInput if it holds what the value of an HTTP header cannot (RFC 9110, 5.5)."""
    if _INVISIBLE.search(value):
        raise InvalidInput(
            msg("{field} contains a line break or another invisible character.", field=field), field=field
        )
    return value


def normalize_for_search(value: str) -> str:
    """Returns the normal form of a text for comparison without case: no surrounding blanks, case folded.

    Titles, tags and descriptions with the same normal form count as equal.
    """
    return value.strip().casefold()


def plain_line(escaped: str) -> str:
    """Returns a text on one line, with the characters that its HTML character references stand for."""
    return " ".join(html.unescape(escaped).split())
