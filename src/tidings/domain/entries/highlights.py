"""Highlights the matches of a search in a text, and cuts an excerpt around them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from functools import lru_cache
from typing import NamedTuple

from msgspec import Struct

from tidings.content.search import MAX_WORD, UNSPACED, Phrase, terms

LENGTH = 200
# Characters before the first match that are shown with it.
_CONTEXT = 60
# Characters that are compared word by word if the text may spell words differently from the query.
_MAX_COMPARED = 20_000
# Characters that are compared around a candidate for a phrase, for each word of the longest phrase.
_CHARS_PER_WORD = 20
# Candidates for a phrase that are compared in a text.
_MAX_CANDIDATES = 20
# Words as the index splits them: an underscore is not a letter, longer words are split, and a run of a script without
# blanks is a word of its own.
_WORD = re.compile(rf"[{UNSPACED}]+|(?:(?![{UNSPACED}])[^\W_]){{1,{MAX_WORD}}}")


class TextPiece(Struct, frozen=True):
    """A part of a text."""

    text: str
    is_match: bool
    """Whether to highlight it."""


class _Token(NamedTuple):
    """A term of a text, with its position.

    word: as written, case-folded; needed because a prefix may be longer than the stem of a matching word.
    """

    term: str
    word: str
    start: int
    end: int


class Highlighter:
    """Highlights phrases in texts of one group of languages (`content.search.group_of`).

    The words of a phrase match only where they follow each other.
    """

    def __init__(self, phrases: Iterable[Phrase], group: str = "") -> None:
        self._group = group
        phrases = tuple(phrases)
        self._prefixes = tuple(
            phrase.terms[0] for phrase in phrases if phrase.ends_with_prefix and len(phrase.terms) == 1
        )
        self._terms = {phrase.terms[0] for phrase in phrases if len(phrase.terms) == 1}
        self._phrases: dict[str, list[Phrase]] = {}
        for phrase in phrases:
            if len(phrase.terms) > 1:
                self._phrases.setdefault(phrase.terms[0], []).append(phrase)
        self._longest = max((len(phrase.terms) for phrase in phrases), default=0)
        # Candidates are words that begin like the longest word of a phrase, which is usually the rarest. The last
        # letters are ignored, because a stem may end differently from its words ("studi", "study").
        longest_terms = {max(phrase.terms, key=len) for phrase in phrases}
        begins = sorted({re.escape(term[: max(3, len(term) - 2)]) for term in longest_terms})
        self._candidate = re.compile(rf"\b(?:{'|'.join(begins)})\w*", re.IGNORECASE) if begins else None

    def pieces(self, text: str) -> list[TextPiece]:
        """Return the whole text, split at its matches."""
        pieces, reached = [], 0
        for start, end in self._spans(text):
            pieces += [TextPiece(text[reached:start], is_match=False), TextPiece(text[start:end], is_match=True)]
            reached = end
        return [piece for piece in [*pieces, TextPiece(text[reached:], is_match=False)] if piece.text]

    def excerpt(self, text: str, length: int = LENGTH) -> list[TextPiece]:
        """Return about `length` characters around the first match, or the beginning of a text without a match."""
        at = self._first(text)
        start = 0 if at < _CONTEXT else text.find(" ", at - _CONTEXT, at) + 1 or at
        end = len(text) if len(text) <= start + length else text.rfind(" ", start + length // 2, start + length)
        end = start + length if end < 0 else end
        shown = self.pieces(text[start:end])
        before = [TextPiece("… ", is_match=False)] if start else []
        after = [TextPiece("…", is_match=False)] if end < len(text) else []
        return [*before, *shown, *after]

    def _first(self, text: str) -> int:
        """Return the position of the first match; 0 if there is none."""
        if self._candidate is None:
            return 0
        compared: list[int] = []
        for candidate in self._candidate.finditer(text):
            if any(True for _ in self._spans(candidate[0])):
                return candidate.start()
            if self._phrases and len(compared) < _MAX_CANDIDATES:
                compared.append(candidate.start())
                start, end = self._neighbourhood(text, candidate)
                if match := next(self._spans(text[start:end]), None):
                    return start + match[0]
        if compared or text.isascii():
            return compared[0] if compared else 0
        return next((start for start, _ in self._spans(text[:_MAX_COMPARED])), 0)

    def _neighbourhood(self, text: str, candidate: re.Match[str]) -> tuple[int, int]:
        """Return the start and end of the words around a candidate that a phrase with it could include."""
        others, reach = self._longest - 1, _CHARS_PER_WORD * self._longest
        words = list(_WORD.finditer(text, max(0, candidate.start() - reach), candidate.end() + reach))
        at = next((number for number, word in enumerate(words) if word.end() > candidate.start()), None)
        if at is None:
            # The candidate begins with an emoji, which is not a word for `_WORD`.
            return candidate.span()
        return words[max(0, at - others)].start(), words[min(len(words), at + 1 + others) - 1].end()

    def _spans(self, text: str) -> Iterator[tuple[int, int]]:
        """Yield start and end of each match, in order; matches that overlap or touch are merged."""
        begin = reached = -1
        for start, end in self._matches(list(_tokens(text, self._group))):
            if start > reached:
                if reached > begin:
                    yield begin, reached
                begin = start
            reached = max(reached, end)
        if reached > begin:
            yield begin, reached

    def _matches(self, tokens: list[_Token]) -> Iterator[tuple[int, int]]:
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
    expected, token = last
    last_matches = token.term == expected or (phrase.ends_with_prefix and _begins(token, (expected,)))
    return last_matches and all(term == one.term for term, one in before)


def _begins(token: _Token, prefixes: tuple[str, ...]) -> bool:
    return bool(prefixes) and (token.term.startswith(prefixes) or token.word.startswith(prefixes))


# The texts of one page have most of their words in common.
@lru_cache(maxsize=4096)
def _terms(word: str, group: str) -> tuple[str, ...]:
    return tuple(terms(word, group))


def _tokens(text: str, group: str) -> Iterator[_Token]:
    for word in _WORD.finditer(text):
        terms = _terms(word[0], group)
        if len(terms) == 1:
            yield _Token(terms[0], word[0].casefold(), word.start(), word.end())
            continue
        # A script without blanks: each term begins one character after the previous one.
        for at, term in enumerate(terms, word.start()):
            yield _Token(term, term, min(at, word.end()), min(at + len(term), word.end()))
