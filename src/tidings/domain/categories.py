"""Categories: names, and what makes two names the same."""

from __future__ import annotations

from msgspec import Struct

from tidings.domain.errors import InvalidInput
from tidings.domain.text import reject_control_characters

# Titles are indexed, and PostgreSQL limits an index entry to 2,704 bytes; case folding may make a title longer.
MAX_TITLE = 500
MAX_KEY_BYTES = 2_000


class Category(Struct, frozen=True):
    id: int
    user_id: int
    title: str
    hide_globally: bool


class CategoryCounts(Struct, frozen=True):
    feed_count: int = 0
    total_unread: int = 0


def title_key(title: str) -> str:
    """Two titles with the same key are one category: names are compared without case everywhere."""
    return title.strip().casefold()


def checked_title(title: str) -> str:
    if not title.strip():
        raise InvalidInput("A category needs a title: send a text with at least one visible character.", field="title")
    if len(title) > MAX_TITLE or max(len(title.encode()), len(title_key(title).encode())) > MAX_KEY_BYTES:
        raise InvalidInput(f"This category title is too long: {MAX_TITLE} characters at most.", field="title")
    return reject_control_characters(title, field="title")
