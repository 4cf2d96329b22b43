"""API keys: what they may be called."""

from __future__ import annotations

import hashlib

from tidings.domain.errors import InvalidField
from tidings.domain.messages import msg
from tidings.domain.text import normalize_for_search, reject_nul

MAX_DESCRIPTION = 10_000
# Bytes. What is unique is part of an index, which PostgreSQL limits to 2,704 bytes a row.
LONGEST_KEY = 1_000


def checked_description(description: str) -> str:
    if not description.strip():
        raise InvalidField("description", msg("say what this key is for, with one visible character."))
    if len(description) > MAX_DESCRIPTION:
        raise InvalidField("description", msg("too long, {most:,} characters at most.", most=MAX_DESCRIPTION))
    return reject_nul(description, field="description")


def description_key(description: str) -> str:
    """Two descriptions with the same key are one: case does not count. A long one is told by its digest."""
    folded = normalize_for_search(description)
    encoded = folded.encode("utf-8", "replace")
    return folded if len(encoded) <= LONGEST_KEY else hashlib.sha256(encoded).hexdigest()
