"""What a client insists on, as a declaration, and what of it an answer fails.

    FEED = record(id=small, title=text, icon=nullable(record(icon_id=small)))
    assert misfits(answer, listed(FEED)) == []

Members that a shape does not name are not checked: every client ignores members that it does not know.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import datetime
from typing import Any

Check = Callable[[Any, str], Iterator[str]]


@dataclass(frozen=True)
class JsonShape:
    """look: tells what is wrong with a value at a place."""

    check: Check


def misfits(value: Any, shape: JsonShape) -> list[str]:
    """Nothing when the value fits; otherwise a line for each thing that does not."""
    return list(shape.check(value, "$"))


def _shape(what: str, fits: Callable[[Any], bool]) -> JsonShape:
    def check(value: Any, place: str) -> Iterator[str]:
        if not fits(value):
            yield f"{place}: {str(value)[:60]!r} is not {what}"

    return JsonShape(check)


def _is_moment(value: Any) -> bool:
    try:
        return isinstance(value, str) and datetime.fromisoformat(value).tzinfo is not None
    except ValueError:
        return False


def _is_whole(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


text = _shape("a text", lambda value: isinstance(value, str))
filled = _shape("a text with something in it", lambda value: isinstance(value, str) and value != "")
flag = _shape("a boolean", lambda value: isinstance(value, bool))
whole = _shape("a whole number", _is_whole)
# Several clients keep ids in 32 bits.
small = _shape("a number from 1 to 2^31 - 1", lambda value: _is_whole(value) and 0 < value < 2**31)
number = _shape("a number", lambda value: _is_whole(value) or isinstance(value, float))
moment = _shape("a moment with a zone", _is_moment)


def nullable(shape: JsonShape) -> JsonShape:
    return JsonShape(lambda value, place: iter(()) if value is None else shape.check(value, place))


def list_of(shape: JsonShape, at_least: int = 1) -> JsonShape:
    """at_least: a list that is too short has not shown what its items look like."""

    def check(value: Any, place: str) -> Iterator[str]:
        if not isinstance(value, list):
            yield f"{place}: {str(value)[:60]!r} is not a list"
            return
        if len(value) < at_least:
            yield f"{place}: {len(value)} items instead of {at_least} at least"
        for index, item in enumerate(value):
            yield from shape.check(item, f"{place}[{index}]")

    return JsonShape(check)


def mapped(shape: JsonShape) -> JsonShape:
    """An object whose names are ids."""

    def check(value: Any, place: str) -> Iterator[str]:
        if not isinstance(value, dict):
            yield f"{place}: {str(value)[:60]!r} is not an object"
            return
        for name, item in value.items():
            if not name.isdigit():
                yield f"{place}: the name {name!r} is not an id"
            yield from shape.check(item, f"{place}.{name}")

    return JsonShape(check)


def record(**fields: JsonShape) -> JsonShape:
    """An object with at least these members. Absent is as bad as null: neither is a value."""

    def check(value: Any, place: str) -> Iterator[str]:
        if not isinstance(value, dict):
            yield f"{place}: {str(value)[:60]!r} is not an object"
            return
        for name, shape in fields.items():
            if name in value:
                yield from shape.check(value[name], f"{place}.{name}")
            else:
                yield f"{place}: {name} is missing"

    return JsonShape(check)


def entry_page(entry: JsonShape, at_least: int = 1) -> JsonShape:
    """What every list of entries comes in."""
    return record(total=whole, entries=list_of(entry, at_least))
