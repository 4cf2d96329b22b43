"""Decodes documents: finds the encoding a document is really in, which is often not the declared one."""

from __future__ import annotations

import codecs
import re
from typing import Final

from msgspec import Struct

from tidings.content.formats.charset_guess import choose_charset, guess_charset, guess_other_script

# Longest first: the mark of UTF-32 LE begins with UTF-16 LE's.
_BYTE_ORDER_MARKS: Final = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF32_LE, "utf-32-le"),
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)

# The first "<", "{" or blank of a document without a byte order mark, in encodings in which ASCII is not one byte.
_WIDE_STARTS: Final = (
    (re.compile(rb"\0\0\0[<{\s]"), "utf-32-be"),
    (re.compile(rb"[<{\s]\0\0\0"), "utf-32-le"),
    (re.compile(rb"\0[<{\s]\0[^\0]"), "utf-16-be"),
    (re.compile(rb"[<{\s]\0[^\0]\0"), "utf-16-le"),
    (re.compile(rb"\x4c\x6f\xa7\x94"), "cp037"),
)

_PROLOG_LABEL: Final = re.compile(rb"""<\?xml[^>]{0,200}?encoding\s*=\s*["']?\s*([A-Za-z0-9._:-]{1,40})""")
_PROLOG_LENGTH: Final = 1024

