"""The beginning of an article, for lists: a line of its text, and its first picture."""

from __future__ import annotations

import re

from tidings.domain.cleaning.text import text_of

LENGTH = 180
# Of a long article so much is looked at; most have their first words and their first picture there.
_BEGINNING = 3_000
_PICTURE = re.compile(r'<img [^>]*?src="(https?://[^"]+)"')


def excerpt(html: str, length: int = LENGTH) -> str:
    """html: as `cleaning.clean` wrote it. Cut between words where there are any."""
    text = text_of(_whole_tags(html[:_BEGINNING]))
    if len(text) < length < len(html):
        text = text_of(html)
    if len(text) <= length:
        return text
    cut = text[:length].rpartition(" ")[0]
    return (cut if len(cut) > length // 2 else text[:length]) + "…"


def picture(html: str) -> str:
    """The address of the first one near the beginning, still escaped as in HTML; "" when there is none."""
    found = _PICTURE.search(html, 0, _BEGINNING)
    return found[1] if found else ""


def _whole_tags(html: str) -> str:
    """Without the beginning of a tag at its end."""
    return html[: html.rfind("<")] if html.rfind("<") > html.rfind(">") else html
