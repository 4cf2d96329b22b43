"""Guesses the encoding of documents that declare none or a wrong one, by the letters in them."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable
from typing import Final

from msgspec import Struct

# Bytes: enough letters to distinguish scripts.
_SAMPLE_BYTES: Final = 80_000
_MAX_CHARACTER_BYTES: Final = 4
_NON_ASCII_RUN: Final = re.compile(rb"[\x80-\xff]{2,}")
_NON_ASCII_BYTES: Final = bytes(range(128, 256))
# If at least this share of the bytes above 127 has a neighbour above 127, they form words, not accents.
_MIN_SHARE_IN_WORDS: Final = 0.8
# Fewer bytes above 127 do not contradict a label.
_MIN_OTHER_BYTES: Final = 30
_FOREIGN_RUN: Final = re.compile(r"[^\x00-\x7f]+")
_TYPOGRAPHIC: Final = frozenset("\xa0“”„‚‘’‹›«»–—…•·°§©®™€£¡¿")
# Fewer letters above ASCII say nothing about the language.
_MIN_LATIN_LETTERS: Final = 4
_MIN_LATIN_SHARE: Final = 0.9
_MIN_LATIN_LEAD: Final = 0.05
_WESTERN: Final = "cp1252"
# For each codec, the letters above ASCII of the languages that are written in it, in lower case.
_LATIN_LETTERS: Final = {
    _WESTERN: (
        "àâæçéèêëîïôœùûüÿ", "äöüßé", "áéíñóúüçà", "áâãàçéêíóôõúü", "àèéìíòóùú", "éëïöüáóèê", "åäöéü", "æøåéöü",
        "áéíóúýþæöð", "àçéèíïóòúüñ",
    ),
    "cp1250": (
        "áčďéěíňóřšťúůýž", "áäčďéíĺľňóôŕšťúýž", "ąćęłńóśźż", "áéíóöőúüű", "ăâîşţ", "čćđšž",
    ),
    "iso8859_2": (
        "áčďéěíňóřšťúůýž", "áäčďéíĺľňóôŕšťúýž", "ąćęłńóśźż", "áéíóöőúüű", "ăâîşţ", "čćđšž",
    ),
    "cp1254": ("çğıi̇öşüâîû",),
    "cp1257": ("ąčęėįšųūž", "āčēģīķļņšūž", "äõöüšž"),
}  # fmt: skip


class CharsetCandidate(Struct, frozen=True):
    """A codec for one script, and how to recognize a text in it."""

    codec: str
    is_common_letter: Callable[[str], bool]
    """Return whether a letter is one of the everyday letters of the script."""
    min_share: float
    """The minimum share of such letters among the letters above ASCII, 0 to 1."""


def guess_charset(body: bytes) -> str | None:
    """Return the first codec whose letters are common enough, None if there is none.

    Multi-byte codecs come first and must decode the sample without an error, which rarely happens by accident.
    Single-byte codecs decode everything; they count only where whole words are above ASCII, and the codec with
    the highest share of common letters wins. Latin scripts, whose letters are mostly ASCII, are told apart by the
    accented letters of their languages.
    """
    sample = body[:_SAMPLE_BYTES]
    for candidate in _MULTI_BYTE:
        if _common_letter_share(_decode_sample(sample, candidate.codec), candidate) >= candidate.min_share:
            return candidate.codec
    if _share_in_words(sample) < _MIN_SHARE_IN_WORDS:
        return _guess_latin(sample)
    shares = [(_common_letter_share(sample.decode(each.codec, "replace"), each), each) for each in _SINGLE_BYTE]
    share, best = max(shares, key=lambda pair: pair[0])
    return best.codec if share >= best.min_share else None


def choose_charset(body: bytes, codecs: list[str]) -> str:
    """Return the codec that makes most sense of the letters, the first one of several that make the same.

    codecs: at least one; each decodes the body.
    """
    guess = guess_charset(body)
    if guess in codecs:
        return guess
    sample = body[:_SAMPLE_BYTES]
    return max(codecs, key=lambda codec: _best_share(sample.decode(codec, "ignore")))


def guess_other_script(body: bytes) -> str | None:
    """Return the guessed codec if it is certain that the body is not in a Latin script, else None."""
    sample = body[:_SAMPLE_BYTES]
    if len(sample) - len(sample.translate(None, _NON_ASCII_BYTES)) < _MIN_OTHER_BYTES:
        return None
    guess = guess_charset(body) if _share_in_words(sample) >= _MIN_SHARE_IN_WORDS else None
    return None if guess in _LATIN_LETTERS else guess


def _best_share(text: str) -> float:
    """Return how common the letters above ASCII are in the script or the language that fits best, 0 to 1."""
    scripts = [_common_letter_share(text, candidate) for candidate in (*_MULTI_BYTE, *_SINGLE_BYTE)]
    return max(*scripts, *(_language_share(text, codec) for codec in _LATIN_LETTERS))


def _guess_latin(sample: bytes) -> str | None:
    """Return the codec in which all accented letters belong to one language; None for cp1252 or a tie."""
    scores = {codec: _language_share(sample.decode(codec, "replace"), codec) for codec in _LATIN_LETTERS}
    best = max(scores, key=lambda codec: scores[codec])
    is_clear = scores[best] >= _MIN_LATIN_SHARE and scores[best] > scores[_WESTERN] + _MIN_LATIN_LEAD
    return best if is_clear else None


def _language_share(text: str, codec: str) -> float:
    """Returns, for the language that fits best, which share of the characters above ASCII are its letters.

    Typographic characters between words count for no language, inside a word against all.
    """
    counts: Counter[str] = Counter()
    for run in _FOREIGN_RUN.finditer(text):
        start, end = run.span()
        is_inside_word = text[start - 1 : start].isalpha() and text[end : end + 1].isalpha()
        counts.update(each for each in run[0].lower() if each not in _TYPOGRAPHIC or (is_inside_word and each != "’"))
    total = counts.total()
    if total < _MIN_LATIN_LETTERS:
        return 0.0
    return max(sum(counts[letter] for letter in letters) for letters in _LATIN_LETTERS[codec]) / total


def _decode_sample(sample: bytes, codec: str) -> str:
    """Return the sample as text, "" if it is not valid in this codec."""
    try:
        return sample.decode(codec)
    except UnicodeDecodeError as error:
        # The sample may end inside a character.
        if error.start < _SAMPLE_BYTES - _MAX_CHARACTER_BYTES:
            return ""
        return sample[: error.start].decode(codec, "replace")


def _common_letter_share(text: str, candidate: CharsetCandidate) -> float:
    foreign = [letter for letter in text if letter > "\x7f"]
    return sum(map(candidate.is_common_letter, foreign)) / len(foreign) if foreign else 0.0


def _share_in_words(sample: bytes) -> float:
    high = len(sample) - len(sample.translate(None, _NON_ASCII_BYTES))
    return sum(len(run) for run in _NON_ASCII_RUN.findall(sample)) / high if high else 0.0


def _letter_range(first: str, last: str) -> Callable[[str], bool]:
    return lambda letter: first <= letter <= last


def _is_common_simplified(letter: str) -> bool:
    # The first level of GB 2312 holds the 3,755 everyday characters, in rows B0 to D7.
    if not "\u4e00" <= letter <= "\u9fff":
        return letter in "，。、：；！？（）《》“”　"
    code = letter.encode("gb2312", "ignore")
    return len(code) == 2 and 0xB0 <= code[0] <= 0xD7


def _is_common_traditional(letter: str) -> bool:
    # The first level of Big5 holds the 5,401 everyday characters, in rows A4 to C6.
    if not "\u4e00" <= letter <= "\u9fff":
        return letter in "，。、：；！？（）《》「」　"
    code = letter.encode("big5", "ignore")
    return len(code) == 2 and 0xA4 <= code[0] <= 0xC6


_is_kana = _letter_range("\u3040", "\u30ff")
_is_cyrillic = _letter_range("\u0430", "\u044f")

# Korean before Chinese: its bytes are everyday Chinese characters too, but not the reverse.
_MULTI_BYTE: Final = (
    CharsetCandidate("cp932", _is_kana, 0.25),
    CharsetCandidate("euc_jp", _is_kana, 0.25),
    CharsetCandidate("cp949", _letter_range("\uac00", "\ud7a3"), 0.9),
    CharsetCandidate("gb18030", _is_common_simplified, 0.7),
    CharsetCandidate("big5hkscs", _is_common_traditional, 0.7),
)
# Hebrew before Russian, whose small letters include the places of all Hebrew ones.
_SINGLE_BYTE: Final = (
    CharsetCandidate("cp1255", _letter_range("\u05d0", "\u05ea"), 0.9),
    CharsetCandidate("cp1251", _is_cyrillic, 0.7),
    CharsetCandidate("koi8_r", _is_cyrillic, 0.7),
    CharsetCandidate("cp874", _letter_range("\u0e01", "\u0e4e"), 0.9),
    CharsetCandidate("cp1253", _letter_range("\u03ac", "\u03ce"), 0.7),
    CharsetCandidate("cp1256", _letter_range("\u0621", "\u064a"), 0.7),
)
