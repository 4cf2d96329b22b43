"""The latest entries of a feed, shown before the user subscribes to it."""

from __future__ import annotations

from msgspec import Struct

from tidings.base.times import Instant
from tidings.content.model import ParsedFeed

MAX_ENTRIES = 5
MAX_TITLE_LENGTH = 200


class EntryPreview(Struct, frozen=True):
    """An entry in the preview of a feed."""

    title: str
    url: str
    """The link, "" if the entry has none."""
    published_at: Instant | None
    """None if the document gives no usable date."""


def newest(document: ParsedFeed) -> tuple[EntryPreview, ...]:
    """Returns the latest entries; those without a date come last, in the order of the document."""
    by_date = sorted(document.entries, key=lambda entry: -(entry.published_at or 0))
    return tuple(
        EntryPreview(entry.title[:MAX_TITLE_LENGTH], entry.url, entry.published_at) for entry in by_date[:MAX_ENTRIES]
    )
