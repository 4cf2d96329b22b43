"""The tree of a query: plain values that can be compared, hashed and encoded as JSON.

    And ── Text, Text, Or ── Is, Not ── Has          rain snow (is:starred OR -has:audio)

The functions `all_of`, `any_of` and `negated` keep trees in the one form in which `parser.parse` returns them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from enum import StrEnum
from typing import TypeAlias

from msgspec import Struct

from tidings.base.times import Instant
from tidings.query import moments


class TextField(StrEnum):
    """What words are searched in."""

    ANY = ""
    """The title and the text."""
    TITLE = "title"
    TEXT = "text"
    AUTHOR = "author"
    URL = "url"
    SITE = "site"
    FEED = "feed"
    CATEGORY = "category"
    LABEL = "label"
    TAG = "tag"
    LANGUAGE = "lang"


class IdField(StrEnum):
    """What is named by its id. The values are FreshRSS's names."""

    FEED = "f"
    CATEGORY = "c"
    LABEL = "L"


class PatternField(StrEnum):
    """What regular expressions are searched in."""

    TITLE = "title"
    AUTHOR = "author"
    URL = "url"


class Attachment(StrEnum):
    """What an entry can have attached."""

    ENCLOSURE = "enclosure"
    IMAGE = "image"
    VIDEO = "video"
    AUDIO = "audio"


class State(StrEnum):
    """What an entry can be."""

    UNREAD = "unread"
    READ = "read"
    STARRED = "starred"
    SHARED = "shared"
    DUPLICATE = "duplicate"
    HIDDEN = "hidden"
    """A rule keeps it out of the global lists."""


class NumberField(StrEnum):
    """What is compared with a number."""

    WORDS = "words"
    MINUTES = "minutes"


class Comparison(StrEnum):
    """How a number is compared: `words>500` is ABOVE."""

    BELOW = "<"
    AT_MOST = "<="
    EQUAL = "="
    AT_LEAST = ">="
    ABOVE = ">"

    def holds(self, number: int, limit: int) -> bool:
        """Return whether a number compares with the limit like this."""
        if self is Comparison.EQUAL:
            return number == limit
        if number == limit:
            return self in (Comparison.AT_MOST, Comparison.AT_LEAST)
        return (number < limit) is (self in (Comparison.BELOW, Comparison.AT_MOST))


class TimeField(StrEnum):
    """Which time of an entry is meant."""

    PUBLISHED = "published"
    CHANGED = "changed"
    ADDED = "added"
    READ = "read"
    """The last change of an entry that is read."""


class Everything(Struct, frozen=True, tag="everything"):
    """The empty query, which every entry matches."""


class Text(Struct, frozen=True, tag="text"):
    """Words that follow each other in a field; an address, name, tag or language in the fields that have one."""

    words: str
    """Empty, with is_prefix, for any label or tag at all."""
    field: TextField = TextField.ANY
    is_prefix: bool = False
    """Whether the last word may go on: `rai*`."""


class Id(Struct, frozen=True, tag="id"):
    """A feed, category or label by its id."""

    field: IdField
    id: int


class Pattern(Struct, frozen=True, tag="pattern"):
    """A regular expression of RE2 that is found in a field."""

    field: PatternField
    source: str
    ignores_case: bool = False


class Has(Struct, frozen=True, tag="has"):
    """An attachment of this kind."""

    attachment: Attachment


class Is(Struct, frozen=True, tag="is"):
    """A state of the entry."""

    state: State


class Number(Struct, frozen=True, tag="number"):
    """A comparison with a number."""

    field: NumberField
    comparison: Comparison
    number: int


class Times(Struct, frozen=True, tag="times"):
    """A range of times, as written: each bound is a moment of `moments`, or empty.

    It has one of: since, until, or both; since and before; after; before.
    """

    field: TimeField
    since: str = ""
    until: str = ""
    """Belongs to the range, to its end: until 2026-02 includes all of February."""
    after: str = ""
    """Does not belong to the range."""
    before: str = ""
    """Does not belong to the range."""


class View(Struct, frozen=True, tag="view"):
    """A saved query, by its name or number. Whoever saves queries puts them in its place (`replace_views`)."""

    name: str


class Not(Struct, frozen=True, tag="not"):
    """What does not match the term. Built by `negated`."""

    term: Tree


class And(Struct, frozen=True, tag="and"):
    """What matches all of at least two terms, none of them an And. Built by `all_of`."""

    terms: tuple[Tree, ...]


class Or(Struct, frozen=True, tag="or"):
    """What matches one of at least two terms, none of them an Or. Built by `any_of`."""

    terms: tuple[Tree, ...]


class DatedQuery(Struct, frozen=True):
    """A tree with the moment and the time zone for which its relative times and its dates are meant."""

    tree: Tree
    now: Instant
    zone: str
    """Name in the IANA database."""


Leaf: TypeAlias = Text | Id | Pattern | Has | Is | Number | Times | View
Tree: TypeAlias = Everything | Leaf | Not | And | Or


def negated(tree: Tree) -> Tree:
    """Return what does not match."""
    return tree.term if isinstance(tree, Not) else Not(tree)


def all_of(trees: Iterable[Tree]) -> Tree:
    """Return what matches all of the trees: everything if there are none."""
    terms = tuple(term for tree in trees for term in (tree.terms if isinstance(tree, And) else (tree,)))
    terms = tuple(term for term in terms if not isinstance(term, Everything))
    return Everything() if not terms else terms[0] if len(terms) == 1 else And(terms)


def any_of(trees: Iterable[Tree]) -> Tree:
    """Return what matches at least one of the trees, of which there is at least one."""
    terms = tuple(term for tree in trees for term in (tree.terms if isinstance(tree, Or) else (tree,)))
    if any(isinstance(term, Everything) for term in terms):
        return Everything()
    return terms[0] if len(terms) == 1 else Or(terms)


def is_relative(tree: Tree) -> bool:
    """Return whether what a tree matches depends on the time at which it is asked. Saved views have been replaced."""
    return any(
        moments.is_relative(bound)
        for leaf in leaves(tree)
        if isinstance(leaf, Times)
        for bound in (leaf.since, leaf.until, leaf.after, leaf.before)
    )


def leaves(tree: Tree) -> Iterator[Leaf]:
    """Yield the leaves of a tree, from left to right."""
    match tree:
        case And(terms) | Or(terms):
            for term in terms:
                yield from leaves(term)
        case Not(term):
            yield from leaves(term)
        case Everything():
            return
        case _:
            yield tree


def needs_text(tree: Tree) -> bool:
    """Return whether a query asks for the body of an entry."""
    return any(
        (isinstance(leaf, Text) and leaf.field in (TextField.ANY, TextField.TEXT))
        or (isinstance(leaf, Number) and leaf.field is NumberField.WORDS)
        for leaf in leaves(tree)
    )


def wanted(tree: Tree) -> Iterator[Leaf]:
    """Yield the leaves for which an entry may have been found: those that nothing excludes."""
    match tree:
        case And(terms) | Or(terms):
            for term in terms:
                yield from wanted(term)
        case Not() | Everything():
            return
        case _:
            yield tree


def replace_views(tree: Tree, replacement: Callable[[str], Tree | None]) -> Tree:
    """Return the tree with the trees of saved views in their place. replacement: by name; None keeps the name."""
    match tree:
        case And(terms):
            return all_of(replace_views(term, replacement) for term in terms)
        case Or(terms):
            return any_of(replace_views(term, replacement) for term in terms)
        case Not(term):
            return negated(replace_views(term, replacement))
        case View(name):
            return replacement(name) or tree
        case _:
            return tree
