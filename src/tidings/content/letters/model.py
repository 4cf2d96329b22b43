"""What a message contains. Strings are never None: absent is ""."""

from __future__ import annotations

from typing import Final

from msgspec import Struct

from tidings.base.times import Instant

# The whole message, as it is transferred.
MAX_LETTER_BYTES: Final = 10 * 2**20


class LetterSender(Struct, frozen=True):
    """Who sent a letter."""

    key: str
    """The same for all letters of one newsletter: `list:` and its List-Id, else `from:` and the address; "" if neither
    is there."""
    name: str
    """For people: the name in From, else in List-Id, else the address."""
    address: str = ""
    """The address in From, in lower case."""


class Unsubscription(Struct, frozen=True):
    """How to unsubscribe (RFC 2369, section 3.2)."""

    url: str = ""
    """An https or http URL."""
    mail: str = ""
    """A mailto URL."""
    is_one_click: bool = False
    """Whether a POST to the URL is all that is needed (RFC 8058)."""


class Letter(Struct, frozen=True, kw_only=True):
    """A message that was read."""

    sender: LetterSender
    identity: str
    """The Message-ID without angle brackets; without one, a digest of what copies of a message have in common."""
    subject: str
    """On one line."""
    published_at: Instant | None
    """Not in the future; None if the message has no usable date."""
    html: str
    """The richest part: not clean, with pictures of the message as `data:` URLs."""
    url: str = ""
    """Where the letter can be seen in a browser."""
    unsubscription: Unsubscription = Unsubscription()
    confirmation_url: str = ""
    """Where a subscription is confirmed, if this is the letter that asks for it."""
    authentication: tuple[tuple[str, str], ...] = ()
    """Methods and results, such as `("dkim", "pass")`, as the receiving server noted them (RFC 8601)."""
    is_spam: bool = False
    """Whether a filter on its way said so."""
    is_automatic_reply: bool = False
    """RFC 3834: an answer of a program to another message."""
    attachments: tuple[str, ...] = ()
    """Names of files that are not part of the text."""
    problems: tuple[str, ...] = ()
    """What was left out, as English sentences."""
