"""Bytes to text: which encoding a document is really in, whatever it claims."""

from __future__ import annotations

import codecs
import re
from typing import Final

from msgspec import Struct

from tidings.domain.formats.guessing import guess

# Longest first: the mark of UTF-32 LE begins with that of UTF-16 LE.
_MARKS: Final = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF32_LE, "utf-32-le"),
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)

# How the first "<", "{" or blank of a document without a mark looks in encodings where ASCII is not one byte.
_WIDE_STARTS: Final = (
    (re.compile(rb"\0\0\0[<{\s]"), "utf-32-be"),
    (re.compile(rb"[<{\s]\0\0\0"), "utf-32-le"),
    (re.compile(rb"\0[<{\s]\0[^\0]"), "utf-16-be"),
    (re.compile(rb"[<{\s]\0[^\0]\0"), "utf-16-le"),
    (re.compile(rb"\x4c\x6f\xa7\x94"), "cp037"),
)

_PROLOG_LABEL: Final = re.compile(rb"""<\?xml[^>]{0,200}?encoding\s*=\s*["']?\s*([A-Za-z0-9._:-]{1,40})""")
_PROLOG_LENGTH: Final = 1024

# What pages mean by a label, where that is more than the label says (WHATWG Encoding, section 4.2).
_MEANT: Final = {
    "ascii": "cp1252",
    "iso8859-1": "cp1252",
    "iso8859-9": "cp1254",
    "iso8859-11": "cp874",
    "tis-620": "cp874",
    "gb2312": "gb18030",
    "gbk": "gb18030",
    "shift_jis": "cp932",
    "euc_kr": "cp949",
    "big5": "big5hkscs",
}
_ALIASES: Final = {
    "x-sjis": "cp932",
    "x-gbk": "gb18030",
    "x-euc-jp": "euc_jp",
    "x-mac-roman": "mac_roman",
    "macintosh": "mac_roman",
    "x-mac-cyrillic": "mac_cyrillic",
    "ks_c_5601-1987": "cp949",
    "windows-874": "cp874",
    "dos-874": "cp874",
    "unicode": "utf-16",
    "utf8mb4": "utf-8",
}
# Codecs for escaping or names rather than for documents; some take quadratic time.
_NOT_FOR_DOCUMENTS: Final = frozenset(
    {"idna", "punycode", "unicode-escape", "raw-unicode-escape", "undefined", "utf-7"}
)

# Labels in which every document is also valid UTF-8, so that validity proves nothing.
_SEVEN_BIT: Final = frozenset({"iso2022_jp", "iso2022_kr", "hz"})
_WIDE: Final = ("utf-16", "utf-32")


class Source(Struct, frozen=True):
    """utf8: the same text as bytes, where it came in just so; None where it would have to be made."""

    text: str
    utf8: bytes | None = None


def decode(body: bytes, charset: str | None = None) -> str:
    """The document as text, without its byte order mark.

    charset: what the HTTP Content-Type said, if anything.
    Asked in this order: byte order mark, the bytes themselves if they are valid UTF-8, `charset`, the XML
    declaration, a guess from the letters, windows-1252. Valid UTF-8 stands before the labels because bytes
    above 127 practically never form it by accident, while wrong labels are common. Never raises.
    """
    return read_source(body, charset).text


def read_source(body: bytes, charset: str | None = None) -> Source:
    """`decode`, for those who want the text as bytes again afterwards."""
    for mark, codec in _MARKS:
        if body.startswith(mark):
            # Some write it twice.
            return Source(body[len(mark) :].decode(codec, "replace").removeprefix("\ufeff"))
    return _decode_unmarked(body, charset)


def codec_for(label: str | None) -> str | None:
    """The name of the Python codec a label stands for; None if it is unknown or not for documents."""
    if not label:
        return None
    label = label.strip(" \t\r\n\"'").lower()
    try:
        name = codecs.lookup(_ALIASES.get(label, label)).name
    except (LookupError, ValueError):
        return None
    if name in _NOT_FOR_DOCUMENTS or not _makes_text(name):
        return None
    return _MEANT.get(name, name)


def _decode_unmarked(body: bytes, charset: str | None) -> Source:
    for start, codec in _WIDE_STARTS:
        if start.match(body):
            return Source(body.decode(codec, "replace"))
    labels = [codec_for(charset), codec_for(_label_in_prolog(body))]
    for seven_bit in _SEVEN_BIT.intersection(labels):
        return Source(body.decode(seven_bit, "replace"))
    try:
        return Source(body.decode(), body)
    except UnicodeDecodeError:
        return Source(_decode_high_bytes(body, [label for label in labels if label]))


def _decode_high_bytes(body: bytes, labels: list[str]) -> str:
    """For bytes that are not valid UTF-8 and hold no mark."""
    for codec in labels:
        text = _mostly_valid(body, codec)
        if text is not None:
            return text
    if mixed := _mostly_valid(body, "utf-8"):
        return mixed
    return body.decode(guess(body) or "cp1252", "replace")


def _mostly_valid(body: bytes, codec: str) -> str | None:
    """The text, if so few of the bytes above 127 do not fit that it is damage rather than a wrong label."""
    if codec.startswith(_WIDE):
        return None
    high = len(body) - len(body.translate(None, _HIGH_BYTES))
    if codec == "utf-8":
        strays = len(body) - len(body.decode(codec, "ignore").encode())
        # Bytes form valid UTF-8 so rarely by accident that three of four are proof.
        return body.decode(codec, "tidings-stray-byte") if strays * 4 <= high else None
    text = body.decode(codec, "replace")
    return text if text.count("\ufffd") * 10 <= high else None


def _read_stray_byte(error: UnicodeError) -> tuple[str, int]:
    """A single byte that does not fit is read as windows-1252, from where it was usually pasted."""
    if not isinstance(error, UnicodeDecodeError):
        raise error
    stray = error.object[error.start : error.end]
    return (stray.decode("cp1252", "replace") if len(stray) == 1 else "\ufffd"), error.end


def _label_in_prolog(body: bytes) -> str | None:
    found = _PROLOG_LABEL.search(body[:_PROLOG_LENGTH])
    return found[1].decode("ascii") if found else None


def _makes_text(name: str) -> bool:
    try:
        b"a".decode(name)
    except LookupError:
        return False
    except UnicodeError:
        # Half a character of a wide encoding.
        return True
    return True


_HIGH_BYTES: Final = bytes(range(128, 256))

codecs.register_error("tidings-stray-byte", _read_stray_byte)
