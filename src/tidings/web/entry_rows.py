"""Rows of entry lists."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from html import unescape

from markupsafe import Markup, escape
from msgspec import Struct

from tidings.base.url_schemes import safe_href
from tidings.content.cleaning import text_of
from tidings.content.search import Phrase, group_of, parse_query
from tidings.domain.entries import excerpts
from tidings.domain.entries.entries import Entry, EntryFilter, EntryStatus
from tidings.domain.entries.highlights import Highlighter, TextPiece
from tidings.domain.entries.labels import Label
from tidings.engine.database import Read
from tidings.media.signatures import FOR_ROW
from tidings.query.model import Text, TextField, wanted
from tidings.query.names import phrases
from tidings.storage.entries import duplicates, entry_lists, labels
from tidings.storage.entries.duplicates import Other
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
    others: Sequence[Other] = ()
    """The same article in other feeds."""
    labels: Sequence[Label] = ()
    """Without the one whose list this is."""


def rows(db: Read, context: RequestContext, listing: ListPage, entries: Sequence[Entry]) -> list[Row]:
    density = context.device.density
    feeds = sidebar.get_many(db, context.caller.id, {entry.feed_id for entry in entries})
    shown = [entry.id for entry in entries] if density != "compact" else []
    bodies = entry_lists.bodies(db, [context.caller.id], shown) if shown else {}
    others = others_of(db, context, entries)
    given = labels.of_entries(db, context.caller.id, [entry.id for entry in entries]) if context.sidebar.labels else {}
    goes_out = context.caller.always_open_external_links
    highlighters = _highlighters(listing.entry_filter, entries) if listing.has_search else {}
    return [
        Row(
            entry,
            feeds.get(entry.feed_id),
            (goes_out and safe_href(entry.url)) or context.url(listing.entry_path(entry.id), **listing.query),
            entry.status == EntryStatus.UNREAD,
            bool(goes_out and safe_href(entry.url)),
            _title(entry.title, highlighters.get(entry.language)),
            _excerpt(bodies[entry.id], highlighters.get(entry.language)) if entry.id in bodies else "",
            _picture(context, bodies[entry.id]) if density == "cards" and entry.id in bodies else "",
            others.get(entry.id, ()),
            [label for label in given.get(entry.id, ()) if label.id != listing.label_id],
        )
        for entry in entries
    ]


def others_of(db: Read, context: RequestContext, entries: Sequence[Entry]) -> dict[int, list[Other]]:
    """Return the same articles in other feeds, by entry id; {} if the user does not have them found."""
    if context.caller.duplicates == "off":
        return {}
    return duplicates.others_of(db, context.caller.id, [entry.id for entry in entries])


def _picture(context: RequestContext, body: str) -> str:
    url = unescape(excerpts.first_image(body))
    address = picture_address(context, url)
    return address if address == url else address + FOR_ROW


class _Highlighters(Struct, frozen=True):
    """What highlights the words of a search in one group of languages. None where it asks for no words."""

    titles: Highlighter | None
    bodies: Highlighter | None


def _highlighters(entry_filter: EntryFilter, entries: Sequence[Entry]) -> dict[str, _Highlighters]:
    """Return the highlighters by language, which decides how words are stemmed."""
    groups = {language: group_of(language) for language in {entry.language for entry in entries}}
    created = {
        group: _Highlighters(
            _highlighter(entry_filter, group, TextField.TITLE), _highlighter(entry_filter, group, TextField.TEXT)
        )
        for group in set(groups.values())
    }
    return {language: created[group] for language, group in groups.items()}


def _highlighter(entry_filter: EntryFilter, group: str, field: TextField) -> Highlighter | None:
    found = (*parse_query(entry_filter.search, group).wanted, *_phrases_of_query(entry_filter, group, field))
    return Highlighter(found, group) if found else None


def _phrases_of_query(entry_filter: EntryFilter, group: str, field: TextField) -> Iterator[Phrase]:
    for leaf in wanted(entry_filter.query.tree) if entry_filter.query else ():
        if isinstance(leaf, Text) and leaf.field in (TextField.ANY, field):
            yield from phrases(leaf.words, group, is_prefix=leaf.is_prefix)


def _title(title: str, highlighters: _Highlighters | None) -> str | Markup:
    return _marked(highlighters.titles.pieces(title)) if highlighters and highlighters.titles else title


def _excerpt(body: str, highlighters: _Highlighters | None) -> str | Markup:
    if highlighters is None or highlighters.bodies is None:
        return excerpts.excerpt(body)
    return _marked(highlighters.bodies.excerpt(text_of(body[:_EXCERPT_RANGE])))


def _marked(pieces: Sequence[TextPiece]) -> Markup:
    marked = (f"<mark>{escape(piece.text)}</mark>" if piece.is_match else escape(piece.text) for piece in pieces)
    return Markup("".join(marked))  # noqa: S704 - each piece is escaped
