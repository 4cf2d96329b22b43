"""What is attached to an entry: its enclosures, and the chapters of its episode.

Enclosures are recognised after the publisher has changed the entry. Chapters come from the feed itself, or as the JSON
of Podcasting 2.0.
Source: https://github.com/Podcastindex-org/podcast-namespace/blob/main/chapters/jsonChapters.md
"""

from __future__ import annotations

import codecs
from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from typing import Any, Final

import msgspec

from tidings.base.errors import InvalidInput
from tidings.base.messages import msg
from tidings.base.url_schemes import safe_href
from tidings.content.model import MAX_CHAPTERS, Chapter, ParsedEnclosure, chapter_title

# Enclosures


def match_enclosures(
    stored: Mapping[int, ParsedEnclosure], published: Sequence[ParsedEnclosure]
) -> dict[int, ParsedEnclosure]:
    """Return what each stored enclosure is now; enclosures that the entry does not have any more are left out.

    It is the one with the same URL; else one of the same kind (audio, image) with the same URL except for scheme and
    query, in which many podcasts have a new token in every document; else the entry's only one of the same type.

    stored: the stored enclosures, by id.
    """
    found: dict[int, ParsedEnclosure] = {}
    unmatched = dict.fromkeys(published)
    key_of: Callable[[ParsedEnclosure], Hashable]
    for key_of in (_url, _url_without_query, _type):
        stored_counts, published_counts = Counter(map(key_of, stored.values())), Counter(map(key_of, published))
        candidates = {
            key: id_
            for id_, enclosure in stored.items()
            if id_ not in found and stored_counts[key := key_of(enclosure)] == 1
        }
        for enclosure in list(unmatched):
            key = key_of(enclosure)
            if published_counts[key] == 1 and key in candidates:
                found[candidates[key]] = enclosure
                del unmatched[enclosure]
    return found


def _url(enclosure: ParsedEnclosure) -> str:
    return enclosure.url


def _url_without_query(enclosure: ParsedEnclosure) -> tuple[str, str]:
    """Return the URL without scheme and query, and the kind: a cover may have the path of its episode."""
    return enclosure.url.partition("?")[0].rpartition("://")[2], enclosure.mime_type.partition("/")[0]


def _type(enclosure: ParsedEnclosure) -> str:
    return enclosure.mime_type


# Chapters

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
