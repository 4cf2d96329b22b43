"""Guessing an encoding from the bytes, for documents that name none or a wrong one."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Final

from msgspec import Struct

# Enough letters to tell scripts apart; more only costs time.
_SAMPLE: Final = 80_000
_LONGEST_CHARACTER: Final = 4
_HIGH_RUN: Final = re.compile(rb"[\x80-\xff]{2,}")
_HIGH: Final = bytes(range(128, 256))
# What part of the bytes above 127 stands beside another one, when they are words rather than accents.
_IN_WORDS: Final = 0.8


class Candidate(Struct, frozen=True):
    """is_everyday: whether a letter belongs to the everyday ones of the script the codec is for.

    convincing: the share of such letters among those above ASCII that settles it.
    """

    codec: str
    is_everyday: Callable[[str], bool]
    convincing: float


def guess(body: bytes) -> str | None:
    """The first convincing codec, None when none is.

    Codecs with several bytes per character come first and have to fit without an error, which chance hardly ever
    does. Those with one byte per character always fit; they count only where whole words are above ASCII, and the
    one with the most everyday letters wins.
    """
    sample = body[:_SAMPLE]
    for candidate in _MULTI_BYTE:
        if _share(_decoded(sample, candidate.codec), candidate) >= candidate.convincing:
            return candidate.codec
    if _share_in_words(sample) < _IN_WORDS:
        return None
    shares = [(_share(sample.decode(each.codec, "replace"), each), each) for each in _SINGLE_BYTE]
    share, best = max(shares, key=lambda pair: pair[0])
    return best.codec if share >= best.convincing else None


def _decoded(sample: bytes, codec: str) -> str:
    """The sample as text, "" if it does not fit."""
    try:
        return sample.decode(codec)
    except UnicodeDecodeError as error:
        # The sample may end inside a character.
        if error.start < _SAMPLE - _LONGEST_CHARACTER:
            return ""
        return sample[: error.start].decode(codec, "replace")


def _share(text: str, candidate: Candidate) -> float:
    foreign = [letter for letter in text if letter > "\x7f"]
    return sum(map(candidate.is_everyday, foreign)) / len(foreign) if foreign else 0.0


def _share_in_words(sample: bytes) -> float:
    high = len(sample) - len(sample.translate(None, _HIGH))
    return sum(len(run) for run in _HIGH_RUN.findall(sample)) / high if high else 0.0


def _between(first: str, last: str) -> Callable[[str], bool]:
    return lambda letter: first <= letter <= last


def _simplified(letter: str) -> bool:
    # The first level of GB 2312 holds the 3,755 everyday characters, in rows B0 to D7.
    if not "\u4e00" <= letter <= "\u9fff":
        return letter in "，。、：；！？（）《》“”　"
    code = letter.encode("gb2312", "ignore")
    return len(code) == 2 and 0xB0 <= code[0] <= 0xD7


def _traditional(letter: str) -> bool:
    # The first level of Big5 holds the 5,401 everyday characters, in rows A4 to C6.
    if not "\u4e00" <= letter <= "\u9fff":
        return letter in "，。、：；！？（）《》「」　"
    code = letter.encode("big5", "ignore")
    return len(code) == 2 and 0xA4 <= code[0] <= 0xC6


_kana = _between("\u3040", "\u30ff")
_cyrillic = _between("\u0430", "\u044f")

# Korean before Chinese: its bytes always make everyday Chinese characters as well, which is not so the other way.
_MULTI_BYTE: Final = (
    Candidate("cp932", _kana, 0.25),
    Candidate("euc_jp", _kana, 0.25),
    Candidate("cp949", _between("\uac00", "\ud7a3"), 0.9),
    Candidate("gb18030", _simplified, 0.7),
    Candidate("big5hkscs", _traditional, 0.7),
)
# Hebrew before Russian, whose small letters include the places of all Hebrew ones.
_SINGLE_BYTE: Final = (
    Candidate("cp1255", _between("\u05d0", "\u05ea"), 0.9),
    Candidate("cp1251", _cyrillic, 0.7),
    Candidate("koi8_r", _cyrillic, 0.7),
    Candidate("cp874", _between("\u0e01", "\u0e4e"), 0.9),
    Candidate("cp1253", _between("\u03ac", "\u03ce"), 0.7),
    Candidate("cp1256", _between("\u0621", "\u064a"), 0.7),
)
