"""Estimates how long an article takes to read."""

from __future__ import annotations

import re
from collections.abc import Iterable

from tidings.content.cleaning.text import count_words, strip_tags
from tidings.content.videos import youtube_id
from tidings.domain.entries.entries import Enclosure, is_playable

# Han with its extensions, kana, bopomofo, hangul, yi and their punctuation: scripts that are read by the character.
_CJK_RUN = re.compile(
    "(?:[\u1100-\u11ff\u2e80-\u303f\u3041-\u318e\u31a0-\u4dbf\u4e00-\u9fff\ua000-\ua4cf\ua960-\ua97f\uac00-\ud7ff"
    "\uf900-\ufaff\ufe30-\ufe4f\uff01-\uffdc\U0001b000-\U0001b16f\U00020000-\U0003134f][\u00b7\u2010-\u2027]*)+"
)
# Thai, Lao, Burmese, Khmer: scripts without blanks between words, of about five characters each.
_UNSPACED_RUN = re.compile("[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u19e0-\u19ff\ua9e0-\ua9ff\uaa60-\uaa7f]+")
_CHARS_PER_UNSPACED_WORD = 5


def reading_minutes(text_or_html: str, *, words_per_minute: int = 265, cjk_per_minute: int = 500) -> int:
    """Return the result of `minutes_of` for plain text, or for HTML as `cleaning.clean` wrote it."""
    return minutes_of(strip_tags(text_or_html), words_per_minute=words_per_minute, cjk_per_minute=cjk_per_minute)


def may_be_duration(reading_time: int, enclosures: Iterable[Enclosure], url: str) -> bool:
    """Return whether a reading time may be the duration of an episode or a video, which does not depend on its text.

    url: the entry's. The duration of a video is known only if its site was asked.
    """
    is_film = any(is_playable(enclosure.mime_type) for enclosure in enclosures) or bool(youtube_id(url))
    return reading_time > 0 and is_film


def minutes_of(text: str, *, words_per_minute: int, cjk_per_minute: int) -> int:
    """Return whole minutes, rounded up; 0 for a text without words. Each script counts in its own way.

    text: the text of clean HTML, as in `cleaning.CleanedHtml`. words_per_minute: the speed in most scripts.
    cjk_per_minute: characters per minute of Chinese, Japanese and Korean. Both at least 1.
    """
    characters = 0
    if not text.isascii():
        text, characters = _without(_CJK_RUN, text)
    words = 0
    if not text.isascii():
        text, unspaced = _without(_UNSPACED_RUN, text)
        words = -(-unspaced // _CHARS_PER_UNSPACED_WORD)
    words += count_words(text)
    # In whole numbers: characters / cjk_per_minute + words / words_per_minute.
    amount = characters * max(words_per_minute, 1) + words * max(cjk_per_minute, 1)
    return -(-amount // (max(words_per_minute, 1) * max(cjk_per_minute, 1)))


def _without(runs: re.Pattern[str], text: str) -> tuple[str, int]:
    """Return the text without the characters of a script, and how many there were; blanks do not count."""
    if not runs.search(text):
        return text, 0
    removed = len(text) - len(runs.sub("", text))
    return runs.sub(" ", text), removed - text.count("\u3000")
