"""Texts: the keys that names are sorted by."""

from __future__ import annotations

from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from tidings.base.text import sort_key

IN_ORDER = [
    "10 things", "2 things", "Ábaco", "Ægir", "apple", "árbol", "banana", "éclair", "İzmir", "Łódź", "Manzana", "Ñandú",
    "nube", "Öl", "Øresund", "Straße", "Strasse 2", "Úlcera", "Zorro", "Ελλάδα", "Ёлка", "Иван", "Йога",
    "кот", "яблоко",
]  # fmt: skip


def test_neither_case_nor_accents_separate_names() -> None:
    assert sorted(sorted(IN_ORDER), key=sort_key) == IN_ORDER
    for first, second in pairwise(IN_ORDER):
        # SQLite and PostgreSQL with the collation C compare bytes.
        assert sort_key(first).encode() <= sort_key(second).encode()


@given(st.text())
def test_only_a_blank_name_has_an_empty_key(name: str) -> None:
    assert bool(sort_key(name)) is bool(name.strip())
