"""docs/ingestion.md says what is measured, and nothing better than what was."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from scoring.floors import FLOORS

PAGE = (Path(__file__).parents[2] / "docs" / "ingestion.md").read_text(encoding="utf-8")
ROWS = re.compile(r"^\|[^|]*\| ([a-z]+)s? \| ([0-9.]+) %", re.MULTILINE)


@pytest.mark.parametrize("part", FLOORS)
def test_each_part_that_is_scored_stands_in_the_table(part: str) -> None:
    assert part in PAGE


def test_the_table_promises_little_more_than_the_tests_ask_for() -> None:
    floors = {field.removesuffix("s"): floor for field, floor in FLOORS["agreement"].items()}
    promised = {field.removesuffix("s"): float(score) / 100 for field, score in ROWS.findall(PAGE)}

    assert promised.keys() >= {"title", "link", "date", "content", "tag", "enclosure"}
    for field, score in promised.items():
        assert floors[field] <= score <= floors[field] + 0.015, field