# Labels that publishers use for a superset of the encoding they name (WHATWG Encoding, section 4.2).
_SUPERSETS: Final = {
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
# Codecs for escaping or for host names, not for documents; some take quadratic time.
_UNUSABLE_CODECS: Final = frozenset({"idna", "punycode", "unicode-escape", "raw-unicode-escape", "undefined", "utf-7"})

# In these encodings every document is also valid UTF-8, so that valid UTF-8 proves nothing.
_SEVEN_BIT_CODECS: Final = frozenset({"iso2022_jp", "iso2022_kr", "hz"})
_MULTI_BYTE_UNITS: Final = ("utf-16", "utf-32")

_HIGH_RUN: Final = re.compile(rb"[\x80-\xff]{2,}")
_SURROGATES: Final = re.compile(rb"\xed[\xa0-\xaf][\x80-\xbf]\xed[\xb0-\xbf][\x80-\xbf]|\xed[\xa0-\xbf][\x80-\xbf]")


class DecodedText(Struct, frozen=True):
    """A decoded document."""

    text: str
    utf8: bytes | None = None
    """The text as UTF-8 bytes if the document arrived in that form, else None."""


def decode(body: bytes, charset: str | None = None, declared: str | None = None) -> str:
    """Return the document as text, without its byte order mark. Never raises.

    charset: the charset of the HTTP Content-Type, if any. declared: the label in the document; by default the one of
    the XML declaration.
    Order: byte order mark, the bytes themselves if they are UTF-8 but for a few, the labels, a guess from the letters,
    windows-1252. UTF-8 comes before the labels: other encodings almost never form valid UTF-8 by accident, and wrong
    labels are common. Latin-1 and ASCII in `charset` come last: servers send them for everything, and the document
    knows better. Of two other labels the one wins in which the letters make words.
    """
    return decode_document(body, charset, declared).text


def decode_document(body: bytes, charset: str | None = None, declared: str | None = None) -> DecodedText:
    """Return the same as `decode`, with the UTF-8 bytes if no conversion is needed."""
    for mark, codec in _BYTE_ORDER_MARKS:
        if body.startswith(mark):
            # Some publishers write the mark twice.
            return DecodedText(body[len(mark) :].decode(codec, "replace").removeprefix("\ufeff"))
    return _decode_unmarked(body, charset, declared or _label_in_prolog(body))


def codec_for(label: str | None) -> str | None:
    """Return the name of the Python codec for a label; None if it is unknown or not for documents."""
    if not label:
        return None
    label = label.strip(" \t\r\n\"'").lower()
    try:
        name = codecs.lookup(_ALIASES.get(label, label)).name
    except (LookupError, ValueError):
        return None
    if name in _UNUSABLE_CODECS or not _decodes_to_text(name):
        return None
    return _SUPERSETS.get(name, name)


def _decode_unmarked(body: bytes, charset: str | None, declared: str | None) -> DecodedText:
    for start, codec in _WIDE_STARTS:
        if start.match(body):
            return DecodedText(body.decode(codec, "replace"))
    labels = [codec_for(charset), codec_for(declared)]
    for seven_bit in _SEVEN_BIT_CODECS.intersection(labels):
        return DecodedText(body.decode(seven_bit, "replace"))
    try:
        return DecodedText(body.decode(), body)
    except UnicodeDecodeError:
        if _is_server_default(charset):
            labels.reverse()
        return DecodedText(_decode_high_bytes(body, labels, chooses=not _is_server_default(charset)))


def _decode_high_bytes(body: bytes, labels: list[str | None], *, chooses: bool) -> str:
    """Return the text of bytes that are not valid UTF-8 and have no byte order mark.

    chooses: whether the letters decide between the labels; else their order.
    """
    if mixed := _decode_damaged_utf8(body):
        return mixed
    texts = {codec: text for codec in labels if codec and (text := _decode_if_mostly_valid(body, codec)) is not None}
    if list(texts) == ["cp1252"] and (other := guess_other_script(body)):
        return body.decode(other, "replace")
    if texts:
        return texts[choose_charset(body, list(texts)) if chooses and len(texts) > 1 else next(iter(texts))]
    return body.decode(guess_charset(body) or "cp1252", "replace")


def _is_server_default(charset: str | None) -> bool:
    """Return whether the label is what servers send when nobody has set one: ASCII or Latin-1."""
    try:
        return codecs.lookup((charset or "").strip(" \t\r\n\"'")).name in {"ascii", "iso8859-1"}
    except (LookupError, ValueError):
        return False


def _decode_damaged_utf8(body: bytes) -> str | None:
    """Return the text of UTF-8 with bytes that do not belong there; None if the document is in another encoding.

    A stray byte alone among ASCII is text that was pasted from windows-1252. Longer runs of bytes above 127 rarely are
    valid UTF-8 by accident: three valid ones of four are proof. A character above U+FFFF may be written as two halves
    of three bytes each (CESU-8, Unicode Technical Report 26).
    """
    if b"\xed" in body:
        body = _SURROGATES.sub(_join_surrogates, body)
    runs = b"".join(_HIGH_RUN.findall(body))
    strays = len(runs) - len(runs.decode("utf-8", "ignore").encode())
    return body.decode("utf-8", "tidings-stray-byte") if runs and strays * 4 <= len(runs) else None


def _join_surrogates(match: re.Match[bytes]) -> bytes:
    """Return the character of a pair of surrogates in UTF-8; U+FFFD for half a pair."""
    halves = match[0].decode("utf-8", "surrogatepass")
    return halves.encode("utf-16", "surrogatepass").decode("utf-16", "replace").encode()


def _decode_if_mostly_valid(body: bytes, codec: str) -> str | None:
    """Return the text, or None if too many of the bytes above 127 do not fit: then the label is wrong."""
    if codec == "utf-8" or codec.startswith(_MULTI_BYTE_UNITS):
        return None
    high = len(body) - len(body.translate(None, _HIGH_BYTES))
    text = body.decode(codec, "replace")
    return text if text.count("\ufffd") * 10 <= high else None


def _decode_stray_byte(error: UnicodeError) -> tuple[str, int]:
    """Decodes a single byte that does not fit as windows-1252, the usual source of pasted text."""
    if not isinstance(error, UnicodeDecodeError):
        raise error
    stray = error.object[error.start : error.end]
    return (stray.decode("cp1252", "replace") if len(stray) == 1 else "\ufffd"), error.end


def _label_in_prolog(body: bytes) -> str | None:
    match = _PROLOG_LABEL.search(body[:_PROLOG_LENGTH])
    return match[1].decode("ascii") if match else None


def _decodes_to_text(name: str) -> bool:
    try:
        b"a".decode(name)
    except LookupError:
        return False
    except UnicodeError:
        # A multi-byte encoding rejects a single byte.
        return True
    return True


_HIGH_BYTES: Final = bytes(range(128, 256))

codecs.register_error("tidings-stray-byte", _decode_stray_byte)
