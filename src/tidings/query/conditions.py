"""Queries as rows of conditions, of which all or any must match, for people who do not write queries.

    rain -title:snow (is:starred OR published:7d)

    any    has    rain
    title  lacks  snow
    query  has    is:starred OR published:7d     a term that has no row stays a query

`conditions_of` returns such rows for every tree; `tree_of` makes the same tree of them again.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from msgspec import Struct

from tidings.base.conditions import Condition
from tidings.base.messages import msg
from tidings.query.errors import QueryError
from tidings.query.model import (
    And,
    Comparison,
    Everything,
    Has,
    Id,
    IdField,
    Is,
    Not,
    Number,
    NumberField,
    Or,
    Pattern,
    PatternField,
    Text,
    TextField,
    TimeField,
    Times,
    Tree,
    View,
    all_of,
    any_of,
    negated,
)
from tidings.query.moments import is_duration
from tidings.query.normal_form import escaped_slashes, normal_form, quoted
from tidings.query.parser import parse

ANY: Final = "any"
QUERY: Final = "query"
"""The field of a term that is written as a query."""
STATE, ATTACHMENT, VIEW = "is", "has", "view"
IGNORED_CASE: Final = "(?i)"

_WORDS = ("has", "lacks")
_NAMES = ("is", "is_not")
_EXPRESSIONS = ("matches", "fails")
_NEGATIVE: Final = {"lacks": "has", "is_not": "is", "fails": "matches"}
_POSITIVE: Final = {positive: negative for negative, positive in _NEGATIVE.items()}
_COMPARISONS: Final = {
    "above": Comparison.ABOVE,
    "at_least": Comparison.AT_LEAST,
    "equal": Comparison.EQUAL,
    "at_most": Comparison.AT_MOST,
    "below": Comparison.BELOW,
}
_TIMES: Final = {
    "last": "{}",
    "older": ">{}",
    "on": "{}",
    "since": "{}..",
    "until": "..{}",
    "after": ">{}",
    "before": "<{}",
}
DURATIONS: Final = ("last", "older")
_BY_ID: Final = {"feed": IdField.FEED, "category": IdField.CATEGORY, "label": IdField.LABEL}
_NO_PREFIX: Final = (TextField.URL, TextField.SITE, TextField.LANGUAGE)

# By field, in the order of a menu: how it can be compared, the usual way first.
HOWS: Final[dict[str, tuple[str, ...]]] = {
    ANY: _WORDS,
    "title": (*_WORDS, *_EXPRESSIONS),
    "text": _WORDS,
    "author": (*_WORDS, *_EXPRESSIONS),
    "feed": (*_NAMES, *_WORDS),
    "category": (*_NAMES, *_WORDS),
    "label": (*_NAMES, *_WORDS),
    "tag": _WORDS,
    STATE: _NAMES,
    ATTACHMENT: _WORDS,
    **dict.fromkeys(map(str, TimeField), tuple(_TIMES)),
    **dict.fromkeys(map(str, NumberField), tuple(_COMPARISONS)),
    "site": _WORDS,
    "url": (*_WORDS, *_EXPRESSIONS),
    "lang": _WORDS,
    VIEW: _NAMES,
    QUERY: _WORDS,
}


class Conditions(Struct, frozen=True):
    """A query as rows."""

    rows: tuple[Condition, ...]
    is_any: bool = False
    """Whether one of the rows is enough."""

    @property
    def is_plain(self) -> bool:
        """Whether no row is written as a query."""
        return all(one.field != QUERY for one in self.rows)


def conditions_of(tree: Tree) -> Conditions:
    """Return the rows of a tree; none for Everything."""
    match tree:
        case Everything():
            return Conditions(())
        case Or(terms):
            return Conditions(tuple(map(_condition, terms)), is_any=True)
        case And(terms):
            return Conditions(tuple(map(_condition, terms)))
        case _:
            return Conditions((_condition(tree),))


def tree_of(conditions: Sequence[Condition], *, is_any: bool) -> Tree:
    """Return the tree of rows; Everything without rows. Raises QueryError, as `term_of` does."""
    trees = [term_of(one) for one in conditions]
    return any_of(trees) if is_any and trees else all_of(trees)


def term_of(condition: Condition) -> Tree:
    """Return the tree of a row.

    Raises QueryError for a value that its field cannot have; its position says nothing.
    """
    if condition.how not in HOWS.get(condition.field, ()):
        raise QueryError(0, msg("another comparison"))
    how = _NEGATIVE.get(condition.how, condition.how)
    tree = parse(_written(condition.field, how, condition.value.strip()))
    if isinstance(tree, Everything):
        raise QueryError(0, msg("a word with letters or digits"))
    return tree if how == condition.how else negated(tree)


def _condition(tree: Tree) -> Condition:
    """Return the row of a term, which is written as a query if no other row means the same."""
    term, is_negated = (tree.term, True) if isinstance(tree, Not) else (tree, False)
    for one in _candidates(term):
        how = _POSITIVE.get(one.how, "") if is_negated else one.how
        row = Condition(one.field, how, one.value)
        if how in HOWS[one.field] and _means(row, tree):
            return row
    if is_negated:
        return Condition(QUERY, "lacks", normal_form(term))
    return Condition(QUERY, "has", normal_form(tree))


def _candidates(term: Tree) -> Iterator[Condition]:
    match term:
        case Text(words, field, is_prefix):
            yield Condition(field or ANY, "has", words + ("*" if is_prefix else ""))
        case Id(field, number):
            yield Condition(next(name for name, one in _BY_ID.items() if one is field), "is", str(number))
        case Pattern(field, source, ignores_case):
            yield Condition(field, "matches", (IGNORED_CASE if ignores_case else "") + source)
        case Has(attachment):
            yield Condition(ATTACHMENT, "has", attachment)
        case Is(state):
            yield Condition(STATE, "is", state)
        case Number(field, comparison, number):
            yield Condition(field, next(how for how, one in _COMPARISONS.items() if one is comparison), str(number))
        case Times(field, since, until, after, before):
            bounds = {"since": since, "until": until, "after": after, "before": before}
            yield from (Condition(field, how, value) for how, value in bounds.items() if value)
            yield Condition(field, "last", since)
            yield Condition(field, "older", before)
            yield Condition(field, "on", since)
        case View(name):
            yield Condition(VIEW, "is", name)


def _means(condition: Condition, tree: Tree) -> bool:
    # A duration behind "before" would be understood, but reads the wrong way round.
    if condition.how in _TIMES and is_duration(condition.value) is not (condition.how in DURATIONS):
        return False
    try:
        return term_of(condition) == tree
    except QueryError:
        return False


def _written(field: str, how: str, value: str) -> str:
    """Return a row, without its negation, as a query."""
    if field == QUERY:
        return value
    if field in _BY_ID and how == "is":
        return f"{_BY_ID[field]}:{_checked_number(value)}"
    if how == "matches":
        is_any_case = value.startswith(IGNORED_CASE)
        source = value.removeprefix(IGNORED_CASE)
        return f"{PatternField(field)}:/{escaped_slashes(source)}/{'i' if is_any_case else ''}"
    if field == STATE:
        return f"is:{quoted(value)}"
    if field == ATTACHMENT:
        return f"has:{quoted(value)}"
    if field == VIEW:
        return f"S:{quoted(value)}"
    if how in _COMPARISONS:
        return f"{NumberField(field)}{_COMPARISONS[how]}{_checked_number(value)}"
    if how in _TIMES:
        return f"{TimeField(field)}:{quoted(_TIMES[how].format(value))}"
    return _words(TextField("" if field == ANY else field), value)


def _words(field: TextField, value: str) -> str:
    words = value if field in _NO_PREFIX else value.rstrip("*")
    star = "*" if words != value else ""
    return f"{field}{':' if field else ''}{quoted(words)}{star}"


def _checked_number(value: str) -> str:
    if not (value.isascii() and value.isdecimal() and len(value) <= 9):
        raise QueryError(0, msg("a whole number"))
    return value
