"""No reader of text from outside takes time that grows faster than its input, whatever a stranger writes."""

from __future__ import annotations

import re

import pytest

from doubling import INPUTS, READERS, growth

# Short enough that a quadratic reader fails within seconds, and long enough to be told from a linear one.
LENGTH = 8_000


@pytest.mark.parametrize("name", READERS)
def test_a_reader_takes_time_in_proportion_to_its_input(name: str) -> None:
    found = {kind: growth(READERS[name], make, LENGTH) for kind, make in INPUTS.items()}

    assert {
        kind: f"{one.ratio:.0f} times, {one.long_s:.2f} s" for kind, one in found.items() if not one.is_linear
    } == {}


def test_a_quadratic_reader_is_found() -> None:
    quadratic = re.compile(r"<[^>]*>")

    assert not growth(lambda text: quadratic.sub("", text), INPUTS["less than"], 2 * LENGTH).is_linear
