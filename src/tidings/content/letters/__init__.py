"""Reads mail: the bytes of a message (RFC 5322, MIME) into a Letter, whose HTML is for `tidings.content.clean`.

read_letter   bytes ─► Letter; raises LetterUnreadable
raw_letter    bytes of such a message ─► Letter with the message as it came
"""

from __future__ import annotations

from tidings.content.letters.model import MAX_LETTER_BYTES, Letter, LetterSender, Unsubscription
from tidings.content.letters.read import LetterUnreadable, raw_letter, read_letter

__all__ = [
    "MAX_LETTER_BYTES",
    "Letter",
    "LetterSender",
    "LetterUnreadable",
    "Unsubscription",
    "raw_letter",
    "read_letter",
]
