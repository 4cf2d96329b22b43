"""Messages of the other rings (`domain.wording`), in the language of the visit.

They come in English, with their values in them: from an error, or from the database, where a feed's last failure may
have been written months ago. So a message is known again by its shape, which a catalogue has with names for the values:

    news.example has nothing at this address (404). …     %(host)s has nothing at this address (404). …

Values may be messages in their turn, and several may stand in a row. When there is more than one way to read a text,
the one holds that explains most of it. What nobody knows stays as it is, and everything is still to be escaped.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from decimal import Decimal
from functools import cache, lru_cache
from typing import TypeAlias

from babel.numbers import format_decimal

from tidings.domain.wording import Words
from tidings.web.language import Language, current

# Beyond that it is no message of ours, or one that somebody else has filled.
LONGEST = 2_000

_VALUE = re.compile(r"%\((\w+)\)s")
# What the API calls a field, in front of what is wrong with it.
_FIELD = re.compile(r"[a-z]\w*(?:\.\w+)*: (?=\S)", re.ASCII)
_BETWEEN_SENTENCES = re.compile(r"(?<=[.?!]) (?=\S)")
# As f"{number:,}" and f"{number:g}" write them.
_NUMBER = re.compile(r"-?(?:[0-9]{1,3}(?:,[0-9]{3})+(?:\.[0-9]+)?|[0-9]+\.[0-9]+)")
_FULL_WIDTH = ("。", "？", "！", "；")

# How many characters of a text were known, and the text in the other language.
Reading: TypeAlias = tuple[int, str]


def translated(message: Words) -> str:
    """Of anything at all: what is in the right language already is not known, and stays."""
    language = current()
    return _translated(language, message) if language.wordings else message


def in_a_row(first: str, rest: str) -> str:
    """Two sentences; Chinese ones have no blank between them."""
    return f"{first}{rest}" if first.endswith(_FULL_WIDTH) else f"{first} {rest}"


@lru_cache(maxsize=4096)
def _translated(language: Language, message: str) -> str:
    return message if len(message) > LONGEST else _Reader(language).read(message)[1]


class _Shape:
    """A message with values: what stands before, between and behind them."""

    def __init__(self, english: str, other: str) -> None:
        pieces = [piece.replace("%%", "%") for piece in _VALUE.split(english)[::2]]
        self._start, *self._middle, self._end = pieces
        self._names = _VALUE.findall(english)
        self._other = other
        self.known = sum(map(len, pieces))

    def values(self, text: str) -> list[str] | None:
        """In their order; None when this is another message. Each as short as it can be, but for the last."""
        end = len(text) - len(self._end)
        place = len(self._start)
        if end < place or not text.startswith(self._start) or not text.endswith(self._end):
            return None
        found = []
        for piece in self._middle:
            at = text.find(piece, place, end)
            if at < 0:
                return None
            found.append(text[place:at])
            place = at + len(piece)
        return [*found, text[place:end]]

    def filled(self, values: list[str]) -> str:
        return self._other % dict(zip(self._names, values, strict=True))


@cache
def _shapes(language: Language) -> list[_Shape]:
    return [_Shape(english, other) for english, other in language.wordings.items() if _VALUE.search(english)]


class _Reader:
    """Of one message; remembers what it made of the parts of it."""

    def __init__(self, language: Language) -> None:
        self._language = language
        self._read: dict[str, Reading] = {}

    def read(self, text: str) -> Reading:
        if text not in self._read:
            self._read[text] = max(self._readings(text), key=lambda reading: reading[0])
        return self._read[text]

    def _readings(self, text: str) -> Iterator[Reading]:
        """The first of the best holds."""
        yield 0, self._number(text)
        if text in self._language.wordings:
            yield len(text), self._language.wordings[text].replace("%%", "%")
        elif " " in text:
            yield from self._of_shapes(text)
            yield from self._in_a_row(text)
            if field := _FIELD.match(text):
                known, rest = self.read(text[field.end() :])
                yield known, field[0] + rest

    def _of_shapes(self, text: str) -> Iterator[Reading]:
        for shape in _shapes(self._language):
            if (values := shape.values(text)) is not None:
                read = [self.read(value) for value in values]
                yield shape.known + sum(known for known, _ in read), shape.filled([value for _, value in read])

    def _in_a_row(self, text: str) -> Iterator[Reading]:
        for gap in _BETWEEN_SENTENCES.finditer(text):
            (known, first), (more, rest) = self.read(text[: gap.start()]), self.read(text[gap.end() :])
            if known and more:
                yield known + more, in_a_row(first, rest)

    def _number(self, text: str) -> str:
        if not _NUMBER.fullmatch(text):
            return text
        return str(format_decimal(Decimal(text.replace(",", "")), locale=self._language.locale))
