"""Limits on how much of a document is parsed. Its size in memory depends on its elements more than on its length.

The limits are far above real feeds: the densest of 200 feeds has a tag or an attribute for every 27 bytes, the
longest has 1,046 entries.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import islice
from typing import Final

from msgspec.structs import replace

from tidings.content.model import ParsedEntry

MAX_ENTRIES: Final = 10_000
MAX_TAGS: Final = 1_000
# Tags of the feed are copied to each of its entries.
MAX_INHERITED_TAGS: Final = 50
MAX_ENCLOSURES: Final = 1_000
# Characters.
MAX_TITLE_CHARS: Final = 5_000
MAX_NAME_CHARS: Final = 500

# Elements, attributes or objects: this many, and one more for each so many characters.
_MIN_ELEMENT_LIMIT: Final = 30_000
_XML_CHARS_PER_ELEMENT: Final = 25
_JSON_CHARS_PER_ELEMENT: Final = 40
# Well-formed text of this length cannot exceed the limit: the shortest element takes four characters.
_ALWAYS_WITHIN_LIMIT_CHARS: Final = 4 * _MIN_ELEMENT_LIMIT

_XML: Final = re.compile(r"""<!\[CDATA\[|<[^/!?]|=\s*+["']""")
_XML_DAMAGED: Final = re.compile("<[^/]|=")
_JSON: Final = re.compile(r"[{\[]")


def is_certainly_within_limits(well_formed: str) -> bool:
    """Return whether well-formed text is too short to exceed the limit, so that it need not be counted."""
    return len(well_formed) <= _ALWAYS_WITHIN_LIMIT_CHARS


def limit_xml(text: str, utf8: bytes | None = None) -> str:
    """Return the text, cut before the first tag beyond the limit on tags and attributes.

    utf8: the same text as UTF-8 if available, because bytes are counted faster.
    """
    limit = _MIN_ELEMENT_LIMIT + len(text) // _XML_CHARS_PER_ELEMENT
    count = text.count("<") + text.count("=") if utf8 is None else utf8.count(b"<") + utf8.count(b"=")
    return _cut_xml(text, limit) if count > limit else text


def limit_damaged_xml(text: str) -> str:
    """Return the text, cut at the limit, for text in which CDATA sections cannot be recognized: every sign counts."""
    limit = _MIN_ELEMENT_LIMIT + len(text) // _XML_CHARS_PER_ELEMENT
    return _cut(text, _XML_DAMAGED, limit) if text.count("<") + text.count("=") > limit else text


def limit_json(text: str) -> str:
    """Return the text, cut before the first object or list beyond the limit."""
    limit = _MIN_ELEMENT_LIMIT + len(text) // _JSON_CHARS_PER_ELEMENT
    return _cut(text, _JSON, limit) if text.count("{") + text.count("[") > limit else text


def limit_entry(entry: ParsedEntry) -> ParsedEntry:
    """Return the entry with title, author and tags cut to their limits."""
    if len(entry.title) <= MAX_TITLE_CHARS and len(entry.author) <= MAX_NAME_CHARS and len(entry.tags) <= MAX_TAGS:
        return entry
    return replace(
        entry, title=entry.title[:MAX_TITLE_CHARS], author=entry.author[:MAX_NAME_CHARS], tags=entry.tags[:MAX_TAGS]
    )


def _cut(text: str, token: re.Pattern[str], limit: int) -> str:
    first_beyond = next(islice(token.finditer(text), limit, None), None)
    return text if first_beyond is None else text[: first_beyond.start()]


def _cut_xml(text: str, limit: int) -> str:
    """Return the text, cut at the limit. The content of closed CDATA sections does not count."""
    for start, end in _outside_sections(text):
        for match in _XML.finditer(text, start, end):
            limit -= 1
            if limit < 0:
                return text[: match.start()]
    return text


def _outside_sections(text: str) -> Iterator[tuple[int, int]]:
    """Yield where each part of the text outside closed CDATA sections begins and ends."""
    position, last_end = 0, text.rfind("]]>")
    while (start := text.find("<![CDATA[", position, max(last_end, 0))) >= 0:
        yield position, start
        position = text.index("]]>", start)
    yield position, len(text)
