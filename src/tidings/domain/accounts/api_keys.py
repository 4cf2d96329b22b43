"""API keys: their descriptions, their expiry, and the form in which they are stored."""

from __future__ import annotations

import hashlib
from datetime import date, datetime, time, timedelta
from zoneinfo import ZoneInfo

from tidings.base.errors import InvalidField
from tidings.base.messages import msg
from tidings.base.text import normalize_for_search, reject_nul
from tidings.base.times import Instant, from_datetime
from tidings.domain.accounts.rights import KeyScope

MAX_DESCRIPTION = 10_000
# Bytes. Descriptions are unique, and PostgreSQL limits an index entry to 2,704 bytes.
MAX_KEY_BYTES = 1_000


def token_hash(token: str) -> bytes:
    """Return by what a key is found: the SHA-256 of its token.

    A fast hash is enough: a token is random, 256 bits long, and cannot be guessed from its hash.
    """
    return hashlib.sha256(token.encode("utf-8", "surrogateescape")).digest()


def validate_description(description: str) -> str:
    """Return the description. Raises InvalidInput if it is blank or too long, or holds a NUL character."""
    if not description.strip():
        raise InvalidField("description", msg("say what this key is for, with at least one visible character."))
    if len(description) > MAX_DESCRIPTION:
        raise InvalidField("description", msg("too long, {max:,} characters at most.", max=MAX_DESCRIPTION))
    return reject_nul(description, field="description")


def description_key(description: str) -> str:
    """Return the form in which descriptions are compared: case is ignored, and a long text becomes its digest."""
    folded = normalize_for_search(description)
    encoded = folded.encode("utf-8", "replace")
    return folded if len(encoded) <= MAX_KEY_BYTES else hashlib.sha256(encoded).hexdigest()


def parse_scope(text: str) -> KeyScope:
    """Return the scope with this name. Raises InvalidField."""
    if text not in KeyScope._value2member_map_:
        raise InvalidField("scope", msg("expected one of {scopes}.", scopes=", ".join(KeyScope)))
    return KeyScope(text)


def parse_expiry(text: str, zone: ZoneInfo, now: Instant) -> Instant:
    """Return the moment at which a key stops working.

    text: a date, whose last moment in the zone is meant, or a time in RFC 3339. Raises InvalidField if it is neither,
    or has passed.
    """
    try:
        moment = from_datetime(_end_of_day(text, zone) if len(text) == len("2026-11-26") else _aware(text))
    except (ValueError, OverflowError) as error:
        wrong = msg("expected a date such as 2027-01-31, or a time such as 2027-01-31T12:00:00Z.")
        raise InvalidField("expires_at", wrong) from error
    if moment <= now:
        raise InvalidField("expires_at", msg("this has passed: choose a later date."))
    return moment


def _end_of_day(text: str, zone: ZoneInfo) -> datetime:
    return datetime.combine(date.fromisoformat(text) + timedelta(days=1), time(), zone)


def _aware(text: str) -> datetime:
    moment = datetime.fromisoformat(text)
    if moment.tzinfo is None:
        raise ValueError("no offset")
    return moment
