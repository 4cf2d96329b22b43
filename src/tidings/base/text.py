"""Checks and normal forms of short texts: names, titles, search terms."""

from __future__ import annotations

import html
import re
from typing import Final

from tidings.base.errors import InvalidInput
from tidings.base.messages import msg

# Python refuses to convert a number of some thousand digits.
_LONG_REFERENCE: Final = re.compile(r"(?<=&#)[0-9]{9,}+")
# The number of a character has seven digits at most.
_MAX_DIGITS: Final = 8
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


def unescape_html(text: str) -> str:
    """Returns the text with the characters that its HTML character references stand for, however long they are.

    `html.unescape` raises ValueError for a reference of more than 4,300 digits.
    """
    if "&" not in text:
        return text
    if "&#" in text:
        text = _LONG_REFERENCE.sub(lambda digits: digits[0].lstrip("0")[:_MAX_DIGITS] or "0", text)
    return html.unescape(text)


def plain_line(escaped: str) -> str:
    """Returns a text on one line, with the characters that its HTML character references stand for."""
    return " ".join(unescape_html(escaped).split())
