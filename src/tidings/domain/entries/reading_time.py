"""Estimates how long an article takes to read."""

from __future__ import annotations

import re
from collections.abc import Iterable
from itertools import islice

from tidings.content.cleaning.text import count_words, normalize_words, strip_tags, unescape_text
from tidings.domain.entries.entries import Enclosure, is_playable

# The number of letters from which the language of a long article is guessed.
SAMPLE_LETTERS = 100

# Han with its extensions, kana, bopomofo, hangul, yi: scripts that are read by the character.
_CJK = re.compile(
    "[\u1100-\u11ff\u2e80-\u2fdf\u3005-\u3007\u3021-\u3029\u3038-\u303b\u3041-\u30ff\u3105-\u312f\u3131-\u318e"
    "\u31a0-\u31bf\u31f0-\u31ff\u3400-\u4dbf\u4e00-\u9fff\ua000-\ua4cf\ua960-\ua97f\uac00-\ud7ff\uf900-\ufaff"
    "\uff66-\uffdc\U0001b000-\U0001b16f\U00020000-\U0003134f]"
)
_LETTERS = re.compile(rf"[^\W\d_]{{1,{SAMPLE_LETTERS}}}")


def reading_minutes(text_or_html: str, *, words_per_minute: int = 265, cjk_per_minute: int = 500) -> int:
    """Returns the result of `minutes_of` for plain text, or for HTML as `cleaning.clean` wrote it."""
    return minutes_of(strip_tags(text_or_html), words_per_minute=words_per_minute, cjk_per_minute=cjk_per_minute)


def may_be_duration(reading_time: int, enclosures: Iterable[Enclosure]) -> bool:
    """Returns whether a reading time may be the duration of an episode, which does not depend on its text."""
    return reading_time > 0 and any(is_playable(enclosure.mime_type) for enclosure in enclosures)


def minutes_of(text: str, *, words_per_minute: int, cjk_per_minute: int) -> int:
    """Returns whole minutes, rounded up; 0 for a text without words.

    text: the text of clean HTML, as in `cleaning.CleanedHtml`. words_per_minute: the speed in most languages.
    cjk_per_minute: characters per minute for Chinese, Japanese and Korean, which is assumed if more than half of the
    first letters are of their scripts. Both at least 1.
    """
    if _is_cjk(text):
        words = normalize_words(text)
        return _minutes(len(words) - words.count(" "), cjk_per_minute)
    return _minutes(count_words(text), words_per_minute)


def _is_cjk(text: str) -> bool:
    if text.isascii():
        return False
    # The beginning nearly always has enough letters; up to four may be part of a truncated character reference.
    letters = _first_letters(text[: 2 * SAMPLE_LETTERS])
    if len(letters) < SAMPLE_LETTERS + 4:
        letters = _first_letters(text)
    sample = letters[:SAMPLE_LETTERS]
    return 2 * len(_CJK.findall(sample)) > len(sample)


def _first_letters(text: str) -> str:
    """Returns a few more letters than the sample needs; all if there are fewer."""
    runs = _LETTERS.finditer(unescape_text(text))
    return "".join(run[0] for run in islice(runs, SAMPLE_LETTERS + 4))


def _minutes(amount: int, per_minute: int) -> int:
    return -(-amount // max(per_minute, 1))
