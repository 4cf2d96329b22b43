"""API keys: validation of their descriptions."""

from __future__ import annotations

import hashlib

from tidings.base.errors import InvalidField
from tidings.base.messages import msg
from tidings.base.text import normalize_for_search, reject_nul

MAX_DESCRIPTION = 10_000
# Bytes. Descriptions are unique, and PostgreSQL limits an index entry to 2,704 bytes.
MAX_KEY_BYTES = 1_000


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
