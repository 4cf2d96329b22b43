"""The beginning of an article, for lists: a line of its text, and its first image."""

from __future__ import annotations

import re

from tidings.content.cleaning.text import text_of

LENGTH = 180
# Characters of a long article that are read; most have their first words and their first image there.
_BEGINNING = 3_000
_IMAGE = re.compile(r'<img [^>]*?src="(https?://[^"]+)"[^>]*>')
# Services that draw formulas: such an image says nothing about an article.
_FORMULA = re.compile(r"latex|codecogs\.com|/math/render/|/mathtex|/mimetex", re.IGNORECASE)


def excerpt(html: str, length: int = LENGTH) -> str:
    """Return the first `length` characters of the text, cut between words. html: as `cleaning.clean` wrote it."""
    text = text_of(_whole_tags(html[:_BEGINNING]))
    if len(text) < length < len(html):
        text = text_of(html)
    if len(text) <= length:
        return text
    cut = text[:length].rpartition(" ")[0]
    return (cut if len(cut) > length // 2 else text[:length]) + "…"


def first_image(html: str) -> str:
    """Return the URL of the first image near the beginning, still escaped as in HTML; "" if there is none.

    Formulas are left out.
    """
    found = (match[1] for match in _IMAGE.finditer(html, 0, _BEGINNING) if not _FORMULA.search(match[0]))
    return next(found, "")


def without_title(text: str, title: str) -> str:
    """Return a text without its beginning if that is the title: entries without a title are named after their text."""
    stem = title.removesuffix("…").rstrip()
    if not stem or not text.startswith(stem) or (stem == title and text != title):
        return text
    rest = text[len(stem) :].strip()
    return f"…{rest}" if rest.strip("…") else ""


def _whole_tags(html: str) -> str:
    """Return the HTML without an incomplete tag at its end."""
    return html[: html.rfind("<")] if html.rfind("<") > html.rfind(">") else html
