"""Full-text search: splits texts into terms, and parses search queries.

Texts and queries are split into the same terms here and not in the database, so that both engines find the same.

    text  ─► folded (case, accents, widths) ─► words ─► stems; pairs of CJK characters
    query ─► words  "phrases"  prefix*  -without  -"without this"  one OR other

A query is read as PostgreSQL's `websearch_to_tsquery` reads it
(https://www.postgresql.org/docs/current/textsearch-controls.html), with prefixes in addition.

Stemming depends on the language of the entry (`group_of`). A query has no language: it is parsed once for
each language that the user's entries are in, and applied to the entries in that language.

Stemming reduces the forms of a word to one stem; `connected` and `connections` both become `connect`. The algorithms
are Snowball's (https://snowballstem.org). A stem need not be a word; it is only the same for all forms. A word is
stemmed in the language of its entry if that language has an algorithm and is written in the script of the word;
otherwise in the default language of the script, so that English words in a Russian text get English stems.
"""

from __future__ import annotations

import re
import threading
import unicodedata
from collections.abc import Iterable, Iterator
from functools import lru_cache
from itertools import chain
from typing import Final, NamedTuple, cast

import snowballstemmer
from msgspec import Struct

# Stems

# Each script: its name, first and last letter, and default algorithm, "" for none. A word belongs to the script of its
# first letter. The languages in Arabic script have too little in common for a default.
_SCRIPTS: Final = (
    ("latin", "a", "\u024f", "english"),
    ("greek", "\u0370", "\u03ff", "greek"),
    ("cyrillic", "\u0400", "\u052f", "russian"),
    ("armenian", "\u0530", "\u058f", "armenian"),
    ("hebrew", "\u0590", "\u05ff", ""),
    ("arabic", "\u0600", "\u06ff", ""),
    ("devanagari", "\u0900", "\u097f", "hindi"),
    ("tamil", "\u0b80", "\u0bff", "tamil"),
)
# Algorithm and script by ISO 639 code. Languages whose algorithm is the default of their script are left out.
_LANGUAGES: Final = {
    "ar": ("arabic", "arabic"), "ca": ("catalan", "latin"), "cs": ("czech", "latin"), "da": ("danish", "latin"),
    "de": ("german", "latin"), "eo": ("esperanto", "latin"), "es": ("spanish", "latin"), "et": ("estonian", "latin"),
    "eu": ("basque", "latin"), "fa": ("persian", "arabic"), "fi": ("finnish", "latin"), "fr": ("french", "latin"),
    "ga": ("irish", "latin"), "hu": ("hungarian", "latin"), "id": ("indonesian", "latin"), "it": ("italian", "latin"),
    "lt": ("lithuanian", "latin"), "ne": ("nepali", "devanagari"), "nl": ("dutch", "latin"),
    "no": ("norwegian", "latin"), "pl": ("polish", "latin"), "pt": ("portuguese", "latin"),
    "ro": ("romanian", "latin"), "st": ("sesotho", "latin"), "sv": ("swedish", "latin"), "tr": ("turkish", "latin"),
    "yi": ("yiddish", "hebrew"),
}  # fmt: skip
_ALIASES: Final = {"nb": "no", "nn": "no", "in": "id", "ji": "yi", "mo": "ro"}

_DIGIT: Final = re.compile(r"\d")

_thread = threading.local()


def group_of(language: str) -> str:
    """Return the ISO 639 code of the language in which a text is stemmed; "" for the default of each script.

    language: an entry's language, as a BCP 47 tag such as `de-AT`. Languages with the same result are a group; English,
    Russian and languages without an algorithm are in the group "".
    """
    code = language.partition("-")[0].lower()
    code = _ALIASES.get(code, code)
    return code if code in _LANGUAGES else ""


@lru_cache(maxsize=1 << 17)
def stem(word: str, group: str = "") -> str:
    """Return the stem of a word. word: folded, without accents. group: as `group_of` returns it."""
    algorithm = "" if _DIGIT.search(word) else _algorithm(word, group)
    return _stemmer(algorithm).stemWord(word) or word if algorithm else word


