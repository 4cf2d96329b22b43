"""Where in a text a search found what it asked for, and a piece of it to show."""

from __future__ import annotations

import re
from collections.abc import Iterator

from msgspec import Struct

from tidings.domain.search import Question, terms

LENGTH = 200
# Words before the first place that are shown with it.
_BEFORE = 60
# Of a text whose words may be written otherwise than they were asked for, so much is looked at word by word.
_LOOKED_AT = 20_000
_WORD = re.compile(r"\w+")


class Piece(Struct, frozen=True):
    text: str
    is_found: bool


class Highlighter:
    """For one question; asked about many texts."""

    def __init__(self, question: Question) -> None:
        phrases = [phrase for any_of in question.required for phrase in any_of]
        self._prefixes = tuple(phrase.terms[-1] for phrase in phrases if phrase.is_open)
        self._terms = {term for phrase in phrases for term in phrase.terms}
        # The longest word of a phrase tells best where it is. A stem may end otherwise than its words do ("studi",
        # "study"): what begins like it is looked at closely.
        telling = {max(phrase.terms, key=len) for phrase in phrases}
        begins = sorted({re.escape(term[: max(3, len(term) - 2)]) for term in telling})
        self._likely = re.compile(rf"\b(?:{'|'.join(begins)})\w*", re.IGNORECASE) if begins else None

    def pieces(self, text: str) -> list[Piece]:
        """The whole text, apart where something was found."""
        made, reached = [], 0
        for start, end in self._spans(text):
            made += [Piece(text[reached:start], is_found=False), Piece(text[start:end], is_found=True)]
            reached = end
        return [piece for piece in [*made, Piece(text[reached:], is_found=False)] if piece.text]

    def excerpt(self, text: str, length: int = LENGTH) -> list[Piece]:
        """Around the first place; the beginning of the text where there is none."""
        at = self._first(text)
        start = 0 if at < _BEFORE else text.find(" ", at - _BEFORE, at) + 1 or at
        end = len(text) if len(text) <= start + length else text.rfind(" ", start + length // 2, start + length)
        end = start + length if end < 0 else end
        shown = self.pieces(text[start:end])
        before = [Piece("… ", is_found=False)] if start else []
        after = [Piece("…", is_found=False)] if end < len(text) else []
        return [*before, *shown, *after]

    def _first(self, text: str) -> int:
        """0 as well when there is none."""
        if self._likely is None:
            return 0
        for likely in self._likely.finditer(text):
            if any(True for _ in self._spans_in(likely[0])):
                return likely.start()
        if text.isascii():
            return 0
        return next((start for start, _ in self._spans(text[:_LOOKED_AT])), 0)

    def _spans(self, text: str) -> Iterator[tuple[int, int]]:
        reached = 0
        for word in _WORD.finditer(text):
            for start, end in self._spans_in(word[0]):
                # Pairs of characters overlap.
                begin = max(reached, word.start() + start)
                reached = max(begin, min(word.start() + end, word.end()))
                if begin < reached:
                    yield begin, reached

    def _spans_in(self, word: str) -> Iterator[tuple[int, int]]:
        found = terms(word)
        if len(found) == 1:
            if self._is_asked(found[0]) or word.casefold().startswith(self._prefixes or ("\0",)):
                yield 0, len(word)
            return
        # A script without blanks: each term begins one character after the one before.
        for at, term in enumerate(found):
            if self._is_asked(term):
                yield at, at + len(term)

    def _is_asked(self, term: str) -> bool:
        return term in self._terms or bool(self._prefixes and term.startswith(self._prefixes))
