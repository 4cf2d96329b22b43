"""Parses and formats ids of items, in all forms that clients send.

tag:google.com,2005:reader/item/000000000000002a   16 hex digits, or fewer
000000000000002a                                   the same without its beginning
42                                                 decimal
"""

from __future__ import annotations

import string
from collections.abc import Iterable
from typing import Final

from tidings.base.errors import InvalidInput
from tidings.base.messages import verbatim

PREFIX: Final = "tag:google.com,2005:reader/item/"
_HEX: Final = frozenset(string.hexdigits)
# Ids of entries are below this: they have 63 bits.
_LIMIT: Final = 2**63


def long_form(entry_id: int) -> str:
    return f"{PREFIX}{entry_id:016x}"


def parse(text: str) -> int | None:
    """Return the id of an entry; None for a number that cannot be an id. Raises InvalidInput if it is not a number.

    16 digits are hexadecimal if one of them is a letter or the first is 0: our decimal ids are shorter.
    """
    sent = text.strip()
    digits = sent.removeprefix(PREFIX)
    is_long = digits != sent
    is_bare_hex = len(digits) == 16 and (digits[0] == "0" or not digits.isdigit())
    if is_long or is_bare_hex:
        number = int(digits, 16) if 0 < len(digits) <= 16 and _HEX.issuperset(digits) else None
    else:
        unsigned = digits.removeprefix("-")
        number = int(digits) if unsigned.isascii() and unsigned.isdigit() and len(unsigned) < 20 else None
    if number is None:
        raise InvalidInput(verbatim(f"i: {text[:80]!r} is not an item id."), field="i")
    return number if 0 < number < _LIMIT else None


def parse_all(texts: Iterable[str]) -> list[int]:
    """Return each id once, without numbers that cannot be ids of entries."""
    return list(dict.fromkeys(item_id for item_id in map(parse, texts) if item_id is not None))
