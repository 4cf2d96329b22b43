"""Podlove simple chapters: chapters of an episode within its feed. Source: https://podlove.org/simple-chapters/"""

from __future__ import annotations

import re
from typing import Final

from tidings.content.model import MAX_CHAPTERS, Chapter, chapter_title
from tidings.content.urls import web_url
from tidings.content.xml.elements import ElementFields, attribute
from tidings.content.xml.namespaces import TagNames

# "Normal play time" (RFC 2326, section 3.6).
_TIME: Final = re.compile(r"(?:(?:(\d{1,4}):)?(\d{1,2}):)?(\d{1,6}(?:\.\d{1,9})?)")


def simple_chapters(fields: ElementFields, names: TagNames) -> tuple[Chapter, ...]:
    """Return the chapters of an item by their times; those without a time are left out."""
    if "psc:chapters" not in fields:
        return ()
    chapters = [
        Chapter(start_s, chapter_title(attribute(one, "title")), web_url(attribute(one, "href"), ""))
        for element in fields["psc:chapters"]
        for one in ElementFields(element, names).get("psc:chapter", ())[:MAX_CHAPTERS]
        if (start_s := parse_play_time(attribute(one, "start"))) is not None
    ]
    return tuple(sorted(chapters, key=lambda one: one.start_s)[:MAX_CHAPTERS])


def parse_play_time(written: str) -> float | None:
    """Return the seconds of `[[hours:]minutes:]seconds[.fraction]`; None for any other text."""
    match = _TIME.fullmatch(written.strip())
    if not match:
        return None
    return int(match[1] or 0) * 3600 + int(match[2] or 0) * 60 + float(match[3])
