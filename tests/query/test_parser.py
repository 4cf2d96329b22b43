"""Reading queries and writing them again."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from query.trees import trees
from tidings.content.search import terms
from tidings.query import QueryError, normal_form, parse
from tidings.query.model import (
    And,
    Comparison,
    Everything,
    Id,
    IdField,
    Not,
    Number,
    NumberField,
    Or,
    Pattern,
    PatternField,
    Text,
    TextField,
    Tree,
    replace_views,
)
from tidings.query.parser import FIELDS, MAX_CHARACTERS, MAX_DEPTH, MAX_LEAVES

A, B, C = Text("a"), Text("b"), Text("c")


@pytest.mark.parametrize(
    ("query", "tree"),
    [
        ("", Everything()),
        ("  ", Everything()),
        ("a", A),
        ("a b", And((A, B))),
        ("a AND b", And((A, B))),
        ("a and b", And((A, Text("and"), B))),
        ("a OR b", Or((A, B))),
        ("a or b", Or((A, B))),
        ("a b OR c", Or((And((A, B)), C))),
        ("a (b OR c)", And((A, Or((B, C))))),
        ("a(b or c)", And((A, Or((B, C))))),
        ("-a", Not(A)),
        ("!a", Not(A)),
        ("NOT a", Not(A)),
        ("--a", A),
        ("-(a b)", Not(And((A, B)))),
        ("a - b", And((A, B))),
        ("orange", Text("orange")),
        ('"or"', Text("or")),
        ("-or", Not(Text("or"))),
        ('"big  rain"', Text("big rain")),
        ("“big rain”", Text("big rain")),
        ('"big rai"*', Text("big rai", is_prefix=True)),
        ("rai*", Text("rai", is_prefix=True)),
        (r'"a \"b\" \\c"', Text(r'a "b" \c')),
        ("& + a", A),
        ("&", Everything()),
        ("-& a", A),
        ("a OR &", A),
        ("http://example.org/a", Text("http://example.org/a")),
        ("12:30", Text("12:30")),
        ("title:rain", Text("rain", TextField.TITLE)),
        ("Title:rain", Text("rain", TextField.TITLE)),
        ('title:"big rain"', Text("big rain", TextField.TITLE)),
        ("intitle:'big rain'", Text("big rain", TextField.TITLE)),
        ("inurl:/Blog/2024", Text("/blog/2024", TextField.URL)),
        ("site:https://www.Example.org/x", Text("example.org", TextField.SITE)),
        ("lang:pt_BR", Text("pt-br", TextField.LANGUAGE)),
        ("#Linux", Text("linux", TextField.TAG)),
        ("#two+words", Text("two words", TextField.TAG)),
        ('#"c++"', Text("c++", TextField.TAG)),
        ("tag:c++", Text("c++", TextField.TAG)),
        ("label:*", Text("", TextField.LABEL, is_prefix=True)),
        ("f:3", Id(IdField.FEED, 3)),
        ("L:1,2", Or((Id(IdField.LABEL, 1), Id(IdField.LABEL, 2)))),
        ("c:news", Text("news", TextField.CATEGORY)),
        ("feed:404", Text("404", TextField.FEED)),
        ("words>500", Number(NumberField.WORDS, Comparison.ABOVE, 500)),
        ("words:>=500", Number(NumberField.WORDS, Comparison.AT_LEAST, 500)),
        ("minutes:5", Number(NumberField.MINUTES, Comparison.EQUAL, 5)),
        ("title:/^a b$/i", Pattern(PatternField.TITLE, "^a b$", ignores_case=True)),
        (r"url:/a\/b/", Pattern(PatternField.URL, "a/b")),
    ],
)
def test_a_query_is_read(query: str, tree: Tree) -> None:
    assert parse(query) == tree


@pytest.mark.parametrize(
    ("query", "position", "expected"),
    [
        ("a OR", 4, "a word, a field"),
        ("OR a", 0, "a word, a field"),
        ("a OR OR b", 5, "a word, a field"),
        ("a AND", 5, "a word, a field"),
        ("a ()", 3, "a word, a field"),
        ("a (b", 4, "a closing parenthesis for the one at character 3"),
        ("a b)", 3, "an opening parenthesis"),
        ('a "b', 4, "a closing quote for the one at character 3"),
        ("tilte:rain", 0, "the name of a known field"),
        ("a title: b", 8, "a value for this field"),
        ("title:", 6, "a value for this field"),
        ("title:&", 6, "a word with letters or digits"),
        ("a is:old", 5, "one of unread, read"),
        ("has:x", 4, "one of enclosure, image"),
        ("title>3", 5, "a colon"),
        ("words>many", 5, "a comparison with a whole number"),
        ("published:soon", 10, "a date, a range or a duration"),
        ("published:2026-13", 10, "a date, a range or a duration"),
        ("lang:§", 5, "a language"),
        ("site:/", 5, "the name of a site"),
        ("tag:\"\"", 5, "the name of a tag"),
        ("title:/a(/", 7, "an expression that RE2 can read"),
        ("title:/a/x", 9, "nothing or the letter i"),
        ("title:/a", 8, "a slash at the end"),
        ("a /b/i", 2, "title:, author: or url:"),
        ("a\0", 1, "a character that can be printed"),
        ("a " * MAX_CHARACTERS, MAX_CHARACTERS, "at most 2,000 characters"),
        ("a " * (MAX_LEAVES + 1), 2 * MAX_LEAVES, "at most 64 words"),
        ("(" * (MAX_DEPTH + 1), MAX_DEPTH, "at most 16 parentheses"),
    ],
)  # fmt: skip
def test_an_error_has_the_position_and_what_was_expected(query: str, position: int, expected: str) -> None:
    with pytest.raises(QueryError) as caught:
        parse(query)

    assert caught.value.position == position
    assert expected in str(caught.value.expected)
    assert f"from character {position + 1} on: expected {caught.value.expected}." in caught.value.message
    assert caught.value.field == "query"


@given(trees())
def test_a_tree_written_as_a_query_is_read_as_the_same_tree(tree: Tree) -> None:
    assert parse(normal_form(tree)) == tree


PIECES = st.sampled_from((
    "a", "OR", "or", "AND", "NOT", "-", "!", "(", ")", '"', "“", "'", "*", "/", "/i", ":", "..", "<", ">=", "#", "\\",
    " ", " ", "7d", "2026-01", "2026", "P1W", "1,2", "\0", "東", *(f"{field}:" for field in FIELDS), "words>", "&",
))  # fmt: skip


@given(st.one_of(st.text(), st.lists(PIECES, max_size=12).map("".join)))
def test_any_text_is_a_query_or_has_a_position(text: str) -> None:
    try:
        tree = parse(text)
    except QueryError as error:
        position = error.position
    else:
        position = 0
        assert parse(normal_form(tree)) == tree
    assert 0 <= position <= len(text)


@pytest.mark.slow
@given(st.lists(st.sampled_from(("a", "b", "(c d)", "title:x", "is:read")), min_size=1, max_size=6), st.data())
def test_an_error_is_where_the_wrong_part_was_put(parts: list[str], data: st.DataObject) -> None:
    wrong, inside = data.draw(st.sampled_from(((")", 0), ("is:x", 3), ("words>x", 5), ("nope:x", 0), ('"', None))))
    at = data.draw(st.integers(0, len(parts)))
    query = " ".join([*parts[:at], wrong, *parts[at:]])
    start = len(" ".join(parts[:at])) + (1 if at else 0)

    with pytest.raises(QueryError) as caught:
        parse(query)

    assert caught.value.position == (len(query) if inside is None else start + inside)


def test_views_are_replaced_by_their_queries() -> None:
    tree = parse("S:3 -search:'my view' other S:9")

    replaced = replace_views(tree, {"3": parse("a OR b"), "my view": parse("-c")}.get)

    assert normal_form(replaced) == "(a OR b) c other S:9"


@given(st.text())
def test_every_word_of_a_text_is_kept_if_it_is_quoted(text: str) -> None:
    plain = text.replace("\\", " ").replace("\0", "")[:200].encode(errors="ignore").decode()
    quoted = plain.translate(dict.fromkeys(map(ord, '"“”„‟«»＂'), " "))

    tree = parse(f'"{quoted}"')

    assert terms(tree.words if isinstance(tree, Text) else "") == terms(quoted)
