"""Where in a text a search found what it asked for, and a piece of it to show."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache
from typing import NamedTuple

from msgspec import Struct

from tidings.domain.entries.search import Phrase, Question, terms

LENGTH = 200
# Words before the first place that are shown with it.
_BEFORE = 60
# Of a text whose words may be written otherwise than they were asked for, so much is looked at word by word.
_LOOKED_AT = 20_000
# Around a word that may belong to a phrase, so many characters are looked at for each word of it: so often in a text.
_AROUND = 20
_MOST_LOOKS = 20
# As the index takes them apart: an underscore is no letter, and longer words are several.
_WORD = re.compile(r"[^\W_]{1,40}")


class Piece(Struct, frozen=True):
    text: str
    is_found: bool


class _Token(NamedTuple):
    """A term of a text. word: as it is written there, case-folded: a prefix may be longer than the stem of a word."""

    term: str
    word: str
    start: int
    end: int


class Highlighter:
    """For one question; asked about many texts in the same group of languages (`stemming.group_of`).

    Words of a phrase count where they follow each other.
    """

    def __init__(self, question: Question, group: str = "") -> None:
        self._group = group
        phrases = [phrase for any_of in question.required for phrase in any_of]
        self._prefixes = tuple(phrase.terms[0] for phrase in phrases if phrase.is_open and len(phrase.terms) == 1)
        self._terms = {phrase.terms[0] for phrase in phrases if len(phrase.terms) == 1}
        self._phrases: dict[str, list[Phrase]] = {}
        for phrase in phrases:
            if len(phrase.terms) > 1:
                self._phrases.setdefault(phrase.terms[0], []).append(phrase)
        self._longest = max((len(phrase.terms) for phrase in phrases), default=0)
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
        looks: list[int] = []
        for likely in self._likely.finditer(text):
            if any(True for _ in self._spans(likely[0])):
                return likely.start()
            if self._phrases and len(looks) < _MOST_LOOKS:
                looks.append(likely.start())
                start, end = self._neighbourhood(text, likely)
                if found := next(self._spans(text[start:end]), None):
                    return start + found[0]
        if looks or text.isascii():
            return looks[0] if looks else 0
        return next((start for start, _ in self._spans(text[:_LOOKED_AT])), 0)

    def _neighbourhood(self, text: str, likely: re.Match[str]) -> tuple[int, int]:
        """Of a word, with as many before and after it as the longest phrase could have there."""
        others, reach = self._longest - 1, _AROUND * self._longest
        words = list(_WORD.finditer(text, max(0, likely.start() - reach), likely.end() + reach))
        at = next((number for number, word in enumerate(words) if word.end() > likely.start()), None)
        if at is None:
            # It begins with a picture, which is no word to us.
            return likely.span()
        return words[max(0, at - others)].start(), words[min(len(words), at + 1 + others) - 1].end()

    def _spans(self, text: str) -> Iterator[tuple[int, int]]:
        """What was found, in order; what overlaps or touches is one."""
        begin = reached = -1
        for start, end in self._found(list(_tokens(text, self._group))):
            if start > reached:
                if reached > begin:
                    yield begin, reached
                begin = start
            reached = max(reached, end)
        if reached > begin:
            yield begin, reached

    def _found(self, tokens: list[_Token]) -> Iterator[tuple[int, int]]:
        for at, token in enumerate(tokens):
            if token.term in self._terms or _begins(token, self._prefixes):
                yield token.start, token.end
            for phrase in self._phrases.get(token.term, ()):
                following = tokens[at : at + len(phrase.terms)]
                if _is_phrase(phrase, following):
                    yield token.start, following[-1].end


def _is_phrase(phrase: Phrase, tokens: list[_Token]) -> bool:
    if len(tokens) < len(phrase.terms):
        return False
    *before, last = zip(phrase.terms, tokens, strict=True)
    asked, token = last
    ends_well = token.term == asked or (phrase.is_open and _begins(token, (asked,)))
    return ends_well and all(term == one.term for term, one in before)


def _begins(token: _Token, prefixes: tuple[str, ...]) -> bool:
    return bool(prefixes) and (token.term.startswith(prefixes) or token.word.startswith(prefixes))


# The texts of one page have most of their words in common.
@lru_cache(maxsize=4096)
def _terms(word: str, group: str) -> tuple[str, ...]:
    return tuple(terms(word, group))


def _tokens(text: str, group: str) -> Iterator[_Token]:
    for word in _WORD.finditer(text):
        found = _terms(word[0], group)
        if len(found) == 1:
            yield _Token(found[0], word[0].casefold(), word.start(), word.end())
            continue
        # A script without blanks: each term begins one character after the one before.
        for at, term in enumerate(found, word.start()):
            yield _Token(term, term, min(at, word.end()), min(at + len(term), word.end()))
