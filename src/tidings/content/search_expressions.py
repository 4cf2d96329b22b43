"""Boolean expressions over the terms of a text: what a search or a query asks of the words of an entry.

    (rain AND NOT hail) OR title:snow

Full-text indexes find texts by words that they contain. So an expression that holds for a text without words, such as
`NOT hail`, is found by its opposite: `holds_for_nothing` tells them apart.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from enum import StrEnum
from typing import TypeAlias

from msgspec import Struct

from tidings.content.search import Phrase, SearchQuery


class Part(StrEnum):
    """The part of an entry in which phrases are searched."""

    ANY = ""
    TITLE = "title"
    BODY = "body"


class Phrases(Struct, frozen=True):
    """One of these phrases is in the part."""

    any_of: tuple[Phrase, ...]
    part: Part = Part.ANY


class Without(Struct, frozen=True):
    """The expression does not hold."""

    of: Expression


class AllOf(Struct, frozen=True):
    """All of these hold; there is at least one."""

    of: tuple[Expression, ...]


class AnyOf(Struct, frozen=True):
    """One of these holds; there is at least one."""

    of: tuple[Expression, ...]


Expression: TypeAlias = Phrases | Without | AllOf | AnyOf


def expression_of(query: SearchQuery) -> Expression | None:
    """Return the expression of a search, None if it matches nothing."""
    if query.alternatives:
        return AnyOf(tuple(part for each in query.alternatives if (part := expression_of(each))))
    required = tuple(map(Phrases, query.required))
    excluded = tuple(Without(Phrases(phrases)) for phrases in query.excluded)
    return AllOf(required + excluded) if required or excluded else None


def holds_for_nothing(expression: Expression) -> bool:
    """Return whether the expression holds for a text without words."""
    match expression:
        case Phrases():
            return False
        case Without(of):
            return not holds_for_nothing(of)
        case AllOf(of):
            return all(map(holds_for_nothing, of))
        case AnyOf(of):
            return any(map(holds_for_nothing, of))


def phrases_in(expression: Expression) -> Iterator[Phrase]:
    """Yield every phrase of an expression, excluded ones too."""
    match expression:
        case Phrases(any_of):
            yield from any_of
        case Without(of):
            yield from phrases_in(of)
        case AllOf(of) | AnyOf(of):
            for each in of:
                yield from phrases_in(each)


def joined_expressions(one: Mapping[str, Expression], other: Mapping[str, Expression]) -> dict[str, Expression]:
    """Return what asks both, by group of languages. Without groups, `other` asks nothing.

    A group that only one of them has is left out: the user got it between the two.
    """
    if not other:
        return dict(one)
    return {group: AllOf((each, other[group])) for group, each in one.items() if group in other}
