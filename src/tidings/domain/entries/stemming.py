"""Words reduced to what their forms have in common: `connected` and `connections` are both `connect`.

The algorithms are Snowball's (https://snowballstem.org). A stem is no word; it only has to be the same for all forms.
A word is stemmed in the language of its entry when that language has an algorithm and is written in the script of the
word; else in the usual language of the script, so that the English words of a Russian text have English stems.
"""

from __future__ import annotations

import re
import threading
from functools import lru_cache
from typing import Final

import snowballstemmer

# The script of a word, by its first letter: where the letters begin and end, and the algorithm that is used when the
# language says nothing. Arabic script is left alone then: its languages have too little in common.
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
# ISO 639 code: algorithm and script. Those that are the usual ones of their script anyway are left out.
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
_SAME: Final = {"nb": "no", "nn": "no", "in": "id", "ji": "yi", "mo": "ro"}

_DIGIT: Final = re.compile(r"\d")

_own = threading.local()


def group_of(language: str) -> str:
    """The language whose stems a text gets, as ISO 639 writes it; "" for the usual ones of each script.

    language: of an entry, as BCP 47 writes it: `de-AT`. English, Russian and what has no algorithm are in the group "".
    """
    code = language.partition("-")[0].lower()
    code = _SAME.get(code, code)
    return code if code in _LANGUAGES else ""


@lru_cache(maxsize=1 << 17)
def stem(word: str, group: str = "") -> str:
    """word: folded, without accents. group: as `group_of` returns it."""
    algorithm = "" if _DIGIT.search(word) else _algorithm(word, group)
    return _stemmer(algorithm).stemWord(word) or word if algorithm else word


def _algorithm(word: str, group: str) -> str:
    script, usual = next(((name, usual) for name, first, last, usual in _SCRIPTS if first <= word[0] <= last), ("", ""))
    algorithm, written_in = _LANGUAGES.get(group, ("", ""))
    return algorithm if script and script == written_in else usual


def _stemmer(algorithm: str) -> snowballstemmer.basestemmer.BaseStemmer:
    """Of this thread: a stemmer keeps the word that it is at."""
    made: dict[str, snowballstemmer.basestemmer.BaseStemmer] = _own.__dict__
    if algorithm not in made:
        made[algorithm] = snowballstemmer.stemmer(algorithm)
    return made[algorithm]
