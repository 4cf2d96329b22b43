"""docs/query.md shows queries that can be read, and lists every field."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tidings.query import parse
from tidings.query.parser import FIELDS

PAGE = (Path(__file__).parents[2] / "docs" / "query.md").read_text(encoding="utf-8")
EXAMPLES = re.findall(r"^ {4}(.+)$", PAGE, re.MULTILINE)
CELLS = [
    query
    for row in re.findall(r"^\| (`.+?) \|", PAGE, re.MULTILINE)
    for query in re.findall(r"`([^`]+)`", row)
    if "…" not in query
]


@pytest.mark.parametrize("query", EXAMPLES + CELLS)
def test_an_example_can_be_read(query: str) -> None:
    parse(query)


def test_every_field_is_documented() -> None:
    assert [name for name in FIELDS if not re.search(rf"\b{name}[:<>=]", PAGE, re.IGNORECASE)] == []
