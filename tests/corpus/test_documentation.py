"""docs/ingestion.md says what is measured, and nothing better than what was."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from scoring.floors import FLOORS

pytestmark = pytest.mark.slow

PAGE = (Path(__file__).parents[2] / "docs" / "ingestion.md").read_text(encoding="utf-8")
ROWS = re.compile(r"^\|[^|]*\| ([a-z]+)s? \| ([0-9.]+) %", re.MULTILINE)


@pytest.mark.parametrize("part", FLOORS)
def test_each_scored_part_is_in_the_table(part: str) -> None:
    assert part in PAGE


def test_documented_scores_are_close_to_the_tested_floors() -> None:
    floors = {field.removesuffix("s"): floor for field, floor in FLOORS["agreement"].items()}
    promised = {field.removesuffix("s"): float(score) / 100 for field, score in ROWS.findall(PAGE)}

    assert promised.keys() >= {"title", "link", "date", "content", "tag", "enclosure"}
    for field, score in promised.items():
        assert floors[field] <= score <= floors[field] + 0.015, field
