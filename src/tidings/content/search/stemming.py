"""Stemming: reduces the forms of a word to one stem; `connected` and `connections` both become `connect`.

The algorithms are Snowball's (https://snowballstem.org). A stem need not be a word; it is only the same for all forms.
A word is stemmed in the language of its entry if that language has an algorithm and is written in the script of the
word; otherwise in the default language of the script, so that English words in a Russian text get English stems.
"""

from __future__ import annotations

import re
import threading
from functools import lru_cache
from typing import Final

import snowballstemmer

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