def _algorithm(word: str, group: str) -> str:
    defaults = ((name, default) for name, first, last, default in _SCRIPTS if first <= word[0] <= last)
    script, default = next(defaults, ("", ""))
    algorithm, script_of_language = _LANGUAGES.get(group, ("", ""))
    return algorithm if script and script == script_of_language else default


def _stemmer(algorithm: str) -> snowballstemmer.basestemmer.BaseStemmer:
    """Return the stemmer of this thread: stemmers are not thread-safe, since they store the current word."""
    stemmers: dict[str, snowballstemmer.basestemmer.BaseStemmer] = _thread.__dict__
    if algorithm not in stemmers:
        stemmers[algorithm] = snowballstemmer.stemmer(algorithm)
    return stemmers[algorithm]


# Terms

# The rest of an entry is not searched; these are some thirty printed pages. PostgreSQL counts positions up to 16,383
# and accepts 1 MB of terms; both limits together stay below that.
MAX_TERMS = 16_000
MAX_CHARACTERS = 100_000
MAX_TITLE_TERMS = 300
# The rest of a query is ignored.
MAX_QUERY_CHARACTERS = 2_000
MAX_QUERY_TERMS = 64
# The star after a shorter prefix is ignored: too many words begin with one letter.
MIN_PREFIX = 2
# Shorter stems are not searched for in place of a prefix.
MIN_STEM = 3
# Longer words are split.
MAX_WORD = 40
# Words of each group of languages whose terms are kept in memory.
MAX_KNOWN_TERMS = 1 << 14

# Scripts written without blanks between words, and Hangul, whose words include particles: every two adjacent
# characters are a term, so that any part of a text is found without a dictionary.
UNSPACED = (
    "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3005-\u3007\u3041-\u309f\u30a1-\u30fa\u30fc-\u30ff\u3105-\u312f"
    "\u31f0-\u31ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7a3\uf900-\ufaff\U00020000-\U0003ffff"
)
# Vowel signs and accents inside words, which `\w` leaves out.
_MARKS = (
    "\u0300-\u036f\u0483-\u0489\u0591-\u05bd\u05bf\u05c1\u05c2\u05c4\u05c5\u05c7\u0610-\u061a\u064b-\u065f\u0670"
    "\u06d6-\u06dc\u06df-\u06e8\u06ea-\u06ed\u0711\u0730-\u074a\u07a6-\u07b0\u07eb-\u07f3\u0816-\u082d\u08d3-\u0963"
    "\u0981-\u0dff\u0f18-\u0f39\u0f71-\u0fbc\u1ab0-\u1aff\u1b00-\u1bff\u1dc0-\u1dff\u20d0-\u20f0\ufe20-\ufe2f"
)
_EMOJI = "\u2600-\u27bf\U0001f000-\U0001faff"
_SPECIAL = re.compile(rf"[{UNSPACED}{_MARKS}{_EMOJI}]")
_IS_UNSPACED = re.compile(rf"[{UNSPACED}]")
_SIMPLE_WORD = re.compile(rf"\w{{1,{MAX_WORD}}}")
_RUN = re.compile(rf"[\w{_MARKS}]+|[{_EMOJI}]")
_PART_OF_RUN = re.compile(rf"[{UNSPACED}]+|(?:(?![{UNSPACED}]).){{1,{MAX_WORD}}}")

# Latin, Greek and Cyrillic accents, Hebrew and Arabic vowel points: users leave them out of queries.
# The exception is й, a letter of its own that Russian endings have.
_ACCENTS = re.compile(
    "(?!(?<=и)\u0306)[\u0300-\u036f\u0591-\u05bd\u05bf\u05c1\u05c2\u05c4\u05c5\u05c7\u0640\u064b-\u0652]+"
)
_INVISIBLE = re.compile("[\u00ad\u200b-\u200d\u2060\ufe0e\ufe0f\ufeff]+")
# Compatibility folding would join the first two to the word before them; an underscore does not count as a letter.
_SEPARATING = re.compile("[™℠_]")

