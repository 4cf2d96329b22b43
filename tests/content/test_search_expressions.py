"""What a search and a query ask together."""

from __future__ import annotations

from tidings.content.search import parse_query
from tidings.content.search_expressions import AllOf, Expression, expression_of, joined_expressions


def asked(word: str) -> Expression:
    expression = expression_of(parse_query(word))
    assert expression is not None
    return expression


def test_a_search_without_a_query_asks_what_it_asked() -> None:
    assert joined_expressions({"": asked("rain"), "de": asked("regen")}, {}) == {
        "": asked("rain"),
        "de": asked("regen"),
    }


def test_both_are_asked_in_the_languages_that_both_have() -> None:
    both = {"": AllOf((asked("rain"), asked("snow")))}

    assert joined_expressions({"": asked("rain"), "de": asked("regen")}, {"": asked("snow")}) == both
    assert joined_expressions({"": asked("rain")}, {"": asked("snow"), "de": asked("schnee")}) == both
