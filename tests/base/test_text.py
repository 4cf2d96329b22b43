"""Texts: the keys that names are sorted by."""

from __future__ import annotations

from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from tidings.base.text import sort_key

IN_ORDER = [
    "2 things", "10 things", "Ábaco", "Ægir", "apple", "árbol", "banana", "éclair", "İzmir", "Łódź", "Manzana", "Ñandú",
    "nube", "Öl", "Øresund", "Straße", "Strasse 2", "Úlcera", "Zorro", "Ελλάδα", "Ёлка", "Иван", "Йога",
    "кот", "яблоко",
]  # fmt: skip


def test_neither_case_nor_accents_separate_names() -> None:
    assert sorted(sorted(IN_ORDER), key=sort_key) == IN_ORDER
    for first, second in pairwise(IN_ORDER):
        # SQLite and PostgreSQL with the collation C compare bytes.
        assert sort_key(first).encode() <= sort_key(second).encode()


def test_numbers_are_in_the_order_of_their_values() -> None:
    names = ["Part", "Part 1", "Part 1.9", "Part 1.10", "part 2", "Part 002 b", "Part 10", "Part 123456789",
        "Part 9999999999", "Part 10000000000", "Part " + "9" * 300, "Part a", "Parts"]  # fmt: skip
    assert sorted(sorted(names), key=sort_key) == names


@given(st.integers(0, 10**30), st.integers(0, 10**30))
def test_every_number_has_its_place(one: int, other: int) -> None:
    assert (sort_key(f"No {one}") < sort_key(f"No {other}")) is (one < other)


@given(st.text())
def test_only_a_blank_name_has_an_empty_key(name: str) -> None:
    assert bool(sort_key(name)) is bool(name.strip())
