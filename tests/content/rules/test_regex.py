"""Expressions end within their budget, for any expression and text."""

from __future__ import annotations

from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from support.random_examples import in_long_run
from support.scaling import assert_linear
from tidings.content.errors import InvalidRule
from tidings.content.rules.evaluation import RuleBudget, RuleBudgetExceeded
from tidings.content.rules.regex import MAX_RESULT_CHARS, compile_regex, parse_template

pytestmark = pytest.mark.slow

LONG = in_long_run(1_000_000, otherwise=200_000)


def replaced(expression: str, template: str, text: str) -> str:
    regex = compile_regex(expression)
    return regex.replace(text, parse_template(template, regex), RuleBudget())


@pytest.mark.parametrize(
    ("expression", "template", "text", "result"),
    [
        ("a", "b", "banana", "bbnbnb"),
        ("(a)(n)", "$2$1", "banana", "bnanaa"),
        ("(a)(n)", "${2}0$1", "banana", "bn0an0aa"),
        ("(?P<first>a)", "<${first}>", "ab", "<a>b"),
        ("a", "$0$0", "ab", "aab"),
        ("a", "$$1", "ab", "$1b"),
        ("a", "$x", "ab", "$xb"),
        ("a", "$", "ab", "$b"),
        ("a", "\\1\\n\\g<0>", "ab", "\\1\\n\\g<0>b"),
        ("(a)|b", "[$1]", "ab", "[a][]"),
        ("x*", "-", "né", "-n-é-"),
        ("x*", "-", "axb", "-a-b-"),
        ("$", "!", "a", "a!"),
        ("é", "e", "éé", "ee"),
        ("^", "> ", "a\nb", "> a\nb"),
        ("(?m)^", "> ", "a\nb", "> a\n> b"),
        ("A", "b", "a", "a"),
    ],
)
def test_replacing_fills_in_groups(expression: str, template: str, text: str, result: str) -> None:
    assert replaced(expression, template, text) == result


@pytest.mark.parametrize("template", ["$1", "${1}", "${name}", "$99"])
def test_a_replacement_cannot_ask_for_a_group_that_is_not_there(template: str) -> None:
    with pytest.raises(InvalidRule, match="does not have"):
        parse_template(template, compile_regex("a"))


LINES = st.lists(st.text(st.sampled_from("ab é\u00a0^$.\0\ud800"), max_size=4), min_size=1, max_size=6)
EXPRESSIONS = (
    "a", "^a", "a$", "^$", "^", "$", r"\Aa", r"a\z", "(?-m)^a", "(?m:^a$)", "(?s)a.", "a.*b", "[^a]", r"\s", r"\S$",
    r"\n", "[\n]", r"a\nb", r"\ba", r"\Bb", r"\b", "é", "(?i)A|É", r"\W", "b*", "(a)|(b)", r"\Q^\E", r"\C",
    "x{0}$", "(?U)a+",
)  # fmt: skip


@given(lines=LINES, expression=st.sampled_from(EXPRESSIONS))
def test_lines_match_as_they_do_on_their_own(lines: list[str], expression: str) -> None:
    regex = compile_regex(expression)

    found = list(regex.matching_lines("\n".join(lines), RuleBudget()))

    assert found == [number for number, line in enumerate(lines) if regex.is_found_in(line)]


def test_many_lines_are_searched_in_parts() -> None:
    regex = compile_regex("(?:a?b?){1000}c$")
    lines = ["ab" * 10 + ("c" if number % 7 == 3 else "") for number in range(30_000)]

    assert list(regex.matching_lines("\n".join(lines), RuleBudget())) == list(range(3, 30_000, 7))


def test_lines_are_searched_until_the_budget_is_used_up() -> None:
    with pytest.raises(RuleBudgetExceeded):
        list(compile_regex("a").matching_lines("a", RuleBudget(0.0)))


SLOW_ELSEWHERE = ["(a+)+$", "(a|aa)+$", "(.*)*x", "(a*)*b", "(a?){500}a{500}x", "(?:a?b?){1000}c", "[^z]*z|y"]


@pytest.mark.parametrize("expression", SLOW_ELSEWHERE)
def test_no_expression_takes_long_to_search_a_long_text(expression: str) -> None:
    regex = compile_regex(expression)

    assert_linear(lambda chars: regex.is_found_in("a" * chars + "!"), LONG // 8)


@pytest.mark.parametrize("expression", [*SLOW_ELSEWHERE, "[^z]*z|a", "a"])
def test_no_expression_takes_long_to_replace_in_a_long_text(expression: str) -> None:
    def replace(chars: int) -> None:
        with suppress(RuleBudgetExceeded):
            replaced(expression, "b", "a" * chars + "!")

    assert_linear(replace, LONG // 8)


def test_a_replacement_does_not_grow_without_end() -> None:
    with pytest.raises(RuleBudgetExceeded):
        replaced("(.*)", "$1" * 10_000, "a" * (MAX_RESULT_CHARS // 5_000))


def test_nothing_is_printed_about_a_bad_expression(capfd: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(InvalidRule):
        compile_regex("(a")
    compile_regex("(?:a?b?){1000}c").is_found_in("ab" * 10_000)

    assert capfd.readouterr() == ("", "")


def test_lone_surrogates_in_a_text_cause_no_errors() -> None:
    assert compile_regex("b").is_found_in("a\ud800b")
    assert replaced("b", "c", "a\ud800b") == "a?c"


@given(expression=st.text(), template=st.text(), text=st.text())
def test_any_expression_is_refused_or_works(expression: str, template: str, text: str) -> None:
    with suppress(InvalidRule):
        replaced(expression, template, text)
