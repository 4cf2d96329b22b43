from __future__ import annotations

import pytest
import re2
from hypothesis import given
from hypothesis import strategies as st

from tidings.base.conditions import Condition
from tidings.content.errors import InvalidRule
from tidings.content.rules import list_conditions
from tidings.content.rules.list_conditions import ANY, conditions_of, text_of


def rows(*pairs: tuple[str, str]) -> list[Condition]:
    return [Condition(ANY, how, value) for how, value in pairs]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", []),
        ("  (?i)advert \n", rows(("has", "advert"))),
        ("(?i)advert|sponsored", rows(("has", "advert"), ("has", "sponsored"))),
        ("(?i)(advert|sponsored)", rows(("has", "advert"), ("has", "sponsored"))),
        ("(?i:advert|^C\\+\\+$)", rows(("has", "advert"), ("is", "C++"))),
        ("advert|(?i:^Ad)|(?:x|y)", rows(("has_exactly", "advert"), ("begins", "Ad"), ("matches", "x|y"))),
        ("^Ad: .*|[|()]|a\\|b", rows(("matches", "^Ad: .*"), ("matches", "[|()]"), ("has_exactly", "a|b"))),
        # Not told apart: a flag in the middle, quoting, an alternative of nothing, a repeated group.
        ("a|(?i)b", rows(("matches", "a|(?i)b"))),
        ("\\Qa|b\\E|c", rows(("matches", "\\Qa|b\\E|c"))),
        ("a|", rows(("matches", "a|"))),
        ("(a|b)+", rows(("matches", "(a|b)+"))),
        ("(a|b", rows(("matches", "(a|b"))),
    ],
)
def test_an_expression_becomes_a_row_for_each_alternative(text: str, expected: list[Condition]) -> None:
    assert conditions_of(text) == expected


def test_rows_become_one_expression() -> None:
    written = text_of(
        rows(("has", "a|b"), ("is", "C++"), ("has_exactly", "Ad"), ("matches", "x+|y"), ("matches", "^z"))
    )
    assert written == "(?i:a\\|b)|(?i:^C\\+\\+$)|Ad|(?:x+|y)|^z"
    assert text_of(rows(("begins", "Ad"))) == "(?i)^Ad"


_SIGNS = ["|", "(", ")", "(?:", "(?i:", "(?i)", "^", "$", "[", "]", "[^]a|]", "\\|", "\\Q", "+", "."]
_PARTS = st.sampled_from(["a", "B", *_SIGNS])
_WORDS = st.sampled_from(["has", "is", "begins", "has_exactly"])
_TEXTS = st.sampled_from(["", "a", "b", "ab", "A", "B|", "|", "(", "]", "aB|a", "ba", "\\"])


@given(st.lists(_PARTS, max_size=8).map("".join), st.lists(_TEXTS, min_size=1, max_size=6))
def test_rows_match_what_their_expression_matches(text: str, texts: list[str]) -> None:
    options = re2.Options()
    options.log_errors = False
    try:
        before = re2.compile(text.strip(), options)
    except re2.error:
        return
    after = re2.compile(text_of(conditions_of(text)) if text.strip() else "", options)
    for one in texts:
        assert bool(before.search(one)) == bool(after.search(one)), (text, after.pattern, one)


@given(st.lists(st.tuples(_WORDS, st.text("aB|()[]^$\\ ", min_size=1, max_size=5)), min_size=1, max_size=4))
def test_rows_in_words_come_back_as_they_were(pairs: list[tuple[str, str]]) -> None:
    written = rows(*((how, value.strip() or "x") for how, value in pairs))
    assert conditions_of(text_of(written)) == written


def test_a_row_that_is_no_expression_is_refused() -> None:
    with pytest.raises(InvalidRule):
        list_conditions.check(Condition(ANY, "matches", "(a"))
    list_conditions.check(Condition(ANY, "has", "(a"))
