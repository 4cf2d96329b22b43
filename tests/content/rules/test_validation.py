"""Which rules are refused when they are saved, and the error messages."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tidings.content.errors import InvalidRule, UnmatchableRule
from tidings.content.rules.evaluation import MAX_TEXT_CHARS
from tidings.content.rules.pipeline import RuleTexts, compile_rules, validate_feed_rules, validate_user_rules

FIELDS = (
    "scraper_rules",
    "rewrite_rules",
    "urlrewrite_rules",
    "blocklist_rules",
    "keeplist_rules",
    "block_filter_entry_rules",
    "keep_filter_entry_rules",
)

REFUSED_FILTERS = [
    ("Title=x", 1, "no field 'Title'"),
    ("entrytitle=x", 1, "no field"),
    ("EntryTitle", 1, "= is missing"),
    ("# a comment", 1, "= is missing"),
    ("EntryTitle=", 1, "after the = is missing"),
    ("EntryTitle=   ", 1, "after the = is missing"),
    ("EntryTitle=(", 1, "never closed"),
    ("EntryTitle=a\n\n\r\nEntryURL=[", 2, "never closed"),
    ("EntryTitle=(?=a)", 1, "look-ahead"),
    ("EntryTitle=(?<!a)b", 1, "look-behind"),
    ("EntryTitle=(a)\\1", 1, "back-references"),
    ("EntryTitle=*", 1, "nothing to repeat"),
    ("EntryTitle=a**", 1, "cannot be repeated"),
    ("EntryTitle=((a?){1000}){1000}", 1, "too large"),
    ("EntryTitle=(\\pL{1,50}x){1,19}", 1, "too many steps"),
    ("EntryTitle=\ud800", 1, "half a character"),
    ("EntryTitle=" + "a" * 5000, 1, "longer than"),
]


@pytest.mark.parametrize("field", ["block_filter_entry_rules", "keep_filter_entry_rules"])
@pytest.mark.parametrize(("text", "number", "says"), REFUSED_FILTERS)
def test_filters_that_cannot_be_used_are_refused(field: str, text: str, number: int, says: str) -> None:
    with pytest.raises(InvalidRule) as feed:
        validate_feed_rules(**{field: text})
    with pytest.raises(InvalidRule) as user:
        validate_user_rules(**{field: text})

    assert (feed.value.field, feed.value.number) == (field, number)
    assert feed.value.message == user.value.message
    assert feed.value.message.startswith(f"Rule {number}: ")
    assert says in feed.value.message


# Clients send all settings of a feed when they change one, and Miniflux accepts these.
UNMATCHABLE_FILTERS = [
    ("EntryDate=yesterday", 1, "A date rule is one of"),
    ("EntryDate=future:soon", 1, "A date rule is one of"),
    ("EntryDate=Before:2020-01-01", 1, "A date rule is one of"),
    ("EntryDate=before:2020-02-30", 1, "year-month-day"),
    ("EntryDate=before:20200130", 1, "year-month-day"),
    ("EntryDate=after:01/02/2020", 1, "year-month-day"),
    ("EntryDate=between:2020-01-01", 1, "two dates"),
    ("EntryDate=between:2020-01-02,2020-01-01", 1, "earlier"),
    ("EntryDate=max-age:30", 1, "whole number"),
    ("EntryDate=max-age:30w", 1, "whole number"),
    ("EntryDate=max-age:-1d", 1, "whole number"),
    ("EntryDate=max-age:٣d", 1, "whole number"),
]


@pytest.mark.parametrize("field", ["block_filter_entry_rules", "keep_filter_entry_rules"])
@pytest.mark.parametrize(("text", "number", "says"), UNMATCHABLE_FILTERS)
def test_filters_that_never_match_are_accepted_and_reported(field: str, text: str, number: int, says: str) -> None:
    validate_feed_rules(**{field: text})
    validate_user_rules(**{field: text})

    (error,) = compile_rules(RuleTexts(**{field: text})).errors
    assert isinstance(error, UnmatchableRule)
    assert (error.field, error.number) == (field, number)
    assert error.message.startswith(f"Rule {number}: ")
    assert says in error.message


def test_a_filter_that_never_matches_does_not_hide_one_that_is_refused() -> None:
    with pytest.raises(InvalidRule, match="Rule 2: There is no field"):
        validate_feed_rules(block_filter_entry_rules="EntryDate=bogus\nWrong=x")


@pytest.mark.parametrize("field", ["blocklist_rules", "keeplist_rules"])
@pytest.mark.parametrize("text", ["(", "a)", "[a", "(?!a)", "(?<=a)b", "a{2000}", "\\", "(?P=name)"])
def test_lists_take_only_usable_expressions(field: str, text: str) -> None:
    with pytest.raises(InvalidRule, match="cannot be used") as caught:
        validate_feed_rules(**{field: text})

    assert caught.value.field == field


@pytest.mark.parametrize(
    ("text", "number", "says"),
    [
        ("nl2Br", 1, "no rewrite rule 'nl2Br'"),
        ("nl2br, make_nice", 2, "no rewrite rule 'make_nice'"),
        ("replace", 1, "needs 2 arguments"),
        ('replace("a")', 1, "needs 2 arguments"),
        ('nl2br,replace_title("a")', 2, "needs 2 arguments"),
        ("remove()", 1, "needs 1 argument "),
        ('replace("("|"b")', 1, "never closed"),
        ('replace_title("(?=x)"|"b")', 1, "look-ahead"),
        ('replace("a"|"$1")', 1, "group 1"),
        ('replace("(a)"|"${two}")', 1, "group two"),
        ('replace("a"|"b)', 1, "no closing"),
        ('remove("a\n")', 1, "no closing"),
        ('"a" nl2br', 1, "no rule name before"),
    ],
)
def test_rewrite_rules_that_cannot_be_used_are_refused(text: str, number: int, says: str) -> None:
    with pytest.raises(InvalidRule) as caught:
        validate_feed_rules(rewrite_rules=text)

    assert (caught.value.field, caught.value.number) == ("rewrite_rules", number)
    assert says in caught.value.message


@pytest.mark.parametrize(
    "text",
    [
        "rewrite",
        'rewrite("a")',
        'rewrite("a"|"b"|"c")',
        'rewrite("a","b")',
        'rewrite(""|"b")',
        'rewrite("a"|"")',
        'rewrite("a"|"b"',
        'Rewrite("a"|"b")',
        'replace("a"|"b")',
        'rewrite("a"|"b") rewrite("c"|"d")',
        'x rewrite("a"|"b")',
        'rewrite("("|"b")',
        'rewrite("(?=a)"|"b")',
        'rewrite("a"|"$1")',
    ],
)
def test_the_url_rule_is_exactly_one_rule(text: str) -> None:
    with pytest.raises(InvalidRule) as caught:
        validate_feed_rules(urlrewrite_rules=text)

    assert caught.value.field == "urlrewrite_rules"


@pytest.mark.parametrize(
    "text",
    [
        *(">", "> p", "p >", "p,", ",p", "p,,a", "p > > a", "p > + a", "p[", "p[a", "p[a=", "p[a='x]", "p)", "p]"),
        *(":not(a", ":not(a]", "p:unknown", "p::before", "#", ".", "**", "<p>", "p {}", "\\", '"', "p\0", "\ud800"),
        *("[a=b k]", ":nth-child(x)"),
    ],
)
def test_an_invalid_selector_is_accepted_and_reported(text: str) -> None:
    validate_feed_rules(scraper_rules=text)

    (error,) = compile_rules(RuleTexts(scraper_rules=text)).errors
    assert isinstance(error, UnmatchableRule)
    assert error.field == "scraper_rules"


@pytest.mark.parametrize(
    ("text", "says"), [('nl2br, remove("p[")', "before a closing ]"), ('nl2br base64_decode(">")', "nothing to join")]
)
def test_a_rewrite_rule_with_an_invalid_selector_is_accepted_and_reported(text: str, says: str) -> None:
    validate_feed_rules(rewrite_rules=text)

    rules = compile_rules(RuleTexts(rewrite_rules=text))
    assert [(error.field, error.number) for error in rules.errors] == [("rewrite_rules", 2)]
    assert says in rules.errors[0].message
    assert [rule.name for rule in rules.rewrites or ()] == ["nl2br"]


def test_a_selector_that_is_too_long_is_refused() -> None:
    with pytest.raises(InvalidRule, match="longer than"):
        validate_feed_rules(scraper_rules="a" * 3000)


@pytest.mark.parametrize(
    "rules",
    [
        {},
        dict.fromkeys(FIELDS),
        dict.fromkeys(FIELDS, ""),
        dict.fromkeys(FIELDS, " \r\n"),
        {"block_filter_entry_rules": "EntryTitle=a\r\n\r\n EntryDate = max-age:30d \r\n"},
        {"keep_filter_entry_rules": "EntryURL=a=b\n"},
        {"blocklist_rules": "(?i)a|b", "keeplist_rules": "^c$"},
        {"rewrite_rules": 'nl2br;add_image_title\nreplace("a\\"(.)"|"${1}$$")remove("p, .a")'},
        {"urlrewrite_rules": ' rewrite("^https:\\/\\/(.*)$"|"http://$1")\n'},
        {"scraper_rules": "div.a > p:not(.b), a ~ b + c d, [title='a, b > c'], :has(> img), /* x */ p"},
    ],
)
def test_usable_rules_and_empty_ones_pass(rules: dict[str, str]) -> None:
    validate_feed_rules(**rules)


@pytest.mark.parametrize("field", FIELDS)
def test_a_very_long_text_is_refused(field: str) -> None:
    with pytest.raises(InvalidRule, match=r"longer than|exactly one") as caught:
        validate_feed_rules(**{field: "EntryTitle=nl2br " * MAX_TEXT_CHARS})

    assert caught.value.field == field


RULE_WORDS = [
    *('"', "|", "(", ")", "=", "\n", "\\", "$1", ",", "[", "]", ">", ":not(", ":has(", "nl2br", "replace", "remove"),
    *("EntryTitle", "EntryDate", "before:", "2020-01-01", "max-age:", "5d", "rewrite(", "p", ".a", "'", "*", "{9}"),
]
rule_texts = st.text() | st.lists(st.sampled_from(RULE_WORDS)).map("".join)


@given(text=rule_texts, field=st.sampled_from(FIELDS))
def test_any_text_is_accepted_or_refused_with_its_field(text: str, field: str) -> None:
    try:
        validate_feed_rules(**{field: text})
    except InvalidRule as error:
        refusal = error
    else:
        return
    assert refusal.field == field
    assert refusal.number >= 1
    assert refusal.message
