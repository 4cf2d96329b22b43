"""What a feed has to say, for somebody who thinks about subscribing to it."""

from __future__ import annotations

from msgspec import Struct

from tidings.domain.feeds.feeds import ParsedFeed
from tidings.domain.times import Instant

MOST = 5
LONGEST_TITLE = 200


class EntryPreview(Struct, frozen=True):
    """url: "" when the entry has none. published_at: None when its document gives no usable date."""

    title: str
    url: str
    published_at: Instant | None


def newest(document: ParsedFeed) -> tuple[EntryPreview, ...]:
    """The latest entries; those without a date come last, in the order of the document."""
    by_date = sorted(document.entries, key=lambda entry: -(entry.published_at or 0))
    return tuple(EntryPreview(one.title[:LONGEST_TITLE], one.url, one.published_at) for one in by_date[:MOST])
