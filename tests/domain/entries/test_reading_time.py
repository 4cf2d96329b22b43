"""Reading time: each script counts in its own way."""

from __future__ import annotations

import pytest

from tidings.domain.entries.reading_time import reading_minutes


@pytest.mark.parametrize(
    ("text", "minutes"),
    [
        ("", 0),
        ("word", 1),
        ("word " * 265, 1),
        ("word " * 266, 2),
        ("слово " * 266, 2),
        ("字" * 500, 1),
        ("字，" * 250 + "字", 2),
        ("字\u3000" * 500, 1),
        ("한국어 " * 167, 2),
        # A text in two scripts takes the time of both.
        ("字" * 1000 + " word" * 530, 4),
        ("word " * 530 + "字" * 1000, 4),
        ("word " * 262 + "“字”", 1),
        # Scripts without blanks between words: about five characters each.
        ("ก" * 5 * 265, 1),
        ("ก" * 5 * 530 + " word" * 265, 3),
        ("<p>" + "字" * 500 + "</p><p>字</p>", 2),
    ],
)
def test_each_script_counts_in_its_own_way(text: str, minutes: int) -> None:
    assert reading_minutes(text) == minutes
