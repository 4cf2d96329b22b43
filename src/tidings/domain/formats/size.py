"""How much of a document is read. What it becomes in memory depends on its elements more than on its length.

The figures are far from anything real: the densest of 200 feeds has a tag or an attribute for every 27 bytes, the
longest 1,046 entries.
"""

from __future__ import annotations

import re
from itertools import islice
from typing import Final

from msgspec.structs import replace

from tidings.domain.feeds import ParsedEntry

MAX_ENTRIES: Final = 10_000
MAX_TAGS: Final = 1_000
# What a feed says of itself counts for each of its entries.
MAX_INHERITED_TAGS: Final = 50
MAX_ENCLOSURES: Final = 1_000
# Characters.
MAX_TITLE: Final = 5_000
MAX_NAME: Final = 500

# So many elements, or what takes as much room, and one more for each so many characters.
_ALWAYS: Final = 30_000
_XML_DENSITY: Final = 25
_JSON_DENSITY: Final = 40
# Characters that cannot hold more than that as long as they are well-formed: the shortest element takes four.
_NEVER_TOO_DENSE: Final = 4 * _ALWAYS

_XML: Final = re.compile(r"""<!\[CDATA\[|<[^/!?]|=\s*+["']""")
_XML_DAMAGED: Final = re.compile("<[^/]|=")
_JSON: Final = re.compile(r"[{\[]")


def is_surely_readable(well_formed: str) -> bool:
    """Most documents are that short, and need not be counted through before one knows that they are damaged."""
    return len(well_formed) <= _NEVER_TOO_DENSE


def readable_xml(text: str, utf8: bytes | None = None) -> str:
    """The text, cut before a tag where it has more of them, and of attributes, than a feed can have.

    utf8: the same, if it is at hand; bytes are counted faster.
    """
    most = _ALWAYS + len(text) // _XML_DENSITY
    count = text.count("<") + text.count("=") if utf8 is None else utf8.count(b"<") + utf8.count(b"=")
    return _cut_xml(text, most) if count > most else text


def readable_damaged_xml(text: str) -> str:
    """The same where one cannot tell what is marked as text: all counts."""
    most = _ALWAYS + len(text) // _XML_DENSITY
    return _cut(text, _XML_DAMAGED, most) if text.count("<") + text.count("=") > most else text


def readable_json(text: str) -> str:
    """The same of objects and lists."""
    most = _ALWAYS + len(text) // _JSON_DENSITY
    return _cut(text, _JSON, most) if text.count("{") + text.count("[") > most else text


def bounded(entry: ParsedEntry) -> ParsedEntry:
    """With names and lists of a length that somebody could mean."""
    if len(entry.title) <= MAX_TITLE and len(entry.author) <= MAX_NAME and len(entry.tags) <= MAX_TAGS:
        return entry
    return replace(entry, title=entry.title[:MAX_TITLE], author=entry.author[:MAX_NAME], tags=entry.tags[:MAX_TAGS])


def _cut(text: str, sign: re.Pattern[str], most: int) -> str:
    found = next(islice(sign.finditer(text), most, None), None)
    return text if found is None else text[: found.start()]


def _cut_xml(text: str, most: int) -> str:
    """What is marked as text costs nothing, as far as the mark has an end."""
    position, last_end = 0, text.rfind("]]>")
    while found := _XML.search(text, position):
        position = found.end()
        if found[0] == "<![CDATA[" and position <= last_end:
            position = text.index("]]>", position)
            continue
        most -= 1
        if most < 0:
            return text[: found.start()]
    return text
