"""Every reader of text from outside takes time in proportion to the text, whatever is repeated in it."""

from __future__ import annotations

import pytest

from doubling.growth import findings
from doubling.readers import READERS, Reader
from doubling.texts import PIECES

pytestmark = pytest.mark.slow


@pytest.mark.parametrize("reader", READERS, ids=lambda reader: reader.name)
def test_a_reader_takes_linear_time_for_hostile_texts(reader: Reader) -> None:
    found = {text: what for text, what in findings(reader) if what}

    assert found == {}


def test_names_of_readers_are_unique() -> None:
    assert len({reader.name for reader in READERS}) == len(READERS)


def test_squared_work_is_found_and_linear_work_is_not() -> None:
    squared = Reader("squared", lambda text: sum(text.count("<", at) for at in range(0, len(text), 8)))
    linear = Reader("linear", lambda text: sum(one == "<" for one in text))
    pieces = {"angle brackets": PIECES["angle brackets"]}

    assert all(what for _, what in findings(squared, pieces))
    assert not any(what for _, what in findings(linear, pieces))
