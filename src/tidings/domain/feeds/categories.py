"""Categories, and the rules for their titles."""

from __future__ import annotations

from msgspec import Struct

from tidings.base.errors import InvalidInput
from tidings.base.messages import msg
from tidings.base.text import normalize_for_search, reject_nul

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


def validate_title(title: str) -> str:
    """Return the title on one line. Raises InvalidInput if it is blank or too long, or holds a NUL character."""
    title = title.replace("\n", " ")
    if not title.strip():
        raise InvalidInput(
            msg("A category needs a title: give a text with at least one visible character."), field="title"
        )
    if len(title) > MAX_TITLE or max(len(title.encode()), len(normalize_for_search(title).encode())) > MAX_KEY_BYTES:
        raise InvalidInput(
            msg("This category title is too long: {max} characters at most.", max=MAX_TITLE), field="title"
        )
    return reject_nul(title, field="title")
