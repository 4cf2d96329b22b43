"""Items of a long JSON array are read one by one, however the document arrives."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tidings.archives.formats import json_items
from tidings.archives.formats.json_items import JsonItems
from tidings.base.errors import InvalidInput

VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-9, 9) | st.text(st.sampled_from('a"\\[]{},:ü\n'), max_size=6),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(st.sampled_from('a"]}'), max_size=3), inner),
    max_leaves=8,
)
ITEMS = st.lists(st.dictionaries(st.text(st.sampled_from('x"]}'), max_size=3), VALUES, max_size=3), max_size=5)


def pieces(document: bytes, size: int) -> Iterator[bytes]:
    return (document[at : at + size] for at in range(0, len(document), size))


def read(document: bytes, size: int = 2**16) -> list[tuple[int, dict[str, Any]]]:
    return list(JsonItems(pieces(document, size), "items").each(dict[str, Any]))


@pytest.mark.slow
@given(items=ITEMS, before=VALUES, after=VALUES, indent=st.sampled_from([None, 1]), size=st.integers(1, 40))
def test_items_are_those_of_the_whole_document(
    items: list[dict[str, Any]], before: Any, after: Any, indent: int | None, size: int
) -> None:
    members = {"id": "user/-/label/x", "before": before, "items": items, "after": after}
    document = json.dumps(members, indent=indent).encode()
    stream = JsonItems(pieces(document, size), "items")

    found = list(stream.each(dict[str, Any]))

    assert [item for _, item in found] == items
    assert stream.header["id"] == "user/-/label/x"
    assert stream.has_array
    lines = document.decode().split("\n")
    assert all(lines[line - 1].strip().startswith(("{", '"items": [{')) or indent is None for line, _ in found)


@pytest.mark.slow
@given(items=ITEMS, cut=st.integers(1, 400), size=st.integers(1, 40))
def test_a_document_that_breaks_off_is_never_taken_for_whole(items: list[dict[str, Any]], cut: int, size: int) -> None:
    document = json.dumps({"items": items, "end": "x"}).encode()

    with pytest.raises(InvalidInput, match="line 1: the document breaks off"):
        read(document[: -min(cut, len(document))], size)


def test_the_document_may_be_the_array() -> None:
    assert read(b'\xef\xbb\xbf [{"a": 1},\n {"a": 2}]\n') == [(1, {"a": 1}), (2, {"a": 2})]


def test_a_document_without_the_array_has_no_items() -> None:
    stream = JsonItems([b'{"friends": [{"items": [{}]}], "items": {"a": 1}}'], "items")

    assert list(stream.each(dict[str, Any])) == []
    assert not stream.has_array


@pytest.mark.parametrize(
    ("document", "problem"),
    [
        (b"", "line 1: the document breaks off"),
        (b"hello", "line 1: expected a JSON document"),
        (b"[\n1]", "line 2: expected an object for each entry"),
        (b'{"items": [{"a": 1}\n {"a": 2}]}', "line 2: expected a comma or the end of the list"),
        (b'{"items": [{"a": 1},\n{"a":\n b}]}', "line 3: JSON is malformed"),
        (b'{"items": [{"a": "\xff"}]}', "line 1: "),
        (b"[{}] {}", "line 1: expected the end"),
        (b'{"items" [{}]}', "line 1: expected :"),
        (b"{1: 2}", "line 1: expected a text in quotes"),
    ],
)
def test_the_line_of_a_mistake_is_named(document: bytes, problem: str) -> None:
    with pytest.raises(InvalidInput, match=problem):
        read(document)


def test_an_entry_that_is_too_large_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(json_items, "MAX_ITEM", 2**17)

    with pytest.raises(InvalidInput, match="line 2: expected are entries of"):
        read(b'{"items": [\n{"a": "' + b"x" * 2**20 + b'"}]}')
