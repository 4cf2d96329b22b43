"""Reads a whole message: checks what it would cost, parses it, and collects headers and body.

bytes | limits | parse | headers, body (`body`) | HTML (`markup`) | what it links to (`links`) | Letter
"""

from __future__ import annotations

import re
from email.message import Message
from email.parser import BytesParser
from email.policy import compat32
from hashlib import sha256
from html import escape
from typing import Final

from tidings.base.errors import TidingsError
from tidings.base.messages import msg
from tidings.base.times import Instant
from tidings.content.formats.charset import decode
from tidings.content.formats.text import remove_unstorable
from tidings.content.letters import headers
from tidings.content.letters.body import read_body
from tidings.content.letters.links import find_confirmation, find_view_url
from tidings.content.letters.markup import to_article
from tidings.content.letters.model import MAX_LETTER_BYTES, Letter

# What the standard library takes long for, or much memory: multiparts inside of each other, many parts, many headers.
_MAX_MULTIPARTS: Final = 100
_MAX_DELIMITERS: Final = 10_000
_MAX_LINES: Final = 500_000
_MAX_HEADER_LINES: Final = 5_000
_MULTIPART: Final = re.compile(rb"^content-type:\s*(?:multipart|message)\b", re.IGNORECASE | re.MULTILINE)
_DELIMITER: Final = re.compile(rb"^--", re.MULTILINE)
# With its folded lines. Its parameters are read in time that is quadratic in its length.
_PARAMETERS: Final = re.compile(
    rb"^content-(?:type|disposition):[^\n]*(?:\n[ \t][^\n]*)*", re.IGNORECASE | re.MULTILINE
)
_MAX_PARAMETER_BYTES: Final = 5_000
_ENVELOPE_LINE: Final = re.compile(rb"\A(?:>?From [^\n]*\n)+")
_MESSAGE_ID: Final = re.compile(r"<\s*([^<>]{1,500}?)\s*>")
_MAX_SUBJECT_CHARS: Final = 1_000
_MAX_RAW_BYTES: Final = 500_000


class LetterUnreadable(TidingsError):
    """A message that cannot be read; `raw_letter` keeps it as it came."""

    code = "letter-unreadable"


def read_letter(raw: bytes, *, now: Instant) -> Letter:
    """Return what a message contains. Raises LetterUnreadable.

    raw: as it was transferred, with any line ends; a line `From …` of a mailbox file in front is skipped.
    """
    message = _parse(_with_plain_lines(raw))
    body = read_body(message)
    html = to_article(body.html, body.pictures)
    subject = headers.header_of(message, "subject")[:_MAX_SUBJECT_CHARS]
    return Letter(
        sender=headers.read_sender(message),
        identity=_identity(message),
        subject=subject,
        published_at=headers.read_date(message, now),
        html=html,
        url=headers.read_archived_at(message) or find_view_url(html),
        unsubscription=headers.read_unsubscription(message),
        confirmation_url=find_confirmation(subject, html),
        authentication=headers.read_authentication(message),
        is_spam=headers.is_marked_spam(message),
        is_automatic_reply=headers.is_automatic_reply(message),
        attachments=body.attachments,
        problems=body.problems,
    )


def raw_letter(raw: bytes, problem: str, *, now: Instant) -> Letter:
    """Return a message that `read_letter` refused, as it came, with what is wrong above it.

    Its sender, subject and date are read if its first lines are headers.
    """
    shown = remove_unstorable(decode(raw[:_MAX_RAW_BYTES], None))
    beginning = _with_plain_lines(raw[:100_000]).partition(b"\n\n")[0]
    message = BytesParser(policy=compat32).parsebytes(beginning, headersonly=True)
    return Letter(
        sender=headers.read_sender(message),
        identity=f"sha256:{sha256(raw).hexdigest()}",
        subject=headers.header_of(message, "subject")[:_MAX_SUBJECT_CHARS],
        published_at=headers.read_date(message, now),
        html=f"<p>{escape(problem)}</p><pre>{escape(shown)}</pre>",
        problems=(problem,),
    )


def _with_plain_lines(raw: bytes) -> bytes:
    """Return a message whose lines end with LF alone, without lines of mailbox files in front."""
    return _ENVELOPE_LINE.sub(b"", raw.replace(b"\r\n", b"\n").replace(b"\r", b"\n"))


def _parse(raw: bytes) -> Message:
    _ensure_cheap(raw)
    try:
        message = BytesParser(policy=compat32).parsebytes(raw)
    except (RecursionError, ValueError, LookupError, AttributeError, TypeError) as error:
        # The parser of the standard library promises not to raise, and does for some damaged messages.
        raise LetterUnreadable(msg("This message is damaged and cannot be read.")) from error
    if not message.keys():
        raise LetterUnreadable(msg("This is not a mail message: it does not begin with headers such as From."))
    return message


def _ensure_cheap(raw: bytes) -> None:
    """Raise LetterUnreadable for a message that would take too long to parse, or too much memory."""
    if len(raw) > MAX_LETTER_BYTES:
        raise LetterUnreadable(msg("This message is too large: at most {count} MiB.", count=MAX_LETTER_BYTES // 2**20))
    header_lines = raw.partition(b"\n\n")[0].count(b"\n")
    is_costly = (
        header_lines > _MAX_HEADER_LINES
        or raw.count(b"\n") > _MAX_LINES
        or len(_MULTIPART.findall(raw)) > _MAX_MULTIPARTS
        or len(_DELIMITER.findall(raw)) > _MAX_DELIMITERS
        or any(len(found[0]) > _MAX_PARAMETER_BYTES for found in _PARAMETERS.finditer(raw))
    )
    if is_costly:
        raise LetterUnreadable(msg("This message has too many parts, headers or lines to be read."))


def _identity(message: Message) -> str:
    """Return the Message-ID, or else a digest without the headers that servers add on the way."""
    written = headers.header_of(message, "message-id")
    if match := _MESSAGE_ID.search(written):
        return match[1]
    if written:
        return written[:500]
    common = [headers.header_of(message, name) for name in ("from", "date", "subject", "list-id")]
    return f"sha256:{sha256(repr((common, _first_payload(message))).encode('utf-8', 'replace')).hexdigest()}"


def _first_payload(message: Message) -> str:
    """Return the first part that is not made of parts, as it was transferred."""
    first = next(part for part in message.walk() if not part.is_multipart() or not part.get_payload())
    return str(first.get_payload())
