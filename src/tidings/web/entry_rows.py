"""Rows of entry lists."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from html import unescape

from markupsafe import Markup, escape
from msgspec import Struct

from tidings.base.url_schemes import safe_href
from tidings.content.cleaning import text_of
from tidings.content.search import Phrase, group_of, parse_query
from tidings.domain.entries import excerpts
from tidings.domain.entries.entries import Entry, EntryCursor, EntryFilter, EntryStatus
from tidings.domain.entries.highlights import Highlighter, TextPiece
from tidings.domain.entries.labels import Label
from tidings.engine.database import Read
from tidings.media.signatures import FOR_ROW
from tidings.query.model import Text, TextField, wanted
from tidings.query.names import phrases
from tidings.storage.entries import duplicates, entry_lists, labels
from tidings.storage.entries.duplicates import Other
from tidings.storage.feeds import feeds, sidebar
from tidings.storage.feeds.sidebar import SidebarFeed
from tidings.web.articles.attachments import Attachments, attachments
from tidings.web.articles.content import article_html, picture_address
from tidings.web.context import RequestContext
from tidings.web.entry_list_pages import ListPage
from tidings.web.times import day_head

# Maximum number of characters of a body that are searched for an excerpt with the query's words.
_EXCERPT_RANGE = 100_000
# Characters.
_MAGAZINE_EXCERPT = 300
# Maximum number of rows on a page of the layouts with high rows, and of the bytes of the bodies in a stream. A longer
# article is not shown whole: with the sidebar, a page stays as small as one of a hundred rows.
MAX_ROWS = {"magazine": 60, "stream": 20}
MAX_ARTICLES_BYTES = 80_000


class Article(Struct, frozen=True):
    """A whole article among others."""

    html: Markup
    attached: Attachments


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
    article: Article | None = None
    """In a stream, unless it is too long."""
    day: str = ""
    """The head above it; empty if the row before is of the same day."""


def rows(
    db: Read,
    context: RequestContext,
    listing: ListPage,
    entries: Sequence[Entry],
    after: EntryCursor | None = None,
    articles: Mapping[int, str] | None = None,
) -> list[Row]:
    """Return the rows of entries. after: the last entry of the page before, whose head is not repeated.

    articles: the bodies of a stream, as `whole_articles` has read them.
    """
    density = context.device.density
    length = _MAGAZINE_EXCERPT if density == "magazine" else excerpts.LENGTH
    known_feeds = sidebar.get_many(db, context.caller.id, {entry.feed_id for entry in entries})
    shown = [entry.id for entry in entries] if density != "compact" else []
    bodies = articles or (entry_lists.bodies(db, [context.caller.id], shown) if shown else {})
    whole = _articles(db, context, entries, articles) if articles else {}
    others = others_of(db, context, entries)
    given = labels.of_entries(db, context.caller.id, [entry.id for entry in entries]) if context.sidebar.labels else {}
    goes_out = context.caller.always_open_external_links
    highlighters = _highlighters(listing.entry_filter, entries) if listing.has_search else {}
    return [
        Row(
            entry,
            known_feeds.get(entry.feed_id),
            (goes_out and safe_href(entry.url)) or context.url(listing.entry_path(entry.id), **listing.query),
            entry.status == EntryStatus.UNREAD,
            bool(goes_out and safe_href(entry.url)),
            _title(entry.title, highlighters.get(entry.language)),
            _excerpt(bodies[entry.id], entry.title, highlighters.get(entry.language), length)
            if entry.id in bodies and entry.id not in whole
            else "",
            _picture(context, bodies[entry.id]) if entry.id in bodies and entry.id not in whole else "",
            others.get(entry.id, ()),
            [label for label in given.get(entry.id, ()) if label.id != listing.label_id],
            whole.get(entry.id),
            day,
        )
        for entry, day in zip(entries, _day_heads(context, listing, entries, after), strict=True)
    ]


def _day_heads(
    context: RequestContext, listing: ListPage, entries: Sequence[Entry], after: EntryCursor | None
) -> Iterator[str]:
    """Return for each entry the head that begins with it, "" for none."""
    zone = context.caller.timezone
    before = day_head(after.moment, context.now, zone) if after else ""
    for entry in entries:
        head = day_head(listing.cursor(entry).moment, context.now, zone)
        yield "" if head == before else head
        before = head


def others_of(db: Read, context: RequestContext, entries: Sequence[Entry]) -> dict[int, list[Other]]:
    """Return the same articles in other feeds, by entry id; {} if the user does not have them found."""
    if context.caller.duplicates == "off":
        return {}
    return duplicates.others_of(db, context.caller.id, [entry.id for entry in entries])


def whole_articles(db: Read, user_id: int, entries: Sequence[Entry]) -> dict[int, str]:
    """Return the bodies of the first entries, as many as a page of a stream has: at least one."""
    bodies = entry_lists.bodies(db, [user_id], [entry.id for entry in entries])
    found: dict[int, str] = {}
    room = MAX_ARTICLES_BYTES
    for entry in entries:
        found[entry.id] = body = bodies.get(entry.id, "")
        room -= _shown_size(body)
        if room < 0 and len(found) > 1:
            del found[entry.id]
            break
    return found


def _shown_size(body: str) -> int:
    """Return the bytes of a body in a stream; 0 for one that is too long, whose beginning is shown instead."""
    size = len(body.encode("utf-8", "replace"))
    return 0 if size > MAX_ARTICLES_BYTES else size


def _articles(
    db: Read, context: RequestContext, entries: Sequence[Entry], bodies: Mapping[int, str]
) -> dict[int, Article]:
    """Return the articles of a stream by the ids of their entries, without those that are too long."""
    user_id = context.caller.id
    enclosures = entry_lists.enclosures_of(db, [user_id], list(bodies))
    owners = feeds.get_many(db, user_id, {entry.feed_id for entry in entries})
    silent = {feed.id for feed in owners if feed.no_media_player}
    found: dict[int, Article] = {}
    for entry in entries:
        body, has_players = bodies[entry.id], entry.feed_id not in silent
        if body and not _shown_size(body):
            continue
        attached = attachments(context, enclosures.get(entry.id, []), body, has_players=has_players)
        html = article_html(context, body, has_players=has_players, poster=attached.poster, entry_id=entry.id)
        found[entry.id] = Article(html, attached)
    return found


def _picture(context: RequestContext, body: str) -> str:
    url = unescape(excerpts.first_image(body))
    address = picture_address(context, url)
    return address if address == url or context.device.density == "magazine" else address + FOR_ROW


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


def _excerpt(body: str, title: str, highlighters: _Highlighters | None, length: int) -> str | Markup:
    if highlighters is None or highlighters.bodies is None:
        return excerpts.without_title(excerpts.excerpt(body, length), title)
    return _marked(highlighters.bodies.excerpt(text_of(body[:_EXCERPT_RANGE])))


def _marked(pieces: Sequence[TextPiece]) -> Markup:
    marked = (f"<mark>{escape(piece.text)}</mark>" if piece.is_match else escape(piece.text) for piece in pieces)
    return Markup("".join(marked))  # noqa: S704 - each piece is escaped
