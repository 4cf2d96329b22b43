"""Picking in JSON: its outline, and the paths of what is picked there.

    documents ─► values, numbered in the order of the outline ─► names and values cut short, each a link to its number

An item is in the innermost list of objects around what is picked; the path of a field begins there.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import islice
from typing import Any, Final

from msgspec import Struct

from tidings.base.errors import InvalidInput
from tidings.base.messages import prefix_field
from tidings.content.errors import PageUnreadable
from tidings.content.formats.json_feed import as_text
from tidings.content.formats.text import collapse_whitespace, escape_html
from tidings.content.pages.json_path import parse_path
from tidings.content.pages.outline import MAX_CHARS, MAX_ELEMENTS
from tidings.content.pages.picking import (
    MAX_MARKED,
    NOTHING_REPEATS,
    OUTSIDE,
    PAGE_CHANGED,
    PARTS,
    Pick,
    Picked,
    put,
)
from tidings.content.pages.selectors import PageSelectors
from tidings.content.pages.suggestions import SAMPLE, json_fields, json_step
from tidings.content.pages.trees import JsonTree

# Of a list or an object; more are there, and not shown.
MAX_LISTED: Final = 50
MAX_DEPTH: Final = 40
_MAX_TEXT: Final = 80

Keys = tuple[str | int, ...]


class Place(Struct, frozen=True):
    """A value in the outline."""

    document: int
    keys: Keys
    """Names and indexes that lead to it."""
    value: Any


class NumberedJson:
    """JSON whose values have numbers, which are the same each time that the same JSON is read."""

    def __init__(self, tree: JsonTree) -> None:
        self.tree = tree
        self.places: list[Place] = []
        for number, document in enumerate(tree.documents):
            self._add(number, (), document)
        self.numbers = {(place.document, place.keys): number for number, place in enumerate(self.places)}

    def _add(self, document: int, keys: Keys, value: Any) -> None:
        if len(self.places) >= MAX_ELEMENTS or len(keys) > MAX_DEPTH:
            return
        self.places.append(Place(document, keys, value))
        for key, each in _listed(value):
            self._add(document, (*keys, key), each)

    def items(self, selector: str) -> list[Place]:
        """Return the items that the outline has. Raises InvalidInput and PageUnreadable."""
        found = {id(value) for value in self.tree.items(selector) if isinstance(value, dict | list)}
        return [place for place in self.places if isinstance(place.value, dict | list) and id(place.value) in found]


def _listed(value: Any) -> Iterator[tuple[str | int, Any]]:
    if isinstance(value, dict):
        yield from islice(((str(name), each) for name, each in value.items()), MAX_LISTED)
    elif isinstance(value, list):
        yield from islice(enumerate(value), MAX_LISTED)


def json_outline(tree: JsonTree) -> str:
    """Return JSON as HTML for a body, "" if it has no values."""
    numbered = NumberedJson(tree)
    parts: list[str] = []
    chars, depth = 0, 0
    for number, place in enumerate(numbered.places):
        if chars > MAX_CHARS:
            break
        level = len(place.keys) + 1
        opened = "<ul>" * (level - depth) if level > depth else "</li>" + "</ul></li>" * (depth - level)
        part = f'{opened}<li id="e{number}"><a href="#e{number}">{_label(place)}</a>'
        parts.append(part)
        chars += len(part)
        depth = level
    return "".join(parts) + "</li></ul>" * depth if len(numbered.places) > 1 else ""


def _label(place: Place) -> str:
    name = str(place.keys[-1]) if place.keys else "$"
    value = place.value
    if isinstance(value, dict):
        shown = f"{{{len(value)}}}"
    elif isinstance(value, list):
        shown = f"[{len(value)}]"
    else:
        text = collapse_whitespace(as_text(value) or ("null" if value is None else str(value).lower()))
        shown = text[:_MAX_TEXT] + ("…" if len(text) > _MAX_TEXT else "")
    return escape_html(f"{name[:_MAX_TEXT]}: {shown}")


def pick_json(tree: JsonTree, wanted: Pick) -> Picked:
    """Return the paths with the picked part."""
    numbered = NumberedJson(tree)
    if not 0 <= wanted.element < len(numbered.places) or wanted.part not in PARTS:
        return Picked(problem=PAGE_CHANGED)
    place = numbered.places[wanted.element]
    if wanted.part == "item":
        return _pick_item(tree, place)
    try:
        items = numbered.items(str(wanted.selectors.get("item") or "")) if wanted.selectors.get("item") else []
    except InvalidInput as error:
        return Picked(problem=prefix_field("item", error.text))
    except PageUnreadable as error:
        return Picked(problem=error.text)
    around = {item.keys for item in items if item.document == place.document}
    item = next((place.keys[:end] for end in range(len(place.keys), -1, -1) if place.keys[:end] in around), None)
    if item is None:
        return Picked(problem=OUTSIDE)
    written = dict(wanted.selectors)
    put(written, wanted.part, _path(place.keys[len(item) :]).removeprefix(".") or ".")
    return Picked(written)


def _pick_item(tree: JsonTree, place: Place) -> Picked:
    """Return the path of the list around the picked value whose members are objects, the innermost one."""
    # The picked value may be the list itself.
    around = [place.keys[:end] for end in range(len(place.keys), -1, -1)]
    values = [(keys, _at(tree.documents[place.document], keys)) for keys in around]
    # An object of objects is a list only where there is none: many items have nothing but objects.
    lists = [(keys, value) for keys, value in values if isinstance(value, list) and _objects(value)]
    maps = [(keys, list(value.values())) for keys, value in values if _is_map(value)]
    if not lists and not maps:
        return Picked(problem=NOTHING_REPEATS)
    keys, members = (lists or maps)[0]
    objects = _objects(members)
    fields = json_fields(objects)
    if not fields.keys() & {"title", "link", "content"}:
        picked = _path(place.keys[len(keys) + 1 :]).removeprefix(".")
        fields["title"] = picked or next((json_step(name).removeprefix(".") for name in map(str, objects[0])), ".")
    return Picked({"item": f"${_path(keys)}[*]", **fields})


def _objects(members: Sequence[Any]) -> list[dict[str, Any]]:
    """Return the objects among the first members, if most of these are objects."""
    first = members[:SAMPLE]
    found = [one for one in first if isinstance(one, dict)]
    return found if len(found) * 2 > len(first) else []


def _is_map(value: Any) -> bool:
    """Return whether a value is an object of several objects and nothing else, which have a name in common."""
    if not isinstance(value, dict) or len(value) < 2 or not all(isinstance(one, dict) for one in value.values()):
        return False
    return bool(set.intersection(*map(set, islice(value.values(), SAMPLE))))


def _at(value: Any, keys: Keys) -> Any:
    for key in keys:
        value = value[key]
    return value


def _path(keys: Keys) -> str:
    return "".join(f"[{key}]" if isinstance(key, int) else json_step(key) for key in keys)


def json_marks(tree: JsonTree, selectors: PageSelectors) -> dict[str, list[int]]:
    """Return the numbers of the items and of their fields with a path to one place, by part."""
    numbered = NumberedJson(tree)
    items = numbered.items(selectors.item)[:MAX_MARKED]
    found = {"item": [numbered.numbers[item.document, item.keys] for item in items]}
    for name, field in selectors.fields.items():
        keys = parse_path(field.selector).keys if field.selector else ()
        if keys is not None:
            places = (numbered.numbers.get((item.document, (*item.keys, *keys))) for item in items)
            found[name] = [number for number in places if number is not None]
    return found
