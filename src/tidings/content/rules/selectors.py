"""Matches CSS selectors of users in time that is linear in the size of the page.

The engine (lexbor) tries every combination of ancestors for `a b c d`: a selector of six parts on a page forty levels
deep takes practically forever. So the list is split into compounds (`p.intro[lang]`) and combinators; the engine
matches one compound at a time, over the whole page, and the combinators are followed here, visiting each node once.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from collections.abc import Set as AbstractSet
from typing import Final

from msgspec import Struct
from selectolax.lexbor import LexborHTMLParser, LexborNode, SelectolaxError

from tidings.base.messages import msg
from tidings.content.errors import InvalidRule, UnmatchableRule
from tidings.content.rules.evaluation import RuleBudget, RuleBudgetExceeded
from tidings.content.rules.regex import replace_surrogates

# Compounds and combinators

_TOKEN: Final = re.compile(
    r"""
    (?P<comment>/\*.*?\*/)
    | (?P<space>[ \t\r\n\f]+)
    | (?P<open>[(\[])
    | (?P<close>[)\]])
    | (?P<combinator>[>+~])
    | (?P<comma>,)
    | (?P<text>"(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)*'|\\.|[^"'\\])
    """,
    re.VERBOSE | re.DOTALL,
)
_PAIRS: Final = {"(": ")", "[": "]"}
_HAS: Final = re.compile(r":has\(", re.IGNORECASE)
_COUNTS_SIBLINGS: Final = re.compile(r":(?:nth-[a-z-]+\(|(?:first|last|only)-of-type)", re.IGNORECASE)
_QUOTED: Final = re.compile(r""" "(?:[^"\\]|\\.)*" | '(?:[^'\\]|\\.)*' """, re.VERBOSE | re.DOTALL)
_ATTRIBUTE: Final = re.compile(r"\[[^\]]*\]")
_SPACE_AROUND: Final = re.compile(r"\s*([,>+~()])\s*")


class CompoundSelector(Struct, frozen=True):
    """A compound of a CSS selector, and how it relates to the compound before it."""

    combinator: str
    """One of " ", ">", "+" or "~", relative to the compound before; "" for the first."""
    text: str

    @property
    def is_costly(self) -> bool:
        return self.ancestor_walks + self.sibling_walks > 0

    @property
    def ancestor_walks(self) -> int:
        """How often the engine may walk the whole depth of the page for one element."""
        bare = _SPACE_AROUND.sub(r"\1", self._bare())
        return len(_HAS.findall(bare)) + bare.count(" ")

    @property
    def sibling_walks(self) -> int:
        """How often the engine may walk all siblings of an element."""
        bare = self._bare()
        return len(_COUNTS_SIBLINGS.findall(bare)) + bare.count("~")

    def _bare(self) -> str:
        """Return the text without attributes and strings, in which signs and spaces have no meaning."""
        return _ATTRIBUTE.sub("", _QUOTED.sub("", self.text))


SelectorPaths = tuple[tuple[CompoundSelector, ...], ...]


def parse_selector_list(text: str) -> SelectorPaths:
    """Return the compounds of each member of the list.

    Raises UnmatchableRule if brackets do not match or a combinator or comma joins nothing. The engine, like browsers,
    closes
    open brackets itself; the author of the rule gets an error instead.
    """
    parser = _SelectorParser()
    position = 0
    while position < len(text):
        token = _TOKEN.match(text, position)
        if token is None:
            raise UnmatchableRule(
                msg("The selector has a string or escape without end at character {position}.", position=position + 1)
            )
        parser.take(token.lastgroup or "", " " if token.lastgroup == "space" else token.group())
        position = token.end()
    return parser.finish()


class _SelectorParser:
    def __init__(self) -> None:
        self._paths: list[tuple[CompoundSelector, ...]] = []
        self._path: list[CompoundSelector] = []
        self._text = ""
        self._combinator = ""
        self._expected_brackets: list[str] = []

    def take(self, kind: str, text: str) -> None:
        if kind == "comment":
            return
        if kind in ("open", "close"):
            self._check_bracket(text)
        if self._expected_brackets or kind in ("open", "close", "text"):
            self._text += text
        elif kind == "comma":
            self._end_path()
        else:
            self._join(text)

    def finish(self) -> SelectorPaths:
        if self._expected_brackets:
            raise UnmatchableRule(
                msg("The selector ends before a closing {bracket}.", bracket=self._expected_brackets[-1])
            )
        self._end_path()
        return tuple(self._paths)

    def _check_bracket(self, text: str) -> None:
        if text in _PAIRS:
            self._expected_brackets.append(_PAIRS[text])
        elif not self._expected_brackets or self._expected_brackets.pop() != text:
            raise UnmatchableRule(msg("The selector has a {text} that closes nothing.", text=text))

    def _join(self, combinator: str) -> None:
        """Handles a combinator: a space or one of > + ~."""
        self._end_compound()
        if combinator == " ":
            self._combinator = self._combinator or (" " if self._path else "")
        elif self._combinator.strip() or not self._path:
            raise UnmatchableRule(msg("The selector has a {combinator} with nothing to join.", combinator=combinator))
        else:
            self._combinator = combinator

    def _end_compound(self) -> None:
        if self._text:
            self._path.append(CompoundSelector(self._combinator, self._text))
            self._text = self._combinator = ""

    def _end_path(self) -> None:
        self._end_compound()
        if not self._path or self._combinator.strip():
            raise UnmatchableRule(msg("The selector has a comma or combinator with nothing on one side."))
        self._paths.append(tuple(self._path))
        self._path, self._combinator = [], ""


