"""Reads the headers of a message, which may have any bytes, be cut off, or be missing.

The standard library parses the message with the policy `compat32`, which keeps headers as they are; its newer policies
parse each header by the grammar, and raise on damaged ones.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import suppress
from email.errors import HeaderParseError
from email.header import decode_header
from email.message import Message
from typing import Final

from tidings.base.times import Instant
from tidings.content.dates import parse_date
from tidings.content.formats.charset import decode
from tidings.content.formats.text import collapse_whitespace, remove_unstorable
from tidings.content.letters.model import LetterSender, Unsubscription
from tidings.content.urls import resolve_web_url

_MAX_HEADER_CHARS: Final = 8_000
_MAX_NAME_CHARS: Final = 200
_MAX_KEY_CHARS: Final = 300
_MAX_URL_CHARS: Final = 2_000
# RFC 2919, section 2: the identifier is what angle brackets hold at the end.
_LIST_ID: Final = re.compile(r"<\s*([^<>\s]{1,255})\s*>\s*$")
_BRACKETED: Final = re.compile(r"<\s*([^<>\s]+)\s*>")
_BRACKETED_ADDRESS: Final = re.compile(r"<\s*([^\s<>\"(),;:]{1,64}@[^\s<>\"(),;:]{1,255})\s*>")
_ADDRESS: Final = re.compile(r"(?<![^\s\"'(,;:])([^\s<>\"(),;:]{1,64}@[^\s<>\"(),;:]{1,255})")
_ENCODED_WORD: Final = re.compile(r"=\?[^?\s]{1,80}\?[bqBQ]\?")
# RFC 8601, section 2.2: method, optional version, result.
_RESULT: Final = re.compile(r";\s*([a-z][a-z0-9-]{1,30})(?:\s*/\s*\d+)?\s*=\s*([a-z]{1,20})", re.IGNORECASE)
_COMMENT: Final = re.compile(r"\([^()]*\)")
# 1 January 1990: earlier dates are those of broken clocks.
_EARLIEST: Final = 631_152_000_000_000
_SPAM_SAYS_YES: Final = ("x-spam-flag", "x-spam-status", "x-spam", "x-rspamd-spam")


def headers_named(message: Message, name: str) -> Iterator[str]:
    """Yield the values of a header on one line each, with encoded words (RFC 2047) decoded."""
    for known, value in message.raw_items():
        if known.lower() == name:
            yield _decoded(str(value)[:_MAX_HEADER_CHARS])


def header_of(message: Message, name: str) -> str:
    """Return the first value of a header, "" without one. name: in lower case."""
    return next(headers_named(message, name), "")


def _decoded(value: str) -> str:
    text = _text_of(value)
    if _ENCODED_WORD.search(text):
        # Damaged ones are shown as they are. Blanks between encoded words are not part of the text.
        with suppress(HeaderParseError, ValueError, LookupError):
            text = "".join(_word(part, charset) for part, charset in decode_header(collapse_whitespace(text)))
    return collapse_whitespace(remove_unstorable(text))


def _text_of(value: str) -> str:
    """Return a header that may have bytes above ASCII, which the library keeps as lone surrogates.

    They are UTF-8 (RFC 6532), or windows-1252: a line is too short to guess.
    """
    if value.isascii():
        return value
    raw = value.encode("utf-8", "surrogateescape")
    try:
        return raw.decode("utf-8")
    except UnicodeDecodeError:
        return raw.decode("cp1252", "replace")


def _word(part: str | bytes, charset: str | None) -> str:
    if isinstance(part, str):
        return part
    return decode(part, charset if charset and "unknown" not in charset else None)


def read_sender(message: Message) -> LetterSender:
    """Return who sent a message: its list (RFC 2919), else the address in From."""
    name, address = _mailbox(header_of(message, "from") or header_of(message, "sender"))
    listed = header_of(message, "list-id")
    match = _LIST_ID.search(listed)
    list_id = match[1].lower() if match else ""
    if not list_id and re.fullmatch(r"[\w.@+-]{3,255}", listed):
        list_id = listed.lower()
    list_name = collapse_whitespace(listed[: match.start()].strip().strip('"')) if match else ""
    key = f"list:{list_id}" if list_id else f"from:{address}" if address else ""
    shown = name or list_name or address or list_id
    return LetterSender(key[:_MAX_KEY_CHARS], shown[:_MAX_NAME_CHARS], address)


def _mailbox(value: str) -> tuple[str, str]:
    """Return the name and the address of the first mailbox; "" for an address that is none.

    `email.utils.parseaddr` would raise RecursionError for comments inside of comments.
    """
    found = _BRACKETED_ADDRESS.search(value) or _ADDRESS.search(value)
    if found is None:
        return _unquoted(value), ""
    name = _unquoted(value[: found.start()])
    if not name and (comment := _COMMENT.search(value, found.end())):
        # The name as it was written before RFC 822.
        name = _unquoted(comment[0].strip("()"))
    return name, found[1].lower()[:_MAX_KEY_CHARS]


def _unquoted(name: str) -> str:
    name = name.strip(" ,;:<")
    if name.startswith('"'):
        name = name.strip('"').replace('\\"', '"').replace("\\\\", "\\")
    return collapse_whitespace(name)


def read_date(message: Message, now: Instant) -> Instant | None:
    """Return when a message was sent: Date, else the time in the first Received; a time in the future becomes now."""
    received = [value.rpartition(";")[2] for value in headers_named(message, "received") if ";" in value]
    for value in (header_of(message, "date"), *received[:1]):
        found = parse_date(_COMMENT.sub("", value).strip()[:100]) if value else None
        if found is not None and found >= _EARLIEST:
            return min(found, now)
    return None


def read_unsubscription(message: Message) -> Unsubscription:
    """Return how to unsubscribe. A POST is meant only for https (RFC 8058, section 3.1)."""
    written = _BRACKETED.findall(header_of(message, "list-unsubscribe"))
    urls = [url for one in written if (url := resolve_web_url("", one[:_MAX_URL_CHARS]))]
    mails = [one[:_MAX_URL_CHARS] for one in written if one.lower().startswith("mailto:")]
    secure = [url for url in urls if url.startswith("https://")]
    asked = re.sub(r"\s", "", header_of(message, "list-unsubscribe-post")).lower()
    return Unsubscription(
        (secure or urls or [""])[0], (mails or [""])[0], bool(secure) and asked == "list-unsubscribe=one-click"
    )


def read_archived_at(message: Message) -> str:
    """Return the address of the message in an archive (RFC 5064), "" without one."""
    value = header_of(message, "archived-at").strip().strip("<>")
    return resolve_web_url("", value[:_MAX_URL_CHARS]) if value else ""


def read_authentication(message: Message) -> tuple[tuple[str, str], ...]:
    """Return methods and results of the topmost Authentication-Results.

    The server that received the message writes its own above the others, which the sender may have invented.
    """
    value = _COMMENT.sub(" ", header_of(message, "authentication-results"))
    found: dict[str, str] = {}
    for method, result in _RESULT.findall(value):
        found.setdefault(method.lower(), result.lower())
    return tuple(found.items())[:10]


def is_marked_spam(message: Message) -> bool:
    """Return whether a filter called the message spam."""
    return any(header_of(message, name).lower().startswith(("yes", "true")) for name in _SPAM_SAYS_YES)


def is_automatic_reply(message: Message) -> bool:
    """Return whether a program answered another message. `auto-generated` is what many newsletters are."""
    return (
        header_of(message, "auto-submitted").lower().startswith("auto-replied")
        or header_of(message, "precedence").lower() == "auto_reply"
        or bool(header_of(message, "x-autoreply"))
    )
