"""Full-text search: what a text is made of, and what a question asks for.

Texts and questions are taken apart into the same terms, here and not in the database: both engines then find the same.

    text     ─► folded (case, accents, widths) ─► words ─► their stems; pairs of CJK characters
    question ─► words  "phrases"  prefix*  -without  -"without this"

How words are stemmed depends on the language of their entry (`stemming.group_of`). A question has none: it is asked
once for each language that the user's entries are in, of the entries in that language.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable
from functools import lru_cache
from itertools import chain

from msgspec import Struct

from tidings.domain.entries.stemming import stem

# What an entry has beyond this is not searched: it begins after some thirty printed pages. PostgreSQL counts positions
# up to 16,383 and takes 1 MB of terms; both bounds together stay below.
MOST_TERMS = 16_000
MOST_CHARACTERS = 100_000
# The rest of a question is not heard.
LONGEST_QUESTION = 2_000
MOST_ASKED_TERMS = 64
# A star behind less is not heard: one letter begins half of all words, and finds nothing that anybody looks for.
SHORTEST_PREFIX = 2
SHORTEST_GUESS = 3
# Longer words are cut into several.
LONGEST_WORD = 40

# Scripts written without blanks between words, and Hangul, whose words carry their particles: every two neighbouring
# characters are a term, so that any part of a text is found without a dictionary.
_UNSPACED = (
    "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3005-\u3007\u3041-\u309f\u30a1-\u30fa\u30fc-\u30ff\u3105-\u312f"
    "\u31f0-\u31ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7a3\uf900-\ufaff\U00020000-\U0003ffff"
)
# Vowel signs and accents inside words, which `\w` leaves out.
_MARKS = (
    "\u0300-\u036f\u0483-\u0489\u0591-\u05bd\u05bf\u05c1\u05c2\u05c4\u05c5\u05c7\u0610-\u061a\u064b-\u065f\u0670"
    "\u06d6-\u06dc\u06df-\u06e8\u06ea-\u06ed\u0711\u0730-\u074a\u07a6-\u07b0\u07eb-\u07f3\u0816-\u082d\u08d3-\u0963"
    "\u0981-\u0dff\u0f18-\u0f39\u0f71-\u0fbc\u1ab0-\u1aff\u1b00-\u1bff\u1dc0-\u1dff\u20d0-\u20f0\ufe20-\ufe2f"
)
_PICTURES = "\u2600-\u27bf\U0001f000-\U0001faff"
_UNUSUAL = re.compile(rf"[{_UNSPACED}{_MARKS}{_PICTURES}]")
_IS_UNSPACED = re.compile(rf"[{_UNSPACED}]")
_USUAL_WORD = re.compile(rf"\w{{1,{LONGEST_WORD}}}")
_RUN = re.compile(rf"[\w{_MARKS}]+|[{_PICTURES}]")
_PART_OF_RUN = re.compile(rf"[{_UNSPACED}]+|(?:(?![{_UNSPACED}]).){{1,{LONGEST_WORD}}}")

# Latin, Greek and Cyrillic accents, Hebrew and Arabic vowel points: people leave them out when they ask.
# But for й, which is a letter of its own: Russian endings have it.
_LEFT_OUT = re.compile(
    "(?!(?<=и)\u0306)[\u0300-\u036f\u0591-\u05bd\u05bf\u05c1\u05c2\u05c4\u05c5\u05c7\u0640\u064b-\u0652]+"
)
_INVISIBLE = re.compile("[\u00ad\u200b-\u200d\u2060\ufe0e\ufe0f\ufeff]+")
# Compatibility folding would glue the former two to the word before them; and an underscore is no letter to us.
_SEPARATING = re.compile("[™℠_]")

_QUOTES = dict.fromkeys(map(ord, "“”„‟«»＂"), '"')
_PIECE = re.compile(r'(-?)(?:"([^"]*)"?(\*?)|([^\s"]+))')
# Words that have one of these may have a stem that is shorter than the prefix that was typed.
_ENDINGS = (
    "s", "es", "ed", "ing", "ings", "er", "ers", "ly", "ness", "ful", "fulness", "ment", "ments", "able", "ability",
    "ive", "ity", "ous", "ion", "ions", "ation", "ations", "ational", "ize", "izing", "ized", "ization",
)  # fmt: skip
_LATIN_LETTERS = "abcdefghijklmnopqrstuvwxyz"
_CYRILLIC_LETTERS = "".join(map(chr, range(0x430, 0x450)))


class Phrase(Struct, frozen=True):
    """Terms that follow each other. is_open: the last one may go on."""

    terms: tuple[str, ...]
    is_open: bool = False


class Question(Struct, frozen=True):
    """What a search asks for. Of each inner tuple, any one phrase will do.

    required: all of them. excluded: none of them. Neither: it asks for nothing that a text could have.
    """

    required: tuple[tuple[Phrase, ...], ...] = ()
    excluded: tuple[tuple[Phrase, ...], ...] = ()


def terms(text: str, group: str = "") -> list[str]:
    """The terms of a text in their order, for the index: letters, digits, marks and pictures, nothing else.

    group: of languages, as `stemming.group_of` returns it.
    """
    folded = _folded(text[:MOST_CHARACTERS])[:MOST_CHARACTERS]
    if not _UNUSUAL.search(folded):
        return [_term(word, group) for word in _USUAL_WORD.findall(folded)[:MOST_TERMS]]
    return [term for word in _words(folded) for term in _terms_of(word, group)][:MOST_TERMS]


def parse(question: str, group: str = "") -> Question:
    """Never fails: what cannot be understood is taken for words, or left out. group: as in `terms`."""
    required: list[tuple[Phrase, ...]] = []
    excluded: list[tuple[Phrase, ...]] = []
    asked = 0
    for minus, quoted, star, word in _PIECE.findall(question[:LONGEST_QUESTION].translate(_QUOTES)):
        any_of = _alternatives(quoted or word, group, is_prefix=bool(star) or word.endswith("*"))
        asked += sum(len(phrase.terms) for phrase in any_of)
        if asked > MOST_ASKED_TERMS:
            break
        if any_of:
            (excluded if minus else required).append(any_of)
    return Question(tuple(dict.fromkeys(required)), tuple(dict.fromkeys(excluded)))


def _alternatives(text: str, group: str, *, is_prefix: bool) -> tuple[Phrase, ...]:
    words = _words(_folded(text))[:MOST_ASKED_TERMS]
    if not words:
        return ()
    start = tuple(term for word in words[:-1] for term in _terms_of(word, group))
    last = words[-1]
    if _IS_UNSPACED.match(last):
        # One character begins a pair, if it is not a term of its own; of several, the pairs say all.
        return (Phrase((*start, *(_terms_of(last, group)[:-1] or last)), is_open=len(last) == 1),)
    if not is_prefix:
        return (Phrase((*start, _term(last, group))),)
    plain = _plain(last)
    if len(plain) < SHORTEST_PREFIX:
        return (Phrase((*start, plain)),)
    return (Phrase((*start, plain), is_open=True), *(Phrase((*start, other)) for other in _shorter_stems(plain, group)))


def _shorter_stems(beginning: str, group: str) -> Iterable[str]:
    """Of words that begin like this: `relation*` has to find `relations`, which is stored as `relat`."""
    if not group and beginning.isascii():
        endings = {
            ending[cut:] for ending in _ENDINGS for cut in range(len(ending) + 1) if beginning.endswith(ending[:cut])
        }
    else:
        # Most endings are unknown to us: one more letter, whichever it is, shows some of them to the stemmer.
        endings = set(_LATIN_LETTERS if beginning.isascii() else _CYRILLIC_LETTERS)
    guesses = {stem(beginning + ending, group) for ending in endings}
    stems = {guess for guess in guesses if len(guess) >= SHORTEST_GUESS} | {stem(beginning, group)}
    return sorted(found for found in stems if not found.startswith(beginning))


def _words(folded: str) -> list[str]:
    """Words, pictures, and whole runs of a script without blanks."""
    if not _UNUSUAL.search(folded):
        return _USUAL_WORD.findall(folded)
    return list(chain.from_iterable(map(_PART_OF_RUN.findall, _RUN.findall(folded))))


def _terms_of(word: str, group: str) -> list[str]:
    if _IS_UNSPACED.match(word):
        # Pairs, and the last character alone: so a question for a single character finds it too.
        return [word[at : at + 2] for at in range(len(word))]
    return [_term(word, group)]


@lru_cache(maxsize=1 << 16)
def _term(word: str, group: str) -> str:
    return stem(_plain(word), group)


def _plain(word: str) -> str:
    if word.isascii():
        return word
    bare = _LEFT_OUT.sub("", unicodedata.normalize("NFD", word))
    return unicodedata.normalize("NFC", bare) or word


def _folded(text: str) -> str:
    if text.isascii():
        return text.lower().replace("_", " ")
    apart = _SEPARATING.sub(" ", text)
    return _INVISIBLE.sub("", unicodedata.normalize("NFKC", apart).casefold())
