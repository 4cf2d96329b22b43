"""Mailboxes, and what is decided about their letters. Everything here is pure."""

from __future__ import annotations

import re
from base64 import b64encode
from collections.abc import Iterable, Sequence
from datetime import timedelta
from typing import Final

from msgspec import Struct

from tidings.base.errors import InvalidField
from tidings.base.messages import Message, decode_message, msg
from tidings.base.times import DAY, HOUR, MINUTE, Instant, to_datetime

TLS_PORT: Final = 993
STARTTLS_PORT: Final = 143
DEFAULT_FOLDER: Final = "INBOX"
# What the first round leaves alone, since it is older.
FIRST_DAYS: Final = 30
MAX_TEXT_CHARS: Final = 255
# Of one round. What is left is read in the next, which begins at once.
MAX_MESSAGES: Final = 100
MAX_ROUND_BYTES: Final = 50 * 2**20
# Letters of full accounts and busy addresses, which are tried again later.
MAX_DEFERRED: Final = 500
DEFERRED_PER_ROUND: Final = 20
_MAX_ADDRESSES: Final = 20
_MAX_WAIT: Final = 6 * HOUR
# After one of these, an account may be locked for repeated attempts.
_MIN_WAIT_AFTER_REFUSAL: Final = 30 * MINUTE
_CONTROL: Final = re.compile(r"[\x00-\x1f\x7f-\x9f]")
_NOT_PLAIN: Final = re.compile(r"&|[^\x20-\x7e]+")
_MONTHS: Final = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")


class Account(Struct, frozen=True):
    """A mailbox as it is configured."""

    host: str
    port: int
    has_tls: bool
    has_starttls: bool
    """TLS begins after STARTTLS, instead of with the first byte."""
    username: str
    password: str
    folder: str
    marks_seen: bool

    def __repr__(self) -> str:
        """Leaves out the password: mailboxes may appear in logs and tracebacks."""
        return f"{type(self).__name__}({self.host})"

    @property
    def place(self) -> tuple[str, int, str, str]:
        """What identifies the folder: if it changes, the UIDs mean something else."""
        return (self.host, self.port, self.username, self.folder)

    @property
    def sign_in(self) -> tuple[str, int, bool, bool, str]:
        """What a password is for: a stored one goes nowhere else."""
        return (self.host, self.port, self.has_tls, self.has_starttls, self.username)


class Mailbox(Account, frozen=True):
    """One row of `newsletter_mailboxes`, without its claim."""

    id: int
    user_id: int | None
    """None for the mailbox of this installation."""
    uid_validity: int
    last_uid: int
    horizon_uid: int
    letters_since: Instant
    deferred: str
    polled_at: Instant | None
    next_poll_at: Instant
    failures: int
    error: str
    error_form: str
    letters: int

    @property
    def problem(self) -> Message | None:
        """Why the last round failed; None if it did not."""
        return decode_message(self.error, self.error_form) if self.error else None

    @property
    def deferred_uids(self) -> list[int]:
        return [int(one) for one in self.deferred.split()]


def validate_text(field: str, text: str) -> str:
    """Return a text that fits on one line of the protocol. Raises InvalidField."""
    if not text:
        raise InvalidField(field, msg("this must not be empty."))
    if len(text) > MAX_TEXT_CHARS:
        raise InvalidField(field, msg("this is too long: at most {max} characters.", max=MAX_TEXT_CHARS))
    if _CONTROL.search(text):
        raise InvalidField(field, msg("this holds a line break or another invisible character: remove it."))
    return text


def wait_after(failures: int, interval: timedelta, *, is_refused: bool = False) -> int:
    """Return the microseconds until the next round. failures: rounds that failed since the last success.

    is_refused: the server did not accept the password.
    """
    usual = interval // timedelta(microseconds=1)
    wait = max(usual, min(usual << min(failures, 12), _MAX_WAIT))
    return max(wait, _MIN_WAIT_AFTER_REFUSAL) if is_refused else wait


def first_since(now: Instant) -> Instant:
    """Return from when on the first round takes letters."""
    return Instant(now - FIRST_DAYS * DAY)


def imap_date(moment: Instant) -> str:
    """Return a date as a search has it (RFC 9051, section 9: date); months are English in every locale."""
    day = to_datetime(moment)
    return f"{day.day}-{_MONTHS[day.month - 1]}-{day.year}"


def encode_folder(name: str) -> str:
    """Return the name of a folder as servers have it, in quotes. Source: RFC 3501, section 5.1.3 (modified UTF-7)."""
    return quote(_NOT_PLAIN.sub(lambda found: f"&{_base64(found[0])}-", name))


def _base64(text: str) -> str:
    if text == "&":
        return ""
    return b64encode(text.encode("utf-16-be")).decode("ascii").rstrip("=").replace("/", ",")


def quote(text: str) -> str:
    """Return a quoted string. Source: RFC 3501, section 4.3."""
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'


class AddressFinder:
    """Finds secrets in what the headers of a message say about its recipients.

    template: a mail address with {secret}; servers may have changed the case of addresses.
    """

    def __init__(self, template: str) -> None:
        before, _, after = template.partition("{secret}")
        pattern = rf"(?<![\w.+-]){re.escape(before)}([a-z2-7]{{32}}){re.escape(after)}(?![\w.-])"
        self._pattern = re.compile(pattern.encode(), re.IGNORECASE)

    def secrets(self, headers: bytes) -> list[str]:
        """Return each secret once, in the order of the headers."""
        found = dict.fromkeys(match.decode().lower() for match in self._pattern.findall(headers))
        return [*found][:_MAX_ADDRESSES]


def after_deferral(deferred: Sequence[int], tried: Iterable[int], again: Iterable[int]) -> tuple[list[int], list[int]]:
    """Return which letters wait now, the next one first, and which are given up.

    deferred: those that waited. tried: those of them that were tried in this round. again: those to try later.
    """
    gone = {*tried}
    waiting = [*dict.fromkeys([*(uid for uid in deferred if uid not in gone), *again])]
    return waiting[-MAX_DEFERRED:], waiting[:-MAX_DEFERRED]
