"""Chapters of episodes: the JSON of Podcasting 2.0, and what is stored of chapters in the feed itself.

Source: https://github.com/Podcastindex-org/podcast-namespace/blob/main/chapters/jsonChapters.md
"""

from __future__ import annotations

import codecs
from collections.abc import Iterable
from typing import Any, Final

import msgspec

from tidings.base.errors import InvalidInput
from tidings.base.messages import msg
from tidings.base.url_schemes import safe_href
from tidings.content.model import MAX_CHAPTERS, Chapter, chapter_title

_MAX_START_S: Final = 10**7


def start_seconds(value: Any) -> float | None:
    """Return the seconds; None unless `value` is a number from 0 to several hundred days."""
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value <= _MAX_START_S:
        return None
    return float(value)


def read_chapters(body: bytes) -> list[Chapter]:
    """Return the chapters of a document in the order of their times. Raises InvalidInput if it has none."""
    try:
        document = msgspec.json.decode(body.removeprefix(codecs.BOM_UTF8))
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise InvalidInput(msg("The file of the chapters is not JSON.")) from error
    listed = document.get("chapters") if isinstance(document, dict) else None
    chapters = sorted_chapters(_chapter(one) for one in (listed if isinstance(listed, list) else ())[:MAX_CHAPTERS])
    if not chapters:
        raise InvalidInput(msg("The file of the chapters has none."))
    return chapters


def sorted_chapters(chapters: Iterable[Chapter | None]) -> list[Chapter]:
    return sorted((one for one in chapters if one), key=lambda one: one.start_s)


def stored_chapters(text: str) -> list[Chapter]:
    """Return the chapters that `chapters_text` wrote."""
    return msgspec.json.decode(text, type=list[Chapter]) if text else []


def chapters_text(chapters: Iterable[Chapter]) -> str:
    """Return the text to store; "" for none."""
    listed = list(chapters)
    return msgspec.json.encode(listed).decode() if listed else ""


def _chapter(one: Any) -> Chapter | None:
    """Return None for what is not a chapter, or not in the table of contents."""
    if not isinstance(one, dict) or one.get("toc") is False:
        return None
    start, title, url = one.get("startTime"), one.get("title"), one.get("url")
    if isinstance(start, str):
        try:
            start = float(start)
        except ValueError:
            return None
    seconds = start_seconds(start)
    if seconds is None:
        return None
    name = chapter_title(title) if isinstance(title, str) else ""
    return Chapter(seconds, name, safe_href(url) if isinstance(url, str) else "")
