"""Addresses and senders of newsletters, and what is decided about a letter. Everything here is pure."""

from __future__ import annotations

import re
import secrets
from base64 import b32encode
from enum import StrEnum
from hashlib import sha256
from typing import Any, Final

from msgspec import Struct

from tidings.base.errors import InvalidField, InvalidInput
from tidings.base.messages import msg
from tidings.base.text import normalize_for_search
from tidings.base.times import Instant
from tidings.content.formats.text import html_to_text
from tidings.content.letters import Letter
from tidings.content.model import FeedFormat, ParsedEntry, ParsedFeed
from tidings.domain.feeds.feeds import NEWSLETTERS_URL

MAX_ADDRESSES: Final = 100
MAX_SENDERS: Final = 5_000
MAX_NAME_CHARS: Final = 200
# In an hour at one address: a limit on what someone can do who has learned it.
MAX_LETTERS_PER_HOUR: Final = 300
UNKNOWN_SENDER: Final = "Unknown sender"

_SECRET_BYTES: Final = 20
# Letters and digits of one case, since mail servers may change the case of an address.
SECRET: Final = re.compile(r"[a-z2-7]{32}")
# What `sender_key` returns: that of letters without a sender is "from:".
_MAX_KEY_CHARS: Final = 400
_KEY: Final = re.compile(rf"(?:list|from):[^\s\x00-\x1f\x7f]{{0,{_MAX_KEY_CHARS}}}")
_SECRET_PART: Final = re.compile(r"(?<![a-z0-9])[a-z2-7]{32}(?![a-z0-9])")
_TITLE_CHARS: Final = 100


class Delivery(StrEnum):
    """What became of a letter."""

    STORED = "stored"
    REPEATED = "repeated"
    """It has arrived before."""
    BLOCKED = "blocked"
    """Its sender is blocked: it was discarded."""
    FILTERED = "filtered"
    """A filter of the user or the feed removed it."""


class LetterTarget(Struct, frozen=True):
    """To whom a letter is delivered, and where new feeds go."""

    user_id: int
    address_id: int | None = None
    """The secret address at which it arrived, if it did."""
    name: str = ""
    """The title of the feed that all senders share."""
    is_one_feed: bool = False
    category_id: int | None = None


class NewsletterAddress(Struct, frozen=True):
    """A secret address of a user."""

    id: int
    user_id: int
    name: str
    secret: str
    is_one_feed: bool
    category_id: int | None
    created_at: Instant
    last_letter_at: Instant | None
    letters: int
    hour: int
    hour_letters: int

    @property
    def target(self) -> LetterTarget:
        return LetterTarget(self.user_id, self.id, self.name, self.is_one_feed, self.category_id)

    def __repr__(self) -> str:
        """Leaves out the secret: addresses may appear in logs and tracebacks."""
        return f"NewsletterAddress({self.id})"


class NewsletterSender(Struct, frozen=True):
    """A newsletter that has arrived."""

    id: int
    user_id: int
    sender_key: str
    name: str
    address: str
    feed_id: int | None
    is_blocked: bool
    letters: int
    discarded: int
    last_letter_at: Instant | None
    unsubscribe_url: str
    unsubscribe_mail: str
    is_one_click: bool
    unsubscribed_at: Instant | None
    authentication: str
    is_spam: bool
    confirmation_url: str
    confirmation_subject: str


def validate_key(key: str) -> str:
    """Return the key of a sender in an archive. Raises InvalidInput."""
    if not _KEY.fullmatch(key):
        raise InvalidInput(msg("it is not known by a List-Id or an address."))
    return key


def is_mail_address(text: str) -> bool:
    """Tell whether a text may stand as the address of a sender; it may be empty."""
    return len(text) <= _MAX_KEY_CHARS and text.isprintable()


class NewsletterFeed(Struct, frozen=True):
    """A feed of letters, to which senders can be merged."""

    id: int
    title: str


def new_secret() -> str:
    return b32encode(secrets.token_bytes(_SECRET_BYTES)).decode("ascii").lower()


def validate_name(name: str) -> str:
    """Return a name on one line. Raises InvalidField."""
    name = " ".join(name.split())
    if not name:
        raise InvalidField("name", msg("give it a name."))
    if len(name) > MAX_NAME_CHARS:
        raise InvalidField("name", msg("the name is too long: at most {max} characters.", max=MAX_NAME_CHARS))
    return name


def secret_of(recipient: str, template: str) -> str:
    """Return the secret in a mail address, such as letters+SECRET@example.org; "" if it has none.

    template: the mail address of the operator with {secret} in it, or "". Others lead to the secret as well if it is a
    part of its own: a mail server may have rewritten the address.
    """
    local = _local_part(recipient)
    before, _, after = _local_part(template).partition("{secret}")
    if SECRET.fullmatch(local.removeprefix(before).removesuffix(after)):
        return local.removeprefix(before).removesuffix(after)
    found = _SECRET_PART.search(local)
    return found[0] if found else ""


def _local_part(address: str) -> str:
    """Return what stands in front of the @, in lower case and without quotes."""
    return (address.rpartition("@")[0] or address).lower().strip('"')


def sender_key(letter: Letter) -> str:
    """Return what identifies the sender of a letter; that of letters without one is the same for all."""
    return letter.sender.key or "from:"


def sender_name(letter: Letter) -> str:
    return letter.sender.name or UNKNOWN_SENDER


def feed_url_of_sender(key: str) -> str:
    """Return the address of a sender's feed: the same on every instance, so that an archive brings the feed back."""
    return f"{NEWSLETTERS_URL}{sha256(key.encode()).hexdigest()[:32]}"


def feed_url_of_address(name: str) -> str:
    """Return the address of the feed that senders at one address share."""
    return f"{NEWSLETTERS_URL}all/{sha256(normalize_for_search(name).encode()).hexdigest()[:32]}"


def letter_digest(letter: Letter) -> bytes:
    return sha256(f"letter\n{letter.identity}".encode("utf-8", "replace")).digest()


def as_document(letter: Letter) -> ParsedFeed:
    """Return a letter as a feed document with one entry."""
    tags = [name for name, is_set in (("spam", letter.is_spam), ("auto-reply", letter.is_automatic_reply)) if is_set]
    entry = ParsedEntry(
        hash=letter_digest(letter).hex(),
        url=letter.url,
        title=letter.subject or html_to_text(letter.html[:20_000])[:_TITLE_CHARS] or sender_name(letter),
        content=letter.html,
        author=sender_name(letter),
        published_at=letter.published_at,
        tags=tuple(tags),
    )
    return ParsedFeed(format=FeedFormat.RSS, entries=(entry,))


def newest_columns(letter: Letter, now: Instant) -> dict[str, Any]:
    """Return the columns of a sender that its newest letter sets."""
    columns: dict[str, Any] = {
        "last_letter_at": now,
        "address": letter.sender.address,
        "authentication": " ".join(f"{method}={result}" for method, result in letter.authentication),
        "is_spam": letter.is_spam,
    }
    way = letter.unsubscription
    if way.url or way.mail:
        columns |= {"unsubscribe_url": way.url, "unsubscribe_mail": way.mail, "is_one_click": way.is_one_click}
    if letter.confirmation_url:
        columns |= {"confirmation_url": letter.confirmation_url, "confirmation_subject": letter.subject}
    return columns