_QUOTES = dict.fromkeys(map(ord, "“”„‟«»＂"), '"')
# Signs that separate words. The rest of the syntax of `tsquery`, which this form of queries does not have.
_SIGNS = "!&|()"
_SKIPPED = re.compile(rf"[\s{_SIGNS}]+")
_QUERY_PART = re.compile(rf'"([^"]*)"?(\*?)|(:*[^\s":{_SIGNS}]*)')
# Not part of a word, and with something behind it.
_OR = re.compile(r"or(?![-\w]).\s*\S", re.IGNORECASE | re.DOTALL)
# The stem of a word with one of these endings may be shorter than a prefix of the word.
_ENDINGS = (
    "s", "es", "ed", "ing", "ings", "er", "ers", "ly", "ness", "ful", "fulness", "ment", "ments", "able", "ability",
    "ive", "ity", "ous", "ion", "ions", "ation", "ations", "ational", "ize", "izing", "ized", "ization",
)  # fmt: skip
_LATIN_LETTERS = "abcdefghijklmnopqrstuvwxyz"
_CYRILLIC_LETTERS = "".join(map(chr, range(0x430, 0x450)))


class Phrase(Struct, frozen=True):
    """Terms that follow each other."""

    terms: tuple[str, ...]
    ends_with_prefix: bool = False
    """Whether the last one stands for all words that begin with it."""


class SearchQuery(Struct, frozen=True):
    """A parsed query. Each inner tuple holds alternatives: it matches if any of its phrases does.

    required: all must match. excluded: none may match. If there is neither, nor alternatives, it matches nothing.
    """

    required: tuple[tuple[Phrase, ...], ...] = ()
    excluded: tuple[tuple[Phrase, ...], ...] = ()
    alternatives: tuple[SearchQuery, ...] = ()
    """Queries joined by OR, of which one must match; then the query itself requires and excludes nothing."""

    @property
    def wanted(self) -> tuple[Phrase, ...]:
        """The phrases that a matching text may contain: all but the excluded ones."""
        own = tuple(phrase for any_of in self.required for phrase in any_of)
        return own + tuple(phrase for each in self.alternatives for phrase in each.wanted)


def terms(text: str, group: str = "") -> list[str]:
    """Return the terms of a text in order, for the index: they hold letters, digits, marks and emoji only.

    group: the group of languages that `group_of` returns.
    """
    folded = _folded(text[:MAX_CHARACTERS])[:MAX_CHARACTERS]
    if folded.isascii() or not _SPECIAL.search(folded):
        return list(map(_known_terms(group).__getitem__, _SIMPLE_WORD.findall(folded)[:MAX_TERMS]))
    return [term for word in _words(folded) for term in _terms_of(word, group)][:MAX_TERMS]


def parse_query(query: str, group: str = "") -> SearchQuery:
    """Return the parsed query. Never fails: unknown syntax is read as words, or ignored. group: as in `terms`."""
    found: list[SearchQuery] = []
    required: list[tuple[Phrase, ...]] = []
    excluded: list[tuple[Phrase, ...]] = []
    term_count = 0
    for operand in _operands(query[:MAX_QUERY_CHARACTERS].translate(_QUOTES)):
        any_of = alternatives(operand.text, group, is_prefix=operand.is_prefix)
        term_count += sum(len(phrase.terms) for phrase in any_of)
        if term_count > MAX_QUERY_TERMS:
            break
        if operand.is_after_or:
            found.append(_conjunction(required, excluded))
            required, excluded = [], []
        if any_of:
            (excluded if operand.is_negated else required).append(any_of)
    found.append(_conjunction(required, excluded))
    # Words without letters and digits count as not written, and so does an OR next to nothing else.
    found = [each for each in dict.fromkeys(found) if each != SearchQuery()]
    return SearchQuery(alternatives=tuple(found)) if len(found) > 1 else next(iter(found), SearchQuery())


class _Operand(NamedTuple):
    """A word or the words in quotes of a query."""

    text: str
    is_prefix: bool
    is_negated: bool
    is_after_or: bool


def _operands(query: str) -> Iterator[_Operand]:
    at = _skip(query, 0)
    # An OR is a word where an operand has to come: at the beginning, and behind a minus or another OR.
    expects_operand, is_negated, is_after_or = True, False, False
    while at < len(query):
        if not expects_operand and _OR.match(query, at):
            expects_operand, is_after_or, at = True, True, _skip(query, at + 2)
        elif query[at] == "-":
            expects_operand, is_negated, at = True, not is_negated, _skip(query, at + 1)
        else:
            part = cast("re.Match[str]", _QUERY_PART.match(query, at))
            quoted, star, word = part.groups()
            text = word if quoted is None else quoted
            yield _Operand(text, bool(star) or (quoted is None and text.endswith("*")), is_negated, is_after_or)
            at = _skip(query, part.end())
            expects_operand, is_negated, is_after_or = False, False, False


