"""Every reader of text from outside takes time in proportion to the text, whatever is repeated in it."""

from __future__ import annotations

import pytest

from doubling.growth import findings
from doubling.readers import READERS, Reader
from doubling.texts import PIECES

pytestmark = pytest.mark.slow


# Each reader gets every twelfth text, and its neighbours the others.
SHARE = 12


@pytest.mark.parametrize("reader", READERS, ids=lambda reader: reader.name)
def test_a_reader_takes_linear_time_for_hostile_texts(reader: Reader) -> None:
    first = READERS.index(reader) % SHARE

    assert bad_texts(reader, dict(list(PIECES.items())[first::SHARE])) == {}


@pytest.mark.long
@pytest.mark.parametrize("reader", READERS, ids=lambda reader: reader.name)
def test_a_reader_takes_linear_time_for_every_hostile_text(reader: Reader) -> None:
    assert bad_texts(reader, PIECES) == {}


def bad_texts(reader: Reader, pieces: dict[str, str]) -> dict[str, str]:
    """Return the texts for which a reader takes more than its share of time, with what was measured."""
    return {text: what for text, what in findings(reader, pieces) if what}


def test_names_of_readers_are_unique() -> None:
    assert len({reader.name for reader in READERS}) == len(READERS)


def test_squared_work_is_found_and_linear_work_is_not() -> None:
    squared = Reader("squared", lambda text: sum(text.count("<", at) for at in range(0, len(text), 8)))
    linear = Reader("linear", lambda text: sum(one == "<" for one in text))
    # From some size on, each character costs thirty times as much.
    step = Reader("step", lambda text: sum(one == "<" for one in text * (30 if len(text) > linear.size else 1)))
    pieces = {"angle brackets": PIECES["angle brackets"]}

    assert all(what for _, what in findings(squared, pieces))
    assert not any(what for _, what in findings(linear, pieces))
    assert not any(what for _, what in findings(step, pieces))
