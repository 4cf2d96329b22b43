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

# Beyond these it is no message of ours, or one that somebody else has filled.
LONGEST = 2_000
MOST_SENTENCES = 20
_DEEPEST = 20

_VALUE = re.compile(r"%\((\w+)\)s")
# What the API calls a field, in front of what is wrong with it.
_FIELD = re.compile(r"[a-z]\w*(?:\.\w+)*: (?=\S)", re.ASCII)
_BETWEEN_SENTENCES = re.compile(r"(?<=[.?!]) (?=\S)")
# As f"{number:,}" and f"{number:g}" write them.
_NUMBER = re.compile(r"-?(?:[0-9]{1,3}(?:,[0-9]{3})+(?:\.[0-9]+)?|[0-9]+\.[0-9]+)")
_FULL_WIDTH = ("。", "？", "！", "；")

# So many characters of the end, or else of the beginning, are looked up.
_TELLING = 8

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
        self.start, *self._middle, self.end = pieces
        self._names = _VALUE.findall(english)
        self._other = other
        self.known = sum(map(len, pieces))

    def values(self, text: str) -> list[str] | None:
        """In their order; None when this is another message. Each as short as it can be, but for the last."""
        end = len(text) - len(self.end)
        place = len(self.start)
        if end < place or not text.startswith(self.start) or not text.endswith(self.end):
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


class _Shapes:
    """Of a language, by how they end or begin: few are to be looked at for a text."""

    def __init__(self, wordings: dict[str, str]) -> None:
        self._by_end: dict[str, list[_Shape]] = {}
        self._by_start: dict[str, list[_Shape]] = {}
        self._others: list[_Shape] = []
        for english, other in wordings.items():
            if _VALUE.search(english):
                shape = _Shape(english, other)
                if len(shape.end) >= _TELLING:
                    self._by_end.setdefault(shape.end[-_TELLING:], []).append(shape)
                elif len(shape.start) >= _TELLING:
                    self._by_start.setdefault(shape.start[:_TELLING], []).append(shape)
                else:
                    self._others.append(shape)

    def like(self, text: str) -> Iterator[_Shape]:
        yield from self._by_end.get(text[-_TELLING:], ())
        yield from self._by_start.get(text[:_TELLING], ())
        yield from self._others


@cache
def _shapes(language: Language) -> _Shapes:
    return _Shapes(language.wordings)


class _Reader:
    """Of one message; remembers what it made of the parts of it."""

    def __init__(self, language: Language) -> None:
        self._language = language
        self._shapes = _shapes(language)
        self._read: dict[str, Reading] = {}

    def read(self, text: str, depth: int = 0) -> Reading:
        if text not in self._read:
            self._read[text] = self._best(text, depth)
        return self._read[text]

    def _best(self, text: str, depth: int) -> Reading:
        if text in self._language.wordings:
            return len(text), self._language.wordings[text].replace("%%", "%")
        if " " not in text or depth > _DEEPEST:
            return 0, self._number(text)
        return max(self._readings(text, depth + 1), key=lambda reading: reading[0])

    def _readings(self, text: str, depth: int) -> Iterator[Reading]:
        """The first of the best holds."""
        yield 0, text
        if field := _FIELD.match(text):
            known, rest = self.read(text[field.end() :], depth)
            yield known, field[0] + rest
        for shape in self._shapes.like(text):
            if (values := shape.values(text)) is not None:
                read = [self.read(value, depth) for value in values]
                yield shape.known + sum(known for known, _ in read), shape.filled([value for _, value in read])
        gaps = [gap.end() for gap in _BETWEEN_SENTENCES.finditer(text)]
        for gap in gaps if len(gaps) < MOST_SENTENCES else ():
            (known, first), (more, rest) = self.read(text[: gap - 1], depth), self.read(text[gap:], depth)
            if known and more:
                yield known + more, in_a_row(first, rest)

    def _number(self, text: str) -> str:
        if not _NUMBER.fullmatch(text):
            return text
        return str(format_decimal(Decimal(text.replace(",", "")), locale=self._language.locale))
