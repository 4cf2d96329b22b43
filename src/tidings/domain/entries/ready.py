"""An entry that is ready to be stored: filtered, rewritten and cleaned."""

from __future__ import annotations

from msgspec import Struct

from tidings.base.times import Instant
from tidings.content.model import Chapter, ParsedEnclosure
from tidings.domain.entries.entries import EntryStatus


class ReadyEntry(Struct, frozen=True, kw_only=True):
    """The values of an entry to store."""

    hash: bytes
    """Raw bytes."""
    fingerprint: bytes
    """Raw bytes."""
    title: str
    url: str
    content: str
    """Cleaned HTML."""
    author: str = ""
    comments_url: str = ""
    language: str = ""
    published_at: Instant
    reading_time: int = 0
    """In minutes."""
    tags: tuple[str, ...] = ()
    enclosures: tuple[ParsedEnclosure, ...] = ()
    chapters: tuple[Chapter, ...] = ()
    status: EntryStatus = EntryStatus.UNREAD
    starred: bool = False
