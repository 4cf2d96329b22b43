"""CSS selectors of users, matched in time that grows with the page and not with its powers.

The engine below (lexbor) tries every combination of ancestors for `a b c d`: a selector of six parts on
a page forty levels deep does not end. So it is only asked about one compound (`p.intro`) at a time, over
the whole page, and the combinators between compounds are followed here, each node once.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from collections.abc import Set as AbstractSet
from typing import Final

from msgspec import Struct
from selectolax.lexbor import LexborHTMLParser, LexborNode, SelectolaxError

from tidings.domain.errors import InvalidRule
from tidings.domain.rules.compounds import Compound, read_paths
from tidings.domain.rules.regex import GaveUp, well_formed

MAX_SELECTOR_CHARS: Final = 2_000
# About 5 ns each.
MAX_WORK: Final = 300_000_000


class Selector(Struct, frozen=True):
    """paths: one for each member of the selector list."""

    source: str
    paths: tuple[tuple[Compound, ...], ...]


def parse_selector(text: str) -> Selector:
    """InvalidRule, without field and number, for what is not a list of selectors."""
    if not text.strip():
        raise InvalidRule("The selector is empty.")
    if len(text) > MAX_SELECTOR_CHARS:
        raise InvalidRule(f"The selector is longer than {MAX_SELECTOR_CHARS} characters.")
    if "\0" in text or well_formed(text) != text:
        raise InvalidRule("The selector contains a character that cannot be in a page.")
    selector = Selector(text, read_paths(text))
    _try_out(selector)
    return selector


def select(tree: LexborHTMLParser, selector: Selector) -> list[LexborNode]:
    """All matches, each once, in document order. GaveUp when the page is too large for such a selector."""
    _check_cost(tree, selector)
    found: dict[int, LexborNode] = {}
    for path in selector.paths:
        found.update(_follow(tree, path))
    if len(selector.paths) == 1:
        return list(found.values())
    return [node for node in tree.css("*") if node.mem_id in found]


def _try_out(selector: Selector) -> None:
    page = LexborHTMLParser("<p></p>")
    for compound in {compound.text for path in selector.paths for compound in path}:
        try:
            page.css(compound)
        except SelectolaxError as error:
            raise InvalidRule(f"{compound[:60]!r} is not a selector we know.") from error


def _follow(tree: LexborHTMLParser, path: tuple[Compound, ...]) -> dict[int, LexborNode]:
    """What the last compound of the path matches, by identity, in document order."""
    reached: dict[int, LexborNode] = {}
    for compound in path:
        candidates = tree.css(compound.text)
        if compound.combinator:
            candidates = _related(candidates, compound.combinator, reached.keys())
        reached = {node.mem_id: node for node in candidates}
        if not reached:
            break
    return reached


def nearest(nodes: Iterable[LexborNode], outer: Iterable[LexborNode]) -> dict[int, int]:
    """By identity: which of the outer nodes is the closest one above each node that has one."""
    goal = {node.mem_id for node in outer}
    known: dict[int, int] = {}
    met = {node.mem_id: _first_met(goal, node, _parent, known) for node in nodes}
    return {node: above for node, above in met.items() if above}


def _related(nodes: Iterable[LexborNode], combinator: str, reached: AbstractSet[int]) -> list[LexborNode]:
    known: dict[int, int] = {}
    match combinator:
        case ">":
            return [node for node in nodes if (above := node.parent) and above.mem_id in reached]
        case "+":
            return [node for node in nodes if (before := _element_before(node)) and before.mem_id in reached]
        case "~":
            return [node for node in nodes if _first_met(reached, node, _previous, known)]
        case _:
            return [node for node in nodes if _first_met(reached, node, _parent, known)]


def _first_met(
    goal: AbstractSet[int],
    start: LexborNode,
    step: Callable[[LexborNode], LexborNode | None],
    known: dict[int, int],
) -> int:
    """The identity of the first node of the goal that stepping on from start meets; 0 for none.

    known: for each node, what was met from there on, itself included. Thanks to it none is visited twice.
    """
    trail: list[int] = []
    met = 0
    current = step(start)
    while current is not None and not met:
        identity = current.mem_id
        if identity in known:
            met = known[identity]
            break
        trail.append(identity)
        met = identity if identity in goal else 0
        current = step(current)
    known.update(dict.fromkeys(trail, met))
    return met


def _parent(node: LexborNode) -> LexborNode | None:
    return node.parent


def _previous(node: LexborNode) -> LexborNode | None:
    return node.prev


def _element_before(node: LexborNode) -> LexborNode | None:
    before = node.prev
    while before is not None and not before.is_element_node:
        before = before.prev
    return before


def _check_cost(tree: LexborHTMLParser, selector: Selector) -> None:
    """What stands inside parentheses is left to the engine: refuse what it would not finish."""
    compounds = [compound for path in selector.paths for compound in path if compound.is_costly]
    if not compounds:
        return
    nodes, depth, siblings = _shape(tree)
    for compound in compounds:
        if nodes * depth**compound.climbs * siblings**compound.scans > MAX_WORK:
            raise GaveUp(f"the page is too large for {compound.text[:60]!r}")


def _shape(tree: LexborHTMLParser) -> tuple[int, int, int]:
    """How many elements, how deep at most, how many side by side at most."""
    depths: dict[int, int] = {}
    siblings: dict[int, int] = {}
    for node in tree.css("*"):
        parent = node.parent
        above = parent.mem_id if parent else 0
        depths[node.mem_id] = depths.get(above, 0) + 1
        siblings[above] = siblings.get(above, 0) + 1
    return len(depths), max(depths.values(), default=0), max(siblings.values(), default=0)
