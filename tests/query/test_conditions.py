"""Queries as rows of conditions, and back."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from query.trees import trees
from tidings.base.conditions import Condition
from tidings.query import QueryError, normal_form, parse
from tidings.query.conditions import HOWS, QUERY, conditions_of, term_of, tree_of
from tidings.query.model import Everything, Tree


@given(trees())
def test_rows_of_a_query_mean_the_same_query(tree: Tree) -> None:
    rows = conditions_of(tree)

    assert tree_of(rows.rows, is_any=rows.is_any) == tree


@pytest.mark.parametrize(
    ("query", "rows"),
    [
        ("", []),
        ("rain", [("any", "has", "rain")]),
        ('-title:"heavy rai"*', [("title", "lacks", "heavy rai*")]),
        ("title:/^re:/i -url:/x/", [("title", "matches", "(?i)^re:"), ("url", "fails", "x")]),
        ("f:7 -c:3 L:2", [("feed", "is", "7"), ("category", "is_not", "3"), ("label", "is", "2")]),
        ("label:* feed:lwn", [("label", "has", "*"), ("feed", "has", "lwn")]),
        ("is:unread -has:video", [("is", "is", "unread"), ("has", "lacks", "video")]),
        ("words>500 minutes<=5", [("words", "above", "500"), ("minutes", "at_most", "5")]),
        ("published:7d added:>1y", [("published", "last", "7d"), ("added", "older", "1y")]),
        ("published:2026-01-31 read:2026..", [("published", "on", "2026-01-31"), ("read", "since", "2026")]),
        ("changed:>2026-01 changed:<today", [("changed", "after", "2026-01"), ("changed", "before", "today")]),
        ("S:later", [("view", "is", "later")]),
        # What has no row.
        ("a (b OR c)", [("any", "has", "a"), (QUERY, "has", "b OR c")]),
        ("-(a b)", [(QUERY, "lacks", "a b")]),
        ("-words>500 published:14d..7d", [(QUERY, "lacks", "words>500"), (QUERY, "has", "published:14d..7d")]),
    ],
)
def test_a_query_has_these_rows(query: str, rows: list[tuple[str, str, str]]) -> None:
    found = conditions_of(parse(query))

    assert [(one.field, one.how, one.value) for one in found.rows] == rows
    assert not found.is_any


def test_one_of_several_rows_is_enough() -> None:
    found = conditions_of(parse("title:a OR (b c)"))

    assert found.is_any
    assert [one.value for one in found.rows] == ["a", "b c"]
    assert normal_form(tree_of(found.rows, is_any=True)) == "title:a OR b c"


@pytest.mark.parametrize(
    "row",
    [
        Condition("title", "has", "&"),
        Condition("title", "matches", "("),
        Condition("words", "above", "many"),
        Condition("published", "last", "soon"),
        Condition("feed", "is", "7 OR rain"),
        Condition("is", "is", "odd"),
        Condition("query", "has", "a) OR (b"),
        Condition("title", "above", "1"),
        Condition("nowhere", "has", "a"),
    ],
)
def test_a_row_that_means_nothing_is_refused(row: Condition) -> None:
    with pytest.raises(QueryError):
        term_of(row)


@given(st.sampled_from(sorted(HOWS)), st.text(min_size=1), st.data())
def test_a_value_stays_within_its_row(field: str, value: str, data: st.DataObject) -> None:
    """Whatever is typed, the row is one term of the query: it neither ends early nor changes its field."""
    how = data.draw(st.sampled_from(HOWS[field]))
    try:
        tree = term_of(Condition(field, how, value))
    except QueryError:
        return

    assert not isinstance(tree, Everything)
    (row,) = conditions_of(tree).rows if field != QUERY else [Condition(QUERY, how)]
    assert row.field == field