# Matching

MAX_SELECTOR_CHARS: Final = 2_000
# Node visits of about 5 ns each.
MAX_WORK: Final = 300_000_000


class Selector(Struct, frozen=True):
    """A CSS selector list, compiled."""

    source: str
    paths: tuple[tuple[CompoundSelector, ...], ...]
    """The compounds of each member of the selector list."""


def parse_selector(text: str) -> Selector:
    """Return the selector.

    Raises UnmatchableRule, without field and number, for text that is not a list of selectors, and InvalidRule for one
    that is too long.
    """
    if not text.strip():
        raise UnmatchableRule(msg("The selector is empty."))
    if len(text) > MAX_SELECTOR_CHARS:
        raise InvalidRule(msg("The selector is longer than {max} characters.", max=MAX_SELECTOR_CHARS))
    if "\0" in text or replace_surrogates(text) != text:
        raise UnmatchableRule(msg("The selector contains a character that cannot be in a page."))
    selector = Selector(text, parse_selector_list(text))
    _check_compounds(selector)
    return selector


def select(tree: LexborHTMLParser, selector: Selector, budget: RuleBudget) -> list[LexborNode]:
    """Return all matches, each once, in document order.

    Raises RuleBudgetExceeded if the page is too large for the selector, or the budget of all rules is used up.
    """
    _check_cost(tree, selector)
    selected: dict[int, LexborNode] = {}
    for path in selector.paths:
        selected.update(_match_path(tree, path, budget))
    if len(selector.paths) == 1:
        return list(selected.values())
    return [node for node in tree.css("*") if node.mem_id in selected]


def _check_compounds(selector: Selector) -> None:
    page = LexborHTMLParser("<p></p>")
    for compound in {compound.text for path in selector.paths for compound in path}:
        try:
            page.css(compound)
        except SelectolaxError as error:
            raise UnmatchableRule(msg("{compound} is not a selector we know.", compound=repr(compound[:60]))) from error


def _match_path(
    tree: LexborHTMLParser, path: tuple[CompoundSelector, ...], budget: RuleBudget
) -> dict[int, LexborNode]:
    """Return the matches of the path's last compound, by node id, in document order."""
    reached: dict[int, LexborNode] = {}
    for compound in path:
        budget.check()
        candidates = tree.css(compound.text)
        if compound.combinator:
            candidates = _related(candidates, compound.combinator, reached.keys())
        reached = {node.mem_id: node for node in candidates}
        if not reached:
            break
    return reached


def nearest_ancestors(nodes: Iterable[LexborNode], outer: Iterable[LexborNode]) -> dict[int, int]:
    """Return for each node the id of its nearest ancestor among `outer`; nodes without one are left out."""
    goal = {node.mem_id for node in outer}
    known: dict[int, int] = {}
    reached_node = {node.mem_id: _first_reached(goal, node, _parent, known) for node in nodes}
    return {node: above for node, above in reached_node.items() if above}


def _related(nodes: Iterable[LexborNode], combinator: str, reached: AbstractSet[int]) -> list[LexborNode]:
    known: dict[int, int] = {}
    match combinator:
        case ">":
            return [node for node in nodes if (above := node.parent) and above.mem_id in reached]
        case "+":
            return [node for node in nodes if (before := _element_before(node)) and before.mem_id in reached]
        case "~":
            return [node for node in nodes if _first_reached(reached, node, _previous, known)]
        case _:
            return [node for node in nodes if _first_reached(reached, node, _parent, known)]


def _first_reached(
    goal: AbstractSet[int],
    start: LexborNode,
    step: Callable[[LexborNode], LexborNode | None],
    known: dict[int, int],
) -> int:
    """Return the id of the first node of `goal` that repeated steps from `start` reach; 0 if there is none.

    known: results of nodes visited before, so that each node is visited once.
    """
    trail: list[int] = []
    reached_node = 0
    current = step(start)
    while current is not None and not reached_node:
        identity = current.mem_id
        if identity in known:
            reached_node = known[identity]
            break
        trail.append(identity)
        reached_node = identity if identity in goal else 0
        current = step(current)
    known.update(dict.fromkeys(trail, reached_node))
    return reached_node


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
    """Raise RuleBudgetExceeded if the engine could not finish, which matches the content of parentheses itself."""
    compounds = [compound for path in selector.paths for compound in path if compound.is_costly]
    if not compounds:
        return
    nodes, depth, siblings = _tree_dimensions(tree)
    work = 0
    for compound in compounds:
        # Together: a selector may have hundreds of compounds.
        work += nodes * depth**compound.ancestor_walks * siblings**compound.sibling_walks
        if work > MAX_WORK:
            raise RuleBudgetExceeded(msg("the page is too large for {text}", text=repr(compound.text[:60])))


def _tree_dimensions(tree: LexborHTMLParser) -> tuple[int, int, int]:
    """Return the number of elements, the greatest depth, and the greatest number of siblings."""
    depths: dict[int, int] = {}
    siblings: dict[int, int] = {}
    for node in tree.css("*"):
        parent = node.parent
        above = parent.mem_id if parent else 0
        depths[node.mem_id] = depths.get(above, 0) + 1
        siblings[above] = siblings.get(above, 0) + 1
    return len(depths), max(depths.values(), default=0), max(siblings.values(), default=0)
