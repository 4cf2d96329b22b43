"""Rows of entry lists."""

from __future__ import annotations

from collections.abc import Sequence
from html import unescape

from markupsafe import Markup, escape
from msgspec import Struct

from tidings.base.url_schemes import safe_href
from tidings.content.cleaning import text_of
from tidings.content.search import group_of, parse_query
from tidings.domain.entries import excerpts
from tidings.domain.entries.entries import Entry, EntryStatus
from tidings.domain.entries.highlights import Highlighter, TextPiece
from tidings.engine.database import Read
from tidings.media.signatures import FOR_ROW
from tidings.storage.entries import entry_lists
from tidings.storage.feeds import sidebar
from tidings.storage.feeds.sidebar import SidebarFeed
from tidings.web.articles.content import picture_address
from tidings.web.context import RequestContext
from tidings.web.entry_list_pages import ListPage

# Maximum number of characters of a body that are searched for an excerpt with the query's words.
_EXCERPT_RANGE = 100_000


class Row(Struct, frozen=True):
    """A row in a list of entries."""

    entry: Entry
    feed: SidebarFeed | None
    path: str
    is_unread: bool
    is_external: bool = False
    """`path` leads to the original, because the user wants that."""
    title: str | Markup = ""
    excerpt: str | Markup = ""
    """Empty when the density shows no excerpts."""
    picture: str = ""
    """The picture's URL; empty for none."""


def rows(db: Read, context: RequestContext, listing: ListPage, entries: Sequence[Entry]) -> list[Row]:
    density = context.device.density
    feeds = sidebar.get_many(db, context.caller.id, {entry.feed_id for entry in entries})
    shown = [entry.id for entry in entries] if density != "compact" else []
    bodies = entry_lists.bodies(db, [context.caller.id], shown) if shown else {}
    search, goes_out = listing.entry_filter.search, context.caller.always_open_external_links
    highlighters = _highlighters(search, entries) if search else {}
    return [
        Row(
            entry,
            feeds.get(entry.feed_id),
            (goes_out and safe_href(entry.url)) or context.url(listing.entry_path(entry.id), **listing.query),
            entry.status == EntryStatus.UNREAD,
            bool(goes_out and safe_href(entry.url)),
            _marked(highlighters[entry.language].pieces(entry.title)) if search else entry.title,
            _excerpt(bodies[entry.id], highlighters.get(entry.language)) if entry.id in bodies else "",
            _picture(context, bodies[entry.id]) if density == "cards" and entry.id in bodies else "",
        )
        for entry in entries
    ]


def _picture(context: RequestContext, body: str) -> str:
    url = unescape(excerpts.first_image(body))
    address = picture_address(context, url)
    return address if address == url else address + FOR_ROW


def _highlighters(query: str, entries: Sequence[Entry]) -> dict[str, Highlighter]:
    """Return a highlighter by language, which decides how the words of the query are stemmed."""
    groups = {language: group_of(language) for language in {entry.language for entry in entries}}
    created = {group: Highlighter(parse_query(query, group), group) for group in set(groups.values())}
    return {language: created[group] for language, group in groups.items()}


def _excerpt(body: str, highlighter: Highlighter | None) -> str | Markup:
    if highlighter is None:
        return excerpts.excerpt(body)
    return _marked(highlighter.excerpt(text_of(body[:_EXCERPT_RANGE])))


def _marked(pieces: Sequence[TextPiece]) -> Markup:
    marked = (f"<mark>{escape(piece.text)}</mark>" if piece.is_match else escape(piece.text) for piece in pieces)
    return Markup("".join(marked))  # noqa: S704 - each piece is escaped
