"""API keys: what they may be called."""

from __future__ import annotations

import hashlib

from tidings.domain.errors import InvalidInput
from tidings.domain.text import reject_control_characters, searchable

MAX_DESCRIPTION = 10_000
# Bytes. What is unique is part of an index, which PostgreSQL limits to 2,704 bytes a row.
LONGEST_KEY = 1_000


def checked_description(description: str) -> str:
    if not description.strip():
        raise InvalidInput("description: say what this key is for, with one visible character.", field="description")
    if len(description) > MAX_DESCRIPTION:
        raise InvalidInput(f"description: too long, {MAX_DESCRIPTION:,} characters at most.", field="description")
    return reject_control_characters(description, field="description")


def description_key(description: str) -> str:
    """Two descriptions with the same key are one: case does not count. A long one is told by its digest."""
    folded = searchable(description)
    encoded = folded.encode("utf-8", "replace")
    return folded if len(encoded) <= LONGEST_KEY else hashlib.sha256(encoded).hexdigest()
