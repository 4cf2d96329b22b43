"""Finds the selectors for an element that a user has picked on a page.

items     the element ─► what repeats around it ─► the likeliest ─► a selector of it, and of its fields
a field   the element ─► its item ─► the shortest selector that finds it there, and in most other items
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from typing import Any, Final

from msgspec import Struct
from selectolax.lexbor import LexborNode

from tidings.base.errors import InvalidInput
from tidings.base.messages import Message, msg, prefix_field
from tidings.content.pages.outline import NumberedPage, children
from tidings.content.pages.selectors import PageSelectors
from tidings.content.pages.suggestions import (
    ITEM_TAGS,
    common_fields,
    likelihood,
    main_link,
    selector_of,
    usable_classes,
)
from tidings.content.pages.trees import css_below
from tidings.content.rules.selectors import parse_selector

# What can be picked, in the order in which a user needs it.
PARTS: Final = ("item", "title", "date", "link", "image", "content", "author")
# Items in which a selector is tried, and items and fields that are marked.
_MAX_TRIED: Final = 50
MAX_MARKED: Final = 300
# Elements around a picked one that are looked at.
_MAX_ABOVE: Final = 30
_MAX_CANDIDATES: Final = 40
# Parts of an item, and what is around all of them.
_NO_ITEMS: Final = frozenset({"td", "th", "thead", "tbody", "tfoot", "img", "br", "hr", "time"})
_HEADINGS: Final = frozenset({"h1", "h2", "h3", "h4", "h5", "h6"})
# Names that CSS has without an escape.
_USABLE_TAG: Final = re.compile(r"[a-z][a-z0-9-]*")
_PICTURE_ATTRIBUTES: Final = ("src", "data-src", "srcset")


class Pick(Struct, frozen=True):
    """An element that was picked on the outline of a page."""

    element: int
    """Its number there."""
    part: str
    """One of PARTS."""
    selectors: dict[str, Any] = {}
    """As written so far. Those of fields begin at what `item` finds."""


class Picked(Struct, frozen=True):
    """The selectors after a pick, or why there are none."""

    selectors: dict[str, Any] = {}
    problem: Message | None = None


PAGE_CHANGED: Final = msg("The page has changed: load it again.")
OUTSIDE: Final = msg("That is outside of the items. Pick in one of the marked ones, or pick an item first.")
NOTHING_REPEATS: Final = msg("Nothing like that repeats on the page. Pick something that is there several times.")


def pick(source: str, wanted: Pick) -> Picked:
    """Return the selectors with the picked part. The kind is CSS."""
    page = NumberedPage(source)

    def items(selector: str) -> list[LexborNode]:
        parse_selector(selector)
        return page.tree.css(selector)

    return pick_on(page, wanted, items)


def pick_on(page: NumberedPage, wanted: Pick, items_of: Callable[[str], list[LexborNode]]) -> Picked:
    """Return the selectors with the picked part, which is written as CSS.

    items_of: returns what the selector of the items finds. Raises InvalidInput if it cannot be read.
    """
    element = page.elements.get(wanted.element)
    if element is None or wanted.part not in PARTS:
        return Picked(problem=PAGE_CHANGED)
    if wanted.part == "item":
        return _pick_item(page, element)
    item_selector = str(wanted.selectors.get("item") or "")
    try:
        items = items_of(item_selector) if item_selector else []
    except InvalidInput as error:
        return Picked(problem=prefix_field("item", error.text))
    found = _item_around(element, items)
    if found is None:
        return Picked(problem=OUTSIDE)
    return _pick_field(found, element, items, wanted)


def marks(source: str, selectors: PageSelectors) -> dict[str, list[int]]:
    """Return the numbers of the items and of what the fields find in them, by part, for an outline of the page."""
    page = NumberedPage(source)
    items = page.tree.css(selectors.item)[:MAX_MARKED]
    found = {"item": _numbers(page, items)}
    for name, field in selectors.fields.items():
        nodes = (css_below(item, field.selector)[:1] for item in items)
        found[name] = _numbers(page, [node for one in nodes for node in one])
    return found


def _numbers(page: NumberedPage, nodes: Sequence[LexborNode]) -> list[int]:
    return [number for node in nodes if (number := page.number(node)) is not None]


# Items


def _pick_item(page: NumberedPage, element: LexborNode) -> Picked:
    best: tuple[tuple[float, bool, int], str, list[LexborNode]] | None = None
    for distance, node in enumerate(_upwards(element)):
        for selector in dict.fromkeys(_item_selectors(node)):
            nodes = page.tree.css(selector)
            if len(nodes) < 2 or all(one.mem_id != node.mem_id for one in nodes):
                continue
            # Of those that are no likely items, the list that is nearest to what was picked.
            is_list = len(nodes) > 2 and node.tag in ITEM_TAGS
            rank = (likelihood(nodes) * _linked(nodes) ** 2, is_list, -distance)
            if best is None or rank > best[0]:
                best = rank, selector, nodes
    if best is None:
        return Picked(problem=NOTHING_REPEATS)
    _rank, selector, nodes = best
    return Picked({"item": selector, **common_fields(nodes[:10])})


def _linked(nodes: Sequence[LexborNode]) -> float:
    """Return how many of the elements have a link, of 1: cells of a table do not all have one, its rows do."""
    sample = nodes[:_MAX_TRIED]
    return sum(main_link(node) is not None for node in sample) / len(sample)


def _item_selectors(node: LexborNode) -> Iterator[str]:
    """Yield selectors of an element and what looks the same: next to it, or elsewhere by its class."""
    parent = node.parent
    if parent is None or node.tag in _NO_ITEMS or not _USABLE_TAG.fullmatch(node.tag or ""):
        return
    for name in usable_classes(node)[:5]:
        yield f"{node.tag}.{name}"
    alike = [child for child in children(parent) if child.tag == node.tag]
    if len(alike) > 1:
        yield selector_of(alike)
    if node.tag == "article":
        yield "article"


def _upwards(element: LexborNode) -> Iterator[LexborNode]:
    """Yield an element and those around it, below the body."""
    node: LexborNode | None = element
    for _ in range(_MAX_ABOVE):
        if node is None or node.tag in ("body", "html", None):
            return
        yield node
        node = node.parent


# Fields


def _item_around(element: LexborNode, items: Sequence[LexborNode]) -> LexborNode | None:
    ids = {item.mem_id for item in items}
    return next((node for node in _all_upwards(element) if node.mem_id in ids), None)


def _all_upwards(element: LexborNode) -> Iterator[LexborNode]:
    node: LexborNode | None = element
    while node is not None:
        yield node
        node = node.parent


def _pick_field(item: LexborNode, element: LexborNode, items: Sequence[LexborNode], wanted: Pick) -> Picked:
    inside = [node for node in _all_upwards(element) if _is_inside(node, item)]
    target = _target(inside, wanted.part)
    if target is None:
        problem = (
            msg("There is no link: pick the text of one.")
            if wanted.part == "link"
            else msg("That is not a picture: pick one that begins with {sign}.", sign="▣")
        )
        return Picked(problem=problem)
    selector = _selector_in(item, target, items)
    if selector is None:
        return Picked(problem=msg("There is no short selector of that. Pick something around it, or type one."))
    written = dict(wanted.selectors)
    put(written, wanted.part, f"{'' if selector == '.' else selector}{_attribute(target, wanted.part)}" or ".")
    if wanted.part == "title" and not written.get("link") and (link := _target(inside, "link")) is not None:
        address = _selector_in(item, link, items)
        if address is not None:
            written["link"] = f"{'' if address == '.' else address}@href"
    return Picked(written)


def put(written: dict[str, Any], part: str, selector: str) -> None:
    """Replace a selector; what becomes of its value (`capture`, `format` and so on) stays."""
    before = written.get(part)
    if isinstance(before, dict):
        rest = {name: value for name, value in before.items() if name not in ("selector", "attribute")}
        written[part] = {"selector": selector, **rest}
    else:
        written[part] = selector


def _is_inside(node: LexborNode, item: LexborNode) -> bool:
    return any(one.mem_id == item.mem_id for one in _all_upwards(node))


def _target(inside: Sequence[LexborNode], part: str) -> LexborNode | None:
    """Return the element that has the value: the picked one, or one around or in it. inside: from it to the item."""
    picked = inside[0]
    match part:
        case "title":
            return next((node for node in inside if node.tag in _HEADINGS), picked)
        case "date":
            return next((node for node in inside if node.tag == "time"), picked)
        case "link":
            return next((node for node in inside if node.tag == "a"), None) or picked.css_first("a[href]")
        case "image":
            return picked if picked.tag == "img" else picked.css_first("img")
    return picked


def _attribute(target: LexborNode, part: str) -> str:
    if part == "link":
        return "@href"
    if part == "image":
        return f"@{next((name for name in _PICTURE_ATTRIBUTES if target.attributes.get(name)), 'src')}"
    return ""


def _selector_in(item: LexborNode, target: LexborNode, items: Sequence[LexborNode]) -> str | None:
    """Return the selector that finds the element in its item, and something in most other items; None without one."""
    if target.mem_id == item.mem_id:
        return "."
    tried = items[:_MAX_TRIED]
    best, best_hits = None, 0
    for count, selector in enumerate(_selectors(item, target)):
        if count > _MAX_CANDIDATES:
            break
        found = css_below(item, selector)
        if not found or found[0].mem_id != target.mem_id:
            continue
        hits = sum(bool(css_below(one, selector)) for one in tried)
        if hits > best_hits:
            best, best_hits = selector, hits
        if hits == len(tried):
            break
    return best


def _selectors(item: LexborNode, target: LexborNode) -> Iterator[str]:
    """Yield selectors of an element, shorter ones first."""
    yield from _names(target)
    path = _position(target)
    node = target.parent
    while node is not None and node.mem_id != item.mem_id:
        for outer in _names(node):
            for inner in _names(target):
                yield f"{outer} {inner}"
        yield path
        path = f"{_position(node)} > {path}"
        node = node.parent
    yield path


def _names(node: LexborNode) -> list[str]:
    tag = _tag(node)
    return [*(f"{tag}.{name}" for name in usable_classes(node)[:3]), tag]


def _position(node: LexborNode) -> str:
    """Return a selector by the place among elements of the same name, such as span:nth-of-type(2)."""
    parent = node.parent
    alike = [child for child in children(parent) if child.tag == node.tag] if parent is not None else [node]
    place = next((place for place, one in enumerate(alike, 1) if one.mem_id == node.mem_id), 1)
    return f"{_tag(node)}:nth-of-type({place})"


def _tag(node: LexborNode) -> str:
    return node.tag if node.tag and _USABLE_TAG.fullmatch(node.tag) else "*"
