"""How long an article takes to read."""

from __future__ import annotations

import re
from itertools import islice

from tidings.domain.cleaning.text import count_words, normalize_words, strip_tags, unescape_text

# Enough to tell the language, wherever a long article goes afterwards.
SAMPLE_LETTERS = 100

# Han with its extensions, kana, bopomofo, hangul, yi: scripts that are read by the character.
_CJK = re.compile(
    "[\u1100-\u11ff\u2e80-\u2fdf\u3005-\u3007\u3021-\u3029\u3038-\u303b\u3041-\u30ff\u3105-\u312f\u3131-\u318e"
    "\u31a0-\u31bf\u31f0-\u31ff\u3400-\u4dbf\u4e00-\u9fff\ua000-\ua4cf\ua960-\ua97f\uac00-\ud7ff\uf900-\ufaff"
    "\uff66-\uffdc\U0001b000-\U0001b16f\U00020000-\U0003134f]"
)
_LETTERS = re.compile(rf"[^\W\d_]{{1,{SAMPLE_LETTERS}}}")


def reading_minutes(text_or_html: str, *, words_per_minute: int = 265, cjk_per_minute: int = 500) -> int:
    """As `minutes_of`; text_or_html: plain text, or HTML as `cleaning.clean` wrote it."""
    return minutes_of(strip_tags(text_or_html), words_per_minute=words_per_minute, cjk_per_minute=cjk_per_minute)


def minutes_of(text: str, *, words_per_minute: int, cjk_per_minute: int) -> int:
    """Whole minutes, rounded up; 0 when there is nothing to read.

    text: of clean HTML, as `cleaning.Clean` has it.
    words_per_minute: of most languages. cjk_per_minute: characters of Chinese, Japanese and Korean, for text
    of whose first letters more than half are of their scripts. Both at least 1.
    """
    if _is_cjk(text):
        words = normalize_words(text)
        return _minutes(len(words) - words.count(" "), cjk_per_minute)
    return _minutes(count_words(text), words_per_minute)


def _is_cjk(text: str) -> bool:
    if text.isascii():
        return False
    # The beginning nearly always has letters enough; up to four may be what was cut off from a character reference.
    letters = _first_letters(text[: 2 * SAMPLE_LETTERS])
    if len(letters) < SAMPLE_LETTERS + 4:
        letters = _first_letters(text)
    sample = letters[:SAMPLE_LETTERS]
    return 2 * len(_CJK.findall(sample)) > len(sample)


def _first_letters(text: str) -> str:
    """Rather more of them than needed; all where there are fewer."""
    runs = _LETTERS.finditer(unescape_text(text))
    return "".join(run[0] for run in islice(runs, SAMPLE_LETTERS + 4))


def _minutes(amount: int, per_minute: int) -> int:
    return -(-amount // max(per_minute, 1))
