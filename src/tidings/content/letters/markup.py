"""Turns the HTML of a mail into that of an article, before it is cleaned.

Mail is laid out with tables, hides the text that lists of messages show (the preheader), has comments for Outlook, and
names its pictures by `cid:`. Nothing here makes HTML safe: `cleaning` does that afterwards.

comments | hidden texts | pixels | layout tables | pictures
"""

from __future__ import annotations

import re
from base64 import b64encode
from collections.abc import Mapping
from html import unescape
from itertools import islice
from typing import Final

from tidings.content.letters.body import CID, Picture, picture_name

# The same limit as in `cleaning`, which reads no more.
_MAX_CHARS: Final = 4_000_000
# Cleaning reads no more tags than twice as many.
_MAX_TABLE_TAGS: Final = 50_000
_MAX_STYLE_CHARS: Final = 2_000
_STYLED: Final = re.compile(r"<(?:div|span|p|td|tr|table|font|center|h[1-6])\b[^<>]{0,3000}>", re.IGNORECASE)
_STYLE: Final = re.compile(r"\sstyle\s*=\s*(?:\"([^\"]{0,2000})\"|'([^']{0,2000})')", re.IGNORECASE)
_NOTHING: Final = r"\s*:\s*0*\.?0+(?:px|em|pt|%)?\s*(?:!important\s*)?(?:;|$)"
_HIDING: Final = re.compile(
    rf"mso-hide\s*:\s*all|(?:^|;)\s*(?:max-height{_NOTHING}|opacity{_NOTHING}|font-size\s*:\s*1px\s*;.*line-height\s*:\s*[01]px)",
    re.IGNORECASE | re.DOTALL,
)
_TABLE_TAG: Final = re.compile(r"<(/?)(table|tbody|thead|tfoot|tr|td|th|caption)\b([^<>]{0,3000})>", re.IGNORECASE)
_KEPT: Final = re.compile(r"\s(?:hidden\b|(?:style|dir|lang)\s*=\s*(?:\"[^\"]*\"|'[^']*'))", re.IGNORECASE)
_IMAGE: Final = re.compile(r"<img\b[^<>]{0,3000}>", re.IGNORECASE)
_PIXEL_SIDE: Final = re.compile(r"\s(?:width|height)\s*=\s*[\"']?0{0,9}[01](?:px)?[\"'\s/>]", re.IGNORECASE)
_SIZED_BY_STYLE: Final = re.compile(r"\sstyle\s*=[^<>]*(?:width|height)", re.IGNORECASE)


def to_article(html: str, pictures: Mapping[str, Picture]) -> str:
    """Return the HTML without layout tables and hidden texts. pictures: by Content-ID."""
    html = _without_comments(html[:_MAX_CHARS])
    html = _STYLED.sub(_marked_hidden, html)
    html = _IMAGE.sub(_without_pixel, html)
    html = _without_layout(html)
    return _with_pictures(html, pictures) if pictures else html


def _without_comments(html: str) -> str:
    """Return the HTML without comments, which hold what only Outlook shows. An open one goes on to the end."""
    pieces, end = [], 0
    while (start := html.find("<!--", end)) >= 0:
        pieces.append(html[end:start])
        closed = html.find("-->", start + 4)
        if closed < 0:
            return "".join(pieces)
        end = closed + 3
    return "".join([*pieces, html[end:]])


def _marked_hidden(tag: re.Match[str]) -> str:
    style = _STYLE.search(tag[0])
    value = (style[1] or style[2] or "")[:_MAX_STYLE_CHARS] if style else ""
    return f"{tag[0][:-1].rstrip('/')} hidden>" if value and _HIDING.search(unescape(value)) else tag[0]


def _without_pixel(tag: re.Match[str]) -> str:
    """Return an image, or "" for one with a side of at most one pixel.

    Cleaning removes those with two such sides: on a page a script may give an image its size later, in a letter not.
    """
    is_pixel = _PIXEL_SIDE.search(tag[0]) and not _SIZED_BY_STYLE.search(tag[0])
    return "" if is_pixel else tag[0]


def _without_layout(html: str) -> str:
    """Return the HTML with `div` instead of tables that only arrange boxes.

    A table is kept if it has header cells or a caption, and no table inside.
    """
    tags = list(islice(_TABLE_TAG.finditer(html), _MAX_TABLE_TAGS + 1))
    if len(tags) > _MAX_TABLE_TAGS:
        return html
    tables = _tables_of(tags)
    data = {number for number in set(tables) if number is not None and _is_data(number, tags, tables)}
    pieces, end = [], 0
    for tag, number in zip(tags, tables, strict=True):
        if number in data:
            continue
        pieces += [html[end : tag.start()], _as_box(tag)]
        end = tag.end()
    return "".join([*pieces, html[end:]])


def _tables_of(tags: list[re.Match[str]]) -> list[int | None]:
    """Return, for each tag, the position of the start tag of its table; None outside of tables."""
    opened: list[int] = []
    found: list[int | None] = []
    for position, tag in enumerate(tags):
        is_table, is_end = tag[2].lower() == "table", bool(tag[1])
        if is_table and not is_end:
            opened.append(position)
        found.append(opened[-1] if opened else None)
        if is_table and is_end and opened:
            opened.pop()
    return found


def _is_data(number: int, tags: list[re.Match[str]], tables: list[int | None]) -> bool:
    """number: the position of the start tag of a table."""
    if re.search(r"role\s*=\s*[\"']?(?:presentation|none)", tags[number][3], re.IGNORECASE):
        return False
    has_header = False
    for position in range(number + 1, len(tags)):
        name, is_end = tags[position][2].lower(), bool(tags[position][1])
        if name == "table":
            return is_end and has_header and tables[position] == number
        has_header = has_header or name in ("th", "caption")
    return False


def _as_box(tag: re.Match[str]) -> str:
    name, is_end = tag[2].lower(), tag[1]
    if name in ("tbody", "thead", "tfoot", "tr"):
        return "" if is_end or " hidden" not in tag[3] else "<wbr>"
    return "</div>" if is_end else f"<div{''.join(_KEPT.findall(tag[3]))}>"


def _with_pictures(html: str, pictures: Mapping[str, Picture]) -> str:
    """Return the HTML with pictures of the message in the places where it names them, each once."""
    written: set[str] = set()

    def replaced(match: re.Match[str]) -> str:
        name = picture_name(match)
        picture = pictures.get(name)
        # A small message could name a large picture thousands of times.
        if picture is None or name in written:
            return match[0]
        written.add(name)
        return f"{match[1]}data:{picture.mime_type};base64,{b64encode(picture.content).decode('ascii')}"

    return CID.sub(replaced, html)