def _skip(query: str, at: int) -> int:
    skipped = _SKIPPED.match(query, at)
    return skipped.end() if skipped else at


def _conjunction(required: list[tuple[Phrase, ...]], excluded: list[tuple[Phrase, ...]]) -> SearchQuery:
    return SearchQuery(tuple(dict.fromkeys(required)), tuple(dict.fromkeys(excluded)))


def alternatives(text: str, group: str, *, is_prefix: bool) -> tuple[Phrase, ...]:
    """Return the phrases of which a text must have one to contain these words next to each other; () without words.

    group: as in `terms`. is_prefix: whether the last word stands for all words that begin with it.
    """
    words = _words(_folded(text))[:MAX_QUERY_TERMS]
    if not words:
        return ()
    start = tuple(term for word in words[:-1] for term in _terms_of(word, group))
    last = words[-1]
    if _IS_UNSPACED.match(last):
        # A single character is the prefix of a pair. Of several, the pairs suffice without the last single character.
        return (Phrase((*start, *(_terms_of(last, group)[:-1] or last)), ends_with_prefix=len(last) == 1),)
    if not is_prefix:
        return (Phrase((*start, _term(last, group))),)
    plain = _plain(last)
    if len(plain) < MIN_PREFIX:
        return (Phrase((*start, plain)),)
    return (
        Phrase((*start, plain), ends_with_prefix=True),
        *(Phrase((*start, other)) for other in _shorter_stems(plain, group)),
    )


def _shorter_stems(prefix: str, group: str) -> Iterable[str]:
    """Return stems of words with this prefix that are shorter than it: `relation*` must find `relations` ("relat")."""
    if not group and prefix.isascii():
        endings = {
            ending[cut:] for ending in _ENDINGS for cut in range(len(ending) + 1) if prefix.endswith(ending[:cut])
        }
    else:
        # There is no list of endings: with one more letter added, the stemmer recognizes some of them.
        endings = set(_LATIN_LETTERS if prefix.isascii() else _CYRILLIC_LETTERS)
    guesses = {stem(prefix + ending, group) for ending in endings}
    stems = {guess for guess in guesses if len(guess) >= MIN_STEM} | {stem(prefix, group)}
    return sorted(found for found in stems if not found.startswith(prefix))


def _words(folded: str) -> list[str]:
    """Return words, emoji, and whole runs of characters of scripts without blanks."""
    if not _SPECIAL.search(folded):
        return _SIMPLE_WORD.findall(folded)
    return list(chain.from_iterable(map(_PART_OF_RUN.findall, _RUN.findall(folded))))


def _terms_of(word: str, group: str) -> list[str]:
    if _IS_UNSPACED.match(word):
        # Pairs, and the last character alone, so that a query for a single character finds it too.
        return [word[at : at + 2] for at in range(len(word))]
    return [_term(word, group)]


class _KnownTerms(dict[str, str]):
    """Terms by word, in a group of languages. A dictionary takes a third of the time of `lru_cache`."""

    def __init__(self, group: str) -> None:
        super().__init__()
        self._group = group

    def __missing__(self, word: str) -> str:
        if len(self) >= MAX_KNOWN_TERMS:
            # The stems stay known.
            self.clear()
        term = self[word] = stem(_plain(word), self._group)
        return term


@lru_cache(maxsize=64)
def _known_terms(group: str) -> _KnownTerms:
    return _KnownTerms(group)


def _term(word: str, group: str) -> str:
    return _known_terms(group)[word]


def _plain(word: str) -> str:
    if word.isascii():
        return word
    without_accents = _ACCENTS.sub("", unicodedata.normalize("NFD", word))
    return unicodedata.normalize("NFC", without_accents) or word


def _folded(text: str) -> str:
    if text.isascii():
        return text.lower().replace("_", " ")
    separated = _SEPARATING.sub(" ", text)
    return _INVISIBLE.sub("", unicodedata.normalize("NFKC", separated).casefold())
