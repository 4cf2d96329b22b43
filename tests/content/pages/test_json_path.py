"""Paths into JSON: the cases of RFC 9535, what is said about other texts, and bounds on work."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest

from tidings.base.errors import InvalidInput
from tidings.content.errors import PageUnreadable
from tidings.content.pages.json_path import MAX_VALUES, find, first_failure, parse_path

TREE = {"a": [{"b": 1, "c": {"b": 2}}, {"b": 3}], "a b": {"x": 4}, "é": 5}
SHOP = {
    "goods": {
        "book": [
            {"kind": "saying", "by": "Rees", "name": "Sayings", "price": 8.95},
            {"kind": "novel", "by": "Waugh", "name": "Sword", "price": 12.99},
            {"kind": "novel", "by": "Melville", "name": "Whale", "isbn": "0-553", "price": 8.99},
            {"kind": "novel", "by": "Tolkien", "name": "Rings", "isbn": "0-395", "price": 22.99},
        ],
        "bicycle": {"colour": "red", "price": 399},
    }
}
# The document of section 2.3.5.3.
MIXED = {
    "a": [3, 5, 1, 2, 4, 6, {"b": "j"}, {"b": "k"}, {"b": {}}, {"b": "kilo"}],
    "o": {"p": 1, "q": 2, "r": 3, "s": 5, "t": {"u": 6}},
    "e": "f",
}
COMPARED = {"obj": {"x": "y"}, "arr": [2, 3]}


def found(path: str, document: Any) -> list[Any]:
    return find(parse_path(path), document)


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        ("$", [TREE]),
        ("a[0].b", [1]),
        ("$.a[*].b", [1, 3]),
        ("$['a'][-1]['b']", [3]),
        ('$["a b"].x', [4]),
        ("$['a b'].*", [4]),
        ("$..b", [1, 2, 3]),
        ("$.a[0:1].b", [1]),
        ("$.a[::-1].b", [3, 1]),
        ("$.a[::0]", []),
        ("$.a[0,1].b", [1, 3]),
        ("$['é']", [5]),
        ("$['\\u00e9']", [5]),
        ("é", [5]),
        ("@.a[7]", []),
        ("$.a.b", []),
        (" $ .a [ 0 ] .b ", [1]),
        ("$[9007199254740991]", []),
    ],
)
def test_a_path_finds(path: str, expected: list[Any]) -> None:
    assert found(path, TREE) == expected


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        ("$.goods.book[*].by", ["Rees", "Waugh", "Melville", "Tolkien"]),
        ("$..by", ["Rees", "Waugh", "Melville", "Tolkien"]),
        ("$.goods..price", [8.95, 12.99, 8.99, 22.99, 399]),
        ("$..book[2].by", ["Melville"]),
        ("$..book[2].publisher", []),
        ("$..book[-1].by", ["Tolkien"]),
        ("$..book[0,1].by", ["Rees", "Waugh"]),
        ("$..book[:2].by", ["Rees", "Waugh"]),
        ("$..book[?@.isbn].by", ["Melville", "Tolkien"]),
        ("$..book[?@.price<10].by", ["Rees", "Melville"]),
        ("$.goods.book[?@.price < 10 && match(@.name, 'S.*')].by", ["Rees"]),
        ("$.goods.book[?@.price == $.goods.book[3].price].by", ["Tolkien"]),
        ("$.goods[?@.colour].price", [399]),
        ("$.goods[?@[?@.isbn]][*].by", ["Rees", "Waugh", "Melville", "Tolkien"]),
        ("$.goods.book[?@.isbn, 0].by", ["Melville", "Tolkien", "Rees"]),
    ],
)
def test_a_path_finds_in_a_shop(path: str, expected: list[Any]) -> None:
    """The queries of section 1.5, and more of their kind."""
    assert found(path, SHOP) == expected


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        ("$.a[?@.b == 'kilo']", [{"b": "kilo"}]),
        ("$.a[?(@.b == 'kilo')]", [{"b": "kilo"}]),
        ("$.a[?@>3.5]", [5, 4, 6]),
        ("$.a[?@.b]", [{"b": "j"}, {"b": "k"}, {"b": {}}, {"b": "kilo"}]),
        ("$[?@.*]", [MIXED["a"], MIXED["o"]]),
        ("$[?@[?@.b]]", [MIXED["a"]]),
        ("$.o[?@<3, ?@<3]", [1, 2, 1, 2]),
        ('$.a[?@<2 || @.b == "k"]', [1, {"b": "k"}]),
        ('$.a[?match(@.b, "[jk]")]', [{"b": "j"}, {"b": "k"}]),
        ('$.a[?search(@.b, "[jk]")]', [{"b": "j"}, {"b": "k"}, {"b": "kilo"}]),
        ("$.o[?@>1 && @<4]", [2, 3]),
        ("$.o[?@.u || @.x]", [{"u": 6}]),
        ("$.a[?@.b == $.x]", [3, 5, 1, 2, 4, 6]),
        ("$.a[?@ == @]", MIXED["a"]),
        ("$.a[?!@.b && @ >= 5]", [5, 6]),
        ("$.a[?!(@.b || @ < 5)]", [5, 6]),
        ("$.a[?@ == 1 || @ == 2 && @ == 3]", [1]),
        ("$.a[?length(@.b) == 4]", [{"b": "kilo"}]),
        ("$.a[?length(@.b) == 0]", [{"b": {}}]),
        ("$[?count(@.*) == 5]", [MIXED["o"]]),
        ("$[?count(@..*) > 9]", [MIXED["a"]]),
        ("$[?value(@..u) == 6]", [MIXED["o"]]),
        ("$[?value(@..b) == 'j']", []),
        ("$[?length(value(@..u)) == 1]", []),
    ],
)
def test_a_filter_finds(path: str, expected: list[Any]) -> None:
    """The queries of section 2.3.5.3, and of the functions."""
    assert found(path, MIXED) == expected


@pytest.mark.parametrize(
    ("comparison", "is_true"),
    [
        ("$.absent1 == $.absent2", True),
        ("$.absent1 <= $.absent2", True),
        ("$.absent == 'g'", False),
        ("$.absent1 != $.absent2", False),
        ("$.absent != 'g'", True),
        ("1 <= 2", True),
        ("1 > 2", False),
        ("13 == '13'", False),
        ("'a' <= 'b'", True),
        ("'a' > 'b'", False),
        ("$.obj == $.arr", False),
        ("$.obj != $.arr", True),
        ("$.obj == $.obj", True),
        ("$.obj != $.obj", False),
        ("$.arr == $.arr", True),
        ("$.obj == 17", False),
        ("$.obj != 17", True),
        ("$.obj <= $.arr", False),
        ("$.obj < $.arr", False),
        ("$.obj <= $.obj", True),
        ("$.arr <= $.arr", True),
        ("1 <= $.arr", False),
        ("1 >= $.arr", False),
        ("1 > $.arr", False),
        ("true <= true", True),
        ("true > true", False),
        # What Python takes for the same, or refuses.
        ("true == 1", False),
        ("false == 0", False),
        ("1 == 1.0", True),
        ("-0 == 0", True),
        ("1e2 == 100", True),
        ("null == $.absent", False),
        ("null == null", True),
        ("'\\ud83d\\ude00' == '😀'", True),
        ("'it\\'s' == \"it's\"", True),
    ],
)
def test_a_comparison_is(comparison: str, is_true: bool) -> None:
    """Those of section 2.3.5.2.2."""
    assert (found(f"$[?{comparison}]", COMPARED) != []) is is_true


@pytest.mark.parametrize(
    ("expression", "texts", "matching", "containing"),
    [
        ("a.c", ["abc", "a\nc", "xabcx", "a.c"], ["abc", "a.c"], ["abc", "xabcx", "a.c"]),
        ("a|bc", ["a", "bc", "ac"], ["a", "bc"], ["a", "bc", "ac"]),
        ("[.]x", [".x", "ax"], [".x"], [".x"]),
        ("\\\\.x", [".x", "ax"], [".x"], [".x"]),
        ("\\\\p{Lu}\\\\d+", ["Ä12", "ä12"], ["Ä12"], ["Ä12"]),
        ("(?i)sale", ["SALE", "resale", 7, None], ["SALE"], ["SALE", "resale"]),
        ("", ["", "a"], [""], ["", "a"]),
    ],
)
def test_an_expression_matches_all_of_a_text_or_a_part(
    expression: str, texts: list[Any], matching: list[str], containing: list[str]
) -> None:
    assert found(f"$[?match(@, '{expression}')]", texts) == matching
    assert found(f"$[?search(@, '{expression}')]", texts) == containing


def test_an_expression_of_the_document_that_is_none_matches_nothing() -> None:
    assert found("$[?match(@.a, @.b)]", [{"a": "x", "b": "x("}, {"a": "x", "b": "."}, {"a": "x", "b": 1}]) == [
        {"a": "x", "b": "."}
    ]


@pytest.mark.parametrize(
    ("path", "position"),
    [
        ("$.", 3),
        ("$.a[", 5),
        ("$.a[1", 6),
        ("$a", 2),
        ("$.a]", 4),
        ("$[9007199254740992]", 3),
        ("$[01]", 4),
        ("$[-0]", 3),
        ("$.a['b", 5),
        ("$['a\tb']", 5),
        ("$['\\x']", 4),
        ("$['\\ud800']", 4),
        ("$['\\\"']", 4),
        ("$[?]", 4),
        ("$[?@.a", 7),
        ("$[?@.a = 1]", 8),
        ("$[?@.a ==]", 10),
        ("$[?@.a == x]", 11),
        ("$[?@.a == 01]", 12),
        ("$[?1]", 4),
        ("$[?true]", 4),
        ("$[?(@.a]", 8),
        ("$[?!@.a == 1]", 9),
        ("$[?@.* == 1]", 4),
        ("$[?1 == @..a]", 9),
        ("$[?@[0:1] == 1]", 4),
        ("$[?@['a','b'] == 1]", 4),
        ("$[?@.a === 1]", 10),
        ("$[?@.a && ]", 11),
        ("$[?@.a & @.b]", 8),
        # Which functions are well typed. Source: section 2.4.9.
        ("$[?length(@)]", 4),
        ("$[?length(@.*) < 3]", 11),
        ("$[?length(@, 1) < 3]", 4),
        ("$[?count(1) == 1]", 10),
        ("$[?count(length(@)) == 1]", 10),
        ("$[?match(@.a, 'x') == true]", 4),
        ("$[?match(@.*, 'x')]", 10),
        ("$[?match(@.a)]", 4),
        ("$[?match(@.a 'x')]", 14),
        ("$[?value(@..a)]", 4),
        ("$[?bar(@.a)]", 4),
        ("$[?length (@.a) == 1]", 10),
        ("$[?match(@.a, 'x(')]", 15),
        ("$[?search(@.a, 'x(?=y)')]", 16),
    ],
)
def test_a_path_that_cannot_be_read_names_the_character(path: str, position: int) -> None:
    with pytest.raises(InvalidInput, match=f"at character {position}: .*[^.]\\.$"):
        parse_path(path)


@pytest.mark.parametrize(
    "path",
    [
        f"$[?{'(' * 900}@{')' * 900}]",
        f"$[?{'@[?' * 600}@.a{']' * 600}]",
        f"$[?{'length(' * 250}@{')' * 250} == 1]",
        f"$[?{'!(' * 900}@",
    ],
)
def test_a_path_that_is_nested_too_deeply_is_refused(path: str) -> None:
    with pytest.raises(InvalidInput, match="nested too deeply"):
        parse_path(path)


@pytest.mark.slow
def test_values_nested_deeper_than_calls_are_compared() -> None:
    deep: Any = 1
    for _ in range(100_000):
        deep = [deep]

    assert found("$[?@ == $[0]]", [deep, deep]) == [deep, deep]
    assert len(found("$..*", deep)) == MAX_VALUES


def lists() -> list[Any]:
    return [[0] for _ in range(300_000)]


def boxes() -> list[Any]:
    return [[[[[0]]]] for _ in range(300_000)]


def lists_in_members() -> dict[str, list[Any]]:
    shared = lists()
    return {"all": shared, **{str(number): list(shared) for number in range(20)}}


@pytest.mark.slow
@pytest.mark.parametrize("path", ["$..*..*..*", "$..*", "$[*][*]", "$..[*, *, *, ::1]"])
def test_no_more_values_are_found_than_the_limit(path: str) -> None:
    assert len(found(path, boxes())) == MAX_VALUES


@pytest.mark.slow
@pytest.mark.parametrize(
    ("path", "document"),
    [
        ("$[?$..*..x]", lists),
        ("$[?count($..*) == 1]", lists),
        ("$..[?@..[?@..x]]", boxes),
        ("$[?@ == $.all]", lists_in_members),
        ("$[?search(@, '((a|b|ab)*){1,100}c')]", lambda: ["ab" * 10_000] * 1_000),
        ("$[?search('x', @)]", lambda: [f"(a?){{1000}}{number}" for number in range(3_000)]),
        ("$[?search('x', @)]", lambda: [f"((a{{100}}){{100}}){number}{{100}}" for number in range(3_000)]),
    ],
)
def test_a_path_that_takes_too_many_steps_is_an_error(path: str, document: Callable[[], Any]) -> None:
    with pytest.raises(PageUnreadable, match="would look at more than"):
        found(path, document())


def test_the_first_step_that_finds_nothing_may_be_a_filter() -> None:
    failed = first_failure(parse_path("$.goods.book[?@.price > 100].by"), json.loads(json.dumps(SHOP)))

    assert failed is not None
    assert (failed.reached, failed.missing, failed.found) == ("$.goods.book", "[?@.price > 100]", ("a list of 4",))
