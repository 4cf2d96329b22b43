"""Entries as lists show them."""

from __future__ import annotations

from collections.abc import Sequence

from markupsafe import Markup, escape
from msgspec import Struct

from tidings.domain import excerpts
from tidings.domain.cleaning import text_of
from tidings.domain.entries import Entry, Status
from tidings.domain.highlights import Highlighter, Piece
from tidings.domain.search import parse
from tidings.storage import entry_lists
from tidings.storage.database import Read
from tidings.storage.outline import FeedLine
from tidings.web.listings import Listing
from tidings.web.visits import Visit

# Of the body of an entry that was found, in characters: beyond it nothing is looked for to be shown.
_LOOKED_THROUGH = 100_000


class Row(Struct, frozen=True):
    """excerpt: "" where the density shows none. picture: its address, escaped as in HTML, or "".

    is_elsewhere: the user wants the original at once, and path leads there.
    """

    entry: Entry
    feed: FeedLine | None
    path: str
    is_unread: bool
    is_elsewhere: bool = False
    title: str | Markup = ""
    excerpt: str | Markup = ""
    picture: Markup = Markup("")


def rows(db: Read, visit: Visit, listing: Listing, entries: Sequence[Entry]) -> list[Row]:
    density, feeds = visit.device.density, visit.sidebar.feeds
    bodies = entry_lists.bodies(db, [entry.id for entry in entries]) if density != "compact" else {}
    asked, goes_out = listing.which.search, visit.caller.always_open_external_links
    highlighter = Highlighter(parse(asked)) if asked else None
    return [
        Row(
            entry,
            feeds.get(entry.feed_id),
            entry.url if goes_out and entry.url else visit.url(listing.entry_path(entry.id), **listing.query),
            entry.status == Status.UNREAD,
            bool(goes_out and entry.url),
            _marked(highlighter.pieces(entry.title)) if highlighter else entry.title,
            _excerpt(bodies[entry.id], highlighter) if entry.id in bodies else "",
            # It was escaped when the entry was cleaned.
            Markup(excerpts.picture(bodies[entry.id]) if density == "cards" and entry.id in bodies else ""),  # noqa: S704
        )
        for entry in entries
    ]


def _excerpt(body: str, highlighter: Highlighter | None) -> str | Markup:
    if highlighter is None:
        return excerpts.excerpt(body)
    return _marked(highlighter.excerpt(text_of(body[:_LOOKED_THROUGH])))


def _marked(pieces: Sequence[Piece]) -> Markup:
    marked = (f"<mark>{escape(piece.text)}</mark>" if piece.is_found else escape(piece.text) for piece in pieces)
    return Markup("".join(marked))  # noqa: S704 - each piece is escaped
