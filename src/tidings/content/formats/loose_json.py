"""Reads JSON with values of the wrong type, and documents that end too early."""

from __future__ import annotations

import json
import math
import re
from typing import Any, Final

import msgspec
from msgspec import Struct

from tidings.content.formats.text import remove_unstorable

_MAX_INT: Final = 2**63 - 1
_ITEMS: Final = re.compile(r'"items"\s*:\s*\[')
_NEXT_OBJECT: Final = re.compile(r"[\s,]*(?=\{)")
_BETWEEN_OBJECTS: Final = re.compile(r"\}\s*,\s*(?=\{)")
# Each failure may read the whole rest of the text; a fixed number of failures keeps the time linear.
_MAX_FAILURES: Final = 8

_lenient: Final = json.JSONDecoder(strict=False)


class JsonDocument(Struct, frozen=True):
    """A JSON object that may have been damaged."""

    value: dict[str, Any]
    is_cut_off: bool = False
    """Whether something at the end or in the middle could not be read and was left out."""


def read_json(source: str) -> JsonDocument | None:
    """Return the object of the text, as far as it can be read; None if there is none."""
    try:
        value = msgspec.json.decode(source)
    except (msgspec.DecodeError, RecursionError, UnicodeEncodeError):
        return _read_damaged(source)
    return JsonDocument(value) if isinstance(value, dict) else None


def as_text(value: object) -> str:
    """Return a string as it is and a number as written; "" for every other value."""
    if isinstance(value, str):
        return remove_unstorable(value)
    if isinstance(value, bool) or value is None:
        return ""
    if isinstance(value, int):
        return str(value) if abs(value) <= _MAX_INT else ""
    if isinstance(value, float) and math.isfinite(value):
        return str(int(value)) if value.is_integer() and abs(value) <= _MAX_INT else repr(value)
    return ""


def as_texts(value: object) -> list[str]:
    """Return the strings of a list, or the parts of a single string between commas."""
    if isinstance(value, list):
        return [text for each in value if (text := as_text(each))]
    return as_text(value).split(",") if value else []


def as_objects(value: object) -> list[dict[str, Any]]:
    """Return the objects of a list, or a list of the single object found in place of a list."""
    if isinstance(value, dict):
        return [value]
    return [each for each in value if isinstance(each, dict)] if isinstance(value, list) else []


def as_number(value: object) -> int:
    """Return a non-negative integer, even from a string or a fraction; 0 for every other value."""
    if isinstance(value, str):
        value = value.strip()
        return int(value) if value.isascii() and value.isdigit() and len(value) <= 18 else 0
    if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
        return 0
    return int(value) if 0 <= value <= _MAX_INT else 0


def _read_damaged(source: str) -> JsonDocument | None:
    """Return what precedes the list of items, and the complete items."""
    try:
        value = _lenient.decode(source)
    except (ValueError, RecursionError):
        pass
    else:
        return JsonDocument(value) if isinstance(value, dict) else None
    items = _ITEMS.search(source)
    if items is None:
        return None
    head = _read_object(source[: items.end()] + "]}") or {}
    return JsonDocument(head | {"items": _complete_items(source, items.end())}, is_cut_off=True)


def _complete_items(source: str, position: int) -> list[Any]:
    items, failures = [], 0
    while failures < _MAX_FAILURES and (start := _NEXT_OBJECT.match(source, position)):
        try:
            item, position = _lenient.raw_decode(source, start.end())
            items.append(item)
        except (ValueError, RecursionError):
            failures += 1
            following = _BETWEEN_OBJECTS.search(source, start.end())
            position = following.end() if following else len(source)
    return items


def _read_object(source: str) -> dict[str, Any] | None:
    try:
        value = _lenient.decode(source)
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, dict) else None
