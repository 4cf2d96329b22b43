"""Chooses what of a message is read, from its tree of parts (RFC 2046).

multipart/alternative   the richest part: HTML, else text (section 5.1.4)
multipart/related       its root (RFC 2387); the others are pictures that it names by `cid:` (RFC 2392)
multipart/mixed, …      one part after the other; files are attachments
message/rfc822          a forwarded message: its text
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from email.message import Message
from html import escape, unescape
from typing import Final
from urllib.parse import unquote

from msgspec import Struct

from tidings.content.formats.charset import codec_for, decode
from tidings.content.formats.text import remove_unstorable
from tidings.content.letters.headers import header_of

MAX_DEPTH: Final = 20
# All parts: those of a message with more are not read to the end.
_MAX_PARTS: Final = 2_000
_MAX_ATTACHMENTS: Final = 100
_MAX_NAME_CHARS: Final = 200
# Base64 needs a third more.
_PICTURE_BYTES: Final = 300_000
# A list of a hundred entries has to be sent to an app at once.
_ALL_PICTURE_BYTES: Final = 1_000_000
_PICTURE_TYPES: Final = frozenset({"image/png", "image/jpeg", "image/jpg", "image/gif", "image/webp", "image/avif"})
_HTML_TYPES: Final = ("text/html", "application/xhtml+xml")
_WEB_ADDRESS: Final = re.compile(r"https?://[^\s<>\"“”]{1,2000}[^\s<>\"“”.,;:!?)\]}'’]")
# Where HTML names a picture of its message (RFC 2392).
CID: Final = re.compile(r"""(\b(?:src|background)\s*=\s*["']?)cid:([^"'\s<>]{1,500})""", re.IGNORECASE)
_TOO_DEEP: Final = "Parts of this message are nested too deeply: they were left out."
_TOO_LARGE: Final = "Pictures that are too large were left out: {count}."
_NO_TEXT: Final = "This message has no text."


class Picture(Struct, frozen=True):
    """A picture inside of a message."""

    mime_type: str
    content: bytes


class Body(Struct):
    """What was read of the parts of a message."""

    html: str = ""
    pictures: dict[str, Picture] = {}
    """Those that the HTML names, by Content-ID, without angle brackets."""
    attachments: tuple[str, ...] = ()
    problems: tuple[str, ...] = ()


class _Text(Struct, frozen=True):
    html: str
    is_html: bool


def read_body(message: Message) -> Body:
    """Return the body of a message. One without any text says so, and names what it has.

    Files and what is left out are named below the text.
    """
    reader = _Reader()
    texts = reader.read(message, 0)
    html = "\n<hr>\n".join(text.html for text in texts if text.html.strip())
    attachments = tuple(dict.fromkeys(reader.attachments))[:_MAX_ATTACHMENTS]
    pictures, too_large = _pictures(message, html)
    problems = [*dict.fromkeys(reader.problems)]
    if too_large:
        problems.append(_TOO_LARGE.format(count=too_large))
    if not html:
        problems.append(_NO_TEXT)
    html += "".join(f"<p>{problem}</p>" for problem in problems)
    if attachments:
        html += f"<p>Attachments: {escape(', '.join(attachments))}</p>"
    return Body(html, pictures, attachments, tuple(problems))


class _Reader:
    """Walks through the parts, and notes what it leaves out."""

    def __init__(self) -> None:
        self.attachments: list[str] = []
        self.problems: list[str] = []
        self._parts = 0

    def read(self, part: Message, depth: int) -> list[_Text]:
        """Return the texts of a part in their order."""
        self._parts += 1
        if depth > MAX_DEPTH or self._parts > _MAX_PARTS:
            self.problems.append(_TOO_DEEP)
            return []
        children = _children(part)
        kind = part.get_content_type()
        if not children:
            return self._leaf(part, kind)
        if kind == "multipart/alternative":
            return self._richest(children, depth)
        if kind == "multipart/related":
            return self.read(_root(part, children), depth + 1)
        if kind in ("multipart/signed", "multipart/appledouble"):
            children = children[:1]
        return [text for child in children for text in self.read(child, depth + 1)]

    def _richest(self, children: list[Message], depth: int) -> list[_Text]:
        """Return the last alternative with HTML, else the last with text."""
        choices = [self.read(child, depth + 1) for child in children]
        usable = [texts for texts in reversed(choices) if any(text.html.strip() for text in texts)]
        rich = [texts for texts in usable if any(text.is_html for text in texts)]
        return (rich or usable or [[]])[0]

    def _leaf(self, part: Message, kind: str) -> list[_Text]:
        name = _file_name(part)
        is_attachment = header_of(part, "content-disposition").lower().startswith("attachment")
        if kind in _HTML_TYPES and not is_attachment:
            return [_Text(_text(part), is_html=True)]
        if kind in ("text/plain", "text/enriched", "message/delivery-status") and not is_attachment:
            flowed = str(part.get_param("format") or "").lower() == "flowed"
            return [_Text(text_to_html(_text(part), is_flowed=flowed), is_html=False)]
        if name and not (kind in _PICTURE_TYPES and part["content-id"]):
            self.attachments.append(name)
        return []


def _children(part: Message) -> list[Message]:
    payload = part.get_payload() if part.is_multipart() else None
    return [child for child in payload if isinstance(child, Message)] if isinstance(payload, list) else []


def _root(part: Message, children: list[Message]) -> Message:
    """Return the part that the others belong to: named by `start`, else the first with text, else the first."""
    start = str(part.get_param("start") or "").strip().strip("<>")
    named = [child for child in children if start and _content_id(child) == start]
    texts = [child for child in children if child.get_content_maintype() in ("text", "multipart")]
    return (named or texts or children)[0]


def _content_id(part: Message) -> str:
    return header_of(part, "content-id").strip().strip("<>").strip()


def _file_name(part: Message) -> str:
    try:
        name = part.get_filename() or ""
    except (ValueError, LookupError, TypeError, AttributeError):
        # RFC 2231 parameters of a damaged header.
        name = ""
    return remove_unstorable(" ".join(name.split()))[:_MAX_NAME_CHARS]


def _text(part: Message) -> str:
    """Return the text of a part. Cut-off encodings give what is there; the charset may be wrong or missing."""
    content = _content(part)
    label = codec_for(_charset(part))
    if label is not None and label.startswith("iso2022"):
        # Its bytes are ASCII, so that it cannot be told from other text.
        return remove_unstorable(content.decode(label, "replace"))
    return remove_unstorable(decode(content, label))


def _charset(part: Message) -> str | None:
    try:
        return part.get_content_charset()
    except (ValueError, LookupError, TypeError, AttributeError):
        return None


def _content(part: Message) -> bytes:
    try:
        content = part.get_payload(decode=True)
    except (ValueError, LookupError, TypeError, AttributeError):
        content = str(part.get_payload()).encode("utf-8", "surrogateescape")
    return content if isinstance(content, bytes) else b""


def picture_name(found: re.Match[str]) -> str:
    """Return the Content-ID that a match of `CID` names."""
    return unquote(unescape(found[2]))


def _pictures(message: Message, html: str) -> tuple[dict[str, Picture], int]:
    """Return the pictures that the HTML names, in its order as far as there is room, and how many had none."""
    parts: dict[str, Message] = {}
    for part in _all_parts(message):
        if (name := _content_id(part)) and part.get_content_type() in _PICTURE_TYPES:
            parts.setdefault(name, part)
    found: dict[str, Picture] = {}
    left, too_large = _ALL_PICTURE_BYTES, 0
    for name in dict.fromkeys(map(picture_name, CID.finditer(html))) if parts else ():
        content = _content(parts[name]) if name in parts else b""
        if len(content) > min(_PICTURE_BYTES, left):
            too_large += 1
        elif content:
            found[name] = Picture(parts[name].get_content_type(), content)
            left -= len(content)
    return found, too_large


def _all_parts(message: Message) -> Iterator[Message]:
    """Yield the parts that `_Reader` may reach."""
    waiting, seen = [(message, 0)], 0
    while waiting and seen < _MAX_PARTS:
        part, depth = waiting.pop()
        seen += 1
        yield part
        if depth < MAX_DEPTH:
            waiting += [(child, depth + 1) for child in reversed(_children(part))]


def text_to_html(text: str, *, is_flowed: bool = False) -> str:
    """Return plain text as HTML: paragraphs, lines, quotes as they are, and links for web addresses.

    is_flowed: a line that ends with a blank goes on in the next one (RFC 3676, section 4.1).
    """
    text = text.replace("\r\n", "\n").replace("\r", "\n")
    if is_flowed:
        text = re.sub(r"(?<!\n--)(?<=[^\n]) \n(?!\n|>)", " ", text)
    paragraphs = [one.strip("\n") for one in re.split(r"\n[ \t]*\n", text)]
    return "\n".join(f"<p>{_linked(one).replace(chr(10), '<br>')}</p>" for one in paragraphs if one.strip())


def _linked(text: str) -> str:
    pieces, end = [], 0
    for match in _WEB_ADDRESS.finditer(text):
        url = escape(match[0])
        pieces += [escape(text[end : match.start()]), f'<a href="{url}">{url}</a>']
        end = match.end()
    return "".join([*pieces, escape(text[end:])])
