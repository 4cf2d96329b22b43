"""Entries as lists show them."""

from __future__ import annotations

from collections.abc import Sequence

from markupsafe import Markup
from msgspec import Struct

from tidings.domain import excerpts
from tidings.domain.entries import Entry, Status
from tidings.storage import entry_lists
from tidings.storage.database import Read
from tidings.storage.outline import FeedLine
from tidings.web.listings import Listing
from tidings.web.visits import Visit


class Row(Struct, frozen=True):
    """excerpt: "" where the density shows none. picture: its address, escaped as in HTML, or ""."""

    entry: Entry
    feed: FeedLine | None
    path: str
    is_unread: bool
    excerpt: str = ""
    picture: Markup = Markup("")


def rows(db: Read, visit: Visit, listing: Listing, entries: Sequence[Entry]) -> list[Row]:
    density = visit.device.density
    bodies = entry_lists.bodies(db, [entry.id for entry in entries]) if density != "compact" else {}
    feeds = visit.sidebar.feeds
    return [
        Row(
            entry,
            feeds.get(entry.feed_id),
            visit.url(listing.entry_path(entry.id), **listing.query),
            entry.status == Status.UNREAD,
            excerpts.excerpt(bodies[entry.id]) if entry.id in bodies else "",
            # It was escaped when the entry was cleaned.
            Markup(excerpts.picture(bodies[entry.id]) if density == "cards" and entry.id in bodies else ""),  # noqa: S704
        )
        for entry in entries
    ]
