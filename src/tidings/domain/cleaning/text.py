"""The plain text of cleaned HTML: for search, excerpts and reading time."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

_AT_ONCE: Final = 20_000

# Tags that do not end a word: "<b>T</b>idings" is one.
_INLINE_TAG = re.compile(
    r"</?(?:a|abbr|acronym|b|bdi|bdo|cite|code|del|dfn|em|i|ins|kbd|mark|q|s|samp|small|span|strong|sub|sup|time|u|var"
    r"|wbr)(?: [^>]*+)?>"
)
_TAG = re.compile(r"<[^>]*+>")


def text_of(html: str) -> str:
    """Words of the visible text, with one blank between them.

    html: as `clean` wrote it. Its tags hold no angle brackets and it has four kinds of character references,
    so no parser is needed. Of other HTML the result may miss some text; it is plain text all the same.
    """
    if "<" in html:
        html = _TAG.sub(" ", _INLINE_TAG.sub("", html))
    if "&" in html:
        html = html.replace("&lt;", "<").replace("&gt;", ">").replace("&quot;", '"').replace("&amp;", "&")
    return " ".join(_lines(html))


def _lines(text: str) -> Iterator[str]:
    """The words with one blank between them, so many at a time: in a list they take ten times the memory."""
    words = text.split(None, _AT_ONCE)
    while len(words) > _AT_ONCE:
        text = words.pop()
        yield " ".join(words)
        words = text.split(None, _AT_ONCE)
    yield " ".join(words)
