"""JSON as it comes: values of the wrong kind, documents that end too early."""

from __future__ import annotations

import json
import math
import re
from typing import Any, Final

import msgspec
from msgspec import Struct

from tidings.domain.formats.text import storable

_LARGEST: Final = 2**63 - 1
_ITEMS: Final = re.compile(r'"items"\s*:\s*\[')
_NEXT_OBJECT: Final = re.compile(r"[\s,]*(?=\{)")
_BETWEEN_OBJECTS: Final = re.compile(r"\}\s*,\s*(?=\{)")
# Each failure may look at the whole rest; this many keep it linear.
_FAILURES: Final = 8

_lenient: Final = json.JSONDecoder(strict=False)


class JsonDocument(Struct, frozen=True):
    """is_cut_off: something at the end or in the middle could not be read and was left out."""

    value: dict[str, Any]
    is_cut_off: bool = False


def read_json(source: str) -> JsonDocument | None:
    """The object the text holds, as far as it can be read; None when there is none."""
    try:
        value = msgspec.json.decode(source)
    except (msgspec.DecodeError, RecursionError, UnicodeEncodeError):
        return _salvage(source)
    return JsonDocument(value) if isinstance(value, dict) else None


def as_text(value: object) -> str:
    """A text as it is, a number as it is written; "" for everything else."""
    if isinstance(value, str):
        return storable(value)
    if isinstance(value, bool) or value is None:
        return ""
    if isinstance(value, int):
        return str(value) if abs(value) <= _LARGEST else ""
    if isinstance(value, float) and math.isfinite(value):
        return str(int(value)) if value.is_integer() and abs(value) <= _LARGEST else repr(value)
    return ""


def as_texts(value: object) -> list[str]:
    """The texts of a list; of a single text, its parts between commas."""
    if isinstance(value, list):
        return [found for each in value if (found := as_text(each))]
    return as_text(value).split(",") if value else []


def as_objects(value: object) -> list[dict[str, Any]]:
    """The objects of a list, or the one object that stands where a list belongs."""
    if isinstance(value, dict):
        return [value]
    return [each for each in value if isinstance(each, dict)] if isinstance(value, list) else []


def as_number(value: object) -> int:
    """A whole number from 0 on, also from a text or a fraction; 0 for everything else."""
    if isinstance(value, str):
        value = value.strip()
        return int(value) if value.isascii() and value.isdigit() and len(value) <= 18 else 0
    if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
        return 0
    return int(value) if 0 <= value <= _LARGEST else 0


def _salvage(source: str) -> JsonDocument | None:
    """What stands before the list of items, and those items that are whole."""
    try:
        value = _lenient.decode(source)
    except (ValueError, RecursionError):
        pass
    else:
        return JsonDocument(value) if isinstance(value, dict) else None
    items = _ITEMS.search(source)
    if items is None:
        return None
    head = _read(source[: items.end()] + "]}") or {}
    return JsonDocument(head | {"items": _whole_items(source, items.end())}, is_cut_off=True)


def _whole_items(source: str, position: int) -> list[Any]:
    found, failures = [], 0
    while failures < _FAILURES and (start := _NEXT_OBJECT.match(source, position)):
        try:
            item, position = _lenient.raw_decode(source, start.end())
            found.append(item)
        except (ValueError, RecursionError):
            failures += 1
            following = _BETWEEN_OBJECTS.search(source, start.end())
            position = following.end() if following else len(source)
    return found


def _read(source: str) -> dict[str, Any] | None:
    try:
        value = _lenient.decode(source)
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, dict) else None
