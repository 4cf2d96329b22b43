"""Checks and normal forms of short texts: names, titles, search terms."""

from __future__ import annotations

import hashlib
import html
import re
import unicodedata
from typing import Final

from tidings.base.errors import InvalidInput
from tidings.base.messages import msg

# Python refuses to convert a number of some thousand digits.
_LONG_REFERENCE: Final = re.compile(r"(?<=&#)[0-9]{9,}+")
# The number of a character has seven digits at most.
_MAX_DIGITS: Final = 8
_INVISIBLE: Final = re.compile("[\x00-\x08\x0a-\x1f\x7f\ud800-\udfff]")


def reject_nul(value: str, *, field: str) -> str:
    """Return the value. Raises InvalidInput if it holds a NUL character, which PostgreSQL cannot store."""
    if "\0" in value:
        raise InvalidInput(msg("{field} holds a NUL character: remove it.", field=field), field=field)
    return value


def reject_invisible(value: str, *, field: str) -> str:
    """Return the value. Raises InvalidInput if it holds what the value of an HTTP header cannot (RFC 9110, 5.5)."""
    if _INVISIBLE.search(value):
        raise InvalidInput(
            msg("{field} contains a line break or another invisible character.", field=field), field=field
        )
    return value


def digest_of(text: str) -> bytes:
    """Return the first half of the SHA-256 of a text, 16 bytes: two different texts do not have the same."""
    return hashlib.sha256(text.encode("utf-8", "replace")).digest()[:16]


def normalize_for_search(value: str) -> str:
    """Return the normal form of a text for comparison without case: no surrounding blanks, case folded.

    Titles, tags and descriptions with the same normal form count as equal.
    """
    return value.strip().casefold()


def sort_key(name: str) -> str:
    """Return what names are sorted by, everywhere and on both databases: neither case nor accents separate.

    Numbers are in the order of their values: Part 2 comes before Part 10. The keys are compared by code point, which
    SQLite, PostgreSQL (collation C) and Python do alike.
    """
    return _NUMBER.sub(_with_length, without_accents(name))


# Numbers of so many digits and more have the same first digit in keys.
_LONG_NUMBER = 9
_NUMBER = re.compile("[0-9]+")


def _with_length(number: re.Match[str]) -> str:
    """Return a number after the number of its digits, so that a longer one comes later."""
    digits = number[0].lstrip("0") or "0"
    length = str(len(digits)) if len(digits) < _LONG_NUMBER else f"{_LONG_NUMBER}{len(digits):07}"
    return length + digits


def without_accents(name: str) -> str:
    """Return a text in which neither case nor accents matter, as names are searched."""
    folded = normalize_for_search(name)
    if folded.isascii():
        return folded
    plain = _MARKS.sub("", unicodedata.normalize("NFKD", folded).translate(_UNDECOMPOSED))
    return unicodedata.normalize("NFC", plain).casefold().strip() or folded


# Combining marks; the Cyrillic short i is a letter of its own.
_MARKS = re.compile("[\u0300-\u0305\u0307-\u036f]+|(?<!\u0438)\u0306")
# Letters that Unicode does not decompose.
_UNDECOMPOSED = str.maketrans({
    "\u00e6": "ae", "\u00f0": "d", "\u00f8": "o", "\u00fe": "th", "\u0111": "d", "\u0127": "h", "\u0131": "i",
    "\u0142": "l", "\u0153": "oe", "\u0167": "t",
})  # fmt: skip


def unescape_html(text: str) -> str:
    """Return the text with the characters that its HTML character references stand for, however long they are.

    `html.unescape` raises ValueError for a reference of more than 4,300 digits.
    """
    if "&" not in text:
        return text
    if "&#" in text:
        text = _LONG_REFERENCE.sub(lambda digits: digits[0].lstrip("0")[:_MAX_DIGITS] or "0", text)
    return html.unescape(text)


def plain_line(escaped: str) -> str:
    """Return a text on one line, with the characters that its HTML character references stand for."""
    return " ".join(unescape_html(escaped).split())


def name_set(text: str) -> frozenset[str]:
    """Return the set of the blank-separated names in a text."""
    return frozenset(text.split())
