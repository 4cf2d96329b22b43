"""Filters as rows of conditions, and back."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tidings.base.conditions import Condition
from tidings.content.errors import InvalidRule
from tidings.content.rules.filter_conditions import HOWS, LINE, check, conditions_of, line_of, text_of
from tidings.content.rules.filters import FilterInput, Filters, apply_filters, parse_filters

TEXT = r"""
EntryTitle=(?i)sponsored
 EntryTitle = (?i)^re: c\+\+$
EntryURL=(?i)^https://example\.org/ads
EntryAuthor=Ada
EntryTag=^(Crypto|NFT)$
EntryContent=a\.b
EntryDate=max-age:30d
EntryDate=between:2020-01-01,2021-01-01
EntryDate=future
EntryDate=soon
EntryTitle
Nothing=x
"""
ROWS = [
    ("EntryTitle", "has", "sponsored"),
    ("EntryTitle", "is", "re: c++"),
    ("EntryURL", "begins", "https://example.org/ads"),
    ("EntryAuthor", "has_exactly", "Ada"),
    ("EntryTag", "matches", "^(Crypto|NFT)$"),
    ("EntryContent", "has_exactly", "a.b"),
    ("EntryDate", "older", "30d"),
    ("EntryDate", "between", "2020-01-01,2021-01-01"),
    ("EntryDate", "future", ""),
    # Lines that are not rules stay as they are.
    (LINE, "is", "EntryDate=soon"),
    (LINE, "is", "EntryTitle"),
    (LINE, "is", "Nothing=x"),
]


def test_rules_have_rows() -> None:
    assert [(one.field, one.how, one.value) for one in conditions_of(TEXT)] == ROWS


def test_rows_are_written_as_the_same_rules() -> None:
    lines = [line.replace(" = ", "=").strip() for line in TEXT.split("\n") if line.strip()]

    assert text_of(conditions_of(TEXT)).split("\n") == lines


@given(st.sampled_from(("has", "is", "begins", "has_exactly")), st.text(min_size=1, max_size=20))
def test_a_typed_value_is_found_as_it_is(how: str, value: str) -> None:
    row = Condition("EntryTitle", how, value)
    shown = re.sub("[\r\n]+", " ", value).strip()
    if not shown or "\0" in shown:
        return

    rules = Filters(block=parse_filters(line_of(row), field="block"))

    assert not apply_filters(FilterInput(title=shown), feed=rules, now=0).is_kept  # type: ignore[arg-type]
    (again,) = conditions_of(line_of(row))
    assert line_of(again) == line_of(row)


@pytest.mark.parametrize("field", HOWS)
def test_a_value_that_cannot_be_used_is_refused(field: str) -> None:
    how, value = ("before", "soon") if field == "EntryDate" else (HOWS[field][-1], "(")
    with pytest.raises(InvalidRule):
        check(Condition(field, how, value))
