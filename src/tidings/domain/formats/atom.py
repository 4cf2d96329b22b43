"""Atom 1.0 (RFC 4287) and 0.3."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from lxml.etree import _Element
from msgspec import Struct

from tidings.domain.feeds import FeedFormat, ParsedEnclosure, ParsedEntry, ParsedFeed
from tidings.domain.formats import dates, text
from tidings.domain.formats.addresses import absolute, is_web, web
from tidings.domain.formats.atom_text import as_html, as_plain
from tidings.domain.formats.drafts import Draft, finish, unique_sorted
from tidings.domain.formats.elements import Fields, about, attribute, text_of
from tidings.domain.formats.hints import read_hints
from tidings.domain.formats.identity import Identity
from tidings.domain.formats.inherited import declared_base, language_inside
from tidings.domain.formats.media import MEDIA_NAMES, Media, once_each, read_size
from tidings.domain.formats.names import Names, Orders
from tidings.domain.formats.people import joined, person
from tidings.domain.formats.rss_items import read_duration
from tidings.domain.formats.size import MAX_INHERITED_TAGS
from tidings.domain.times import Instant

_PAGE_TYPES: Final = frozenset({"", "text/html", "application/xhtml+xml"})


class Heard(Orders, frozen=True):
    """dates: of Atom 1.0, then Atom 0.3, then what some add from elsewhere. media: whether there is any at all."""

    dates: tuple[str, ...] = (
        "published", "issued", "dc:date", "pubdate", "updated", "modified", "created", "dcterms:issued",
    )  # fmt: skip
    media: tuple[str, ...] = MEDIA_NAMES
    comments: tuple[str, ...] = ("comments",)
    duration: tuple[str, ...] = ("itunes:duration",)


class Link(Struct, frozen=True):
    """rel, type: in lower case."""

    rel: str
    type: str
    href: str
    element: _Element


class Feed(Struct, frozen=True):
    """What an entry falls back to."""

    names: Names
    url: str
    declared_base: str
    site_url: str
    author: str = ""
    tags: tuple[str, ...] = ()
    language: str = ""
    now: Instant | None = None


def read_atom(root: _Element, *, url: str, is_cut_off: bool = False, now: Instant | None = None) -> ParsedFeed:
    """url: the document's address. is_cut_off: an incomplete last entry was left out.

    A lone `entry` document is a feed of one.
    """
    names = Names(root, core=frozenset({"atom"}))
    fields = Fields(root, names)
    is_lone = names[str(root.tag)] == "entry"
    entry_elements = [root] if is_lone else fields.get("entry", [])
    links = read_links(fields)
    feed = _read_feed(fields, names, links, url, now)
    finished = finish(read_entry(each, feed) for each in entry_elements)
    near = feed.declared_base or url
    return ParsedFeed(
        format=FeedFormat.ATOM,
        title=_plain(fields, "title") or feed.site_url,
        site_url=feed.site_url,
        description=_plain(fields, "subtitle", "tagline", "info"),
        language=feed.language,
        icon_url=absolute(fields.text("icon", "logo", "webfeeds:icon"), near),
        self_url=next(_addresses(links, "self", near), ""),
        hubs=tuple(dict.fromkeys(_addresses(links, "hub", near))),
        hints=read_hints(fields, names),
        entries=finished.entries,
        skipped=finished.skipped + is_cut_off,
        is_plain=finished.are_apart,
    )


def _read_feed(fields: Fields, names: Names, links: list[Link], url: str, now: Instant | None) -> Feed:
    base = declared_base(fields.element, "", url)
    return Feed(
        names=names,
        url=url,
        declared_base=base,
        site_url=web(page_link(fields, links), base or url) or url,
        author=_people(fields, names),
        tags=unique_sorted(_tags(fields))[:MAX_INHERITED_TAGS],
        language=language_inside(fields.element),
        now=now,
    )


def read_entry(element: _Element, feed: Feed) -> Draft | None:
    """None for an entry that says nothing at all."""
    fields = Fields(element, feed.names)
    heard = feed.names.heard(Heard)
    declared = declared_base(element, feed.declared_base, feed.url)
    base = declared or feed.site_url
    media = Media(fields, feed.names, base, heard.media)
    body, content = _content(fields, media)
    title = _plain(fields, "title") or text.one_line(media.title())
    links = read_links(fields)
    link, entry_id = page_link(fields, links), fields.raw("id")
    url = _entry_url(link, entry_id, fields, base) or web(feed.site_url, "")
    if not len(element):
        return None
    entry = ParsedEntry(
        hash="",
        url=url,
        title=title or text.excerpt(content) or url,
        content=content,
        base_url=(declared if body is None else declared_base(body, declared, url or feed.url)) or url or feed.url,
        author=_people(fields, feed.names) or _source_people(fields, feed.names) or feed.author,
        comments_url=_comments_url(fields, heard, links),
        language=_language(element, body, feed),
        published_at=_published(fields, heard, feed.now),
        tags=unique_sorted(_tags(fields)) or feed.tags,
        enclosures=once_each(_enclosures(links, media, base)),
        duration_minutes=read_duration(fields.text(*heard.duration)),
    )
    says = "" if entry_id else title + fields.text(*heard.dates) + content or about(element)
    return Draft(Identity(id=entry_id, link=link, url=url, says=says), entry)


def _language(element: _Element, body: _Element | None, feed: Feed) -> str:
    """That of the text one reads, else of the entry, else of the feed."""
    around = language_inside(element, feed.language)
    return around if body is None else language_inside(body, around)


def read_links(fields: Fields) -> list[Link]:
    return [
        Link(attribute(each, "rel").lower(), attribute(each, "type").lower(), attribute(each, "href"), each)
        for each in fields.get("link", ())
    ]


def page_link(fields: Fields, links: list[Link]) -> str:
    """The address of the page, as written: the first alternate link, or one that does not say what it is."""
    for link in links:
        if link.href and (link.rel == "alternate" or (not link.rel and link.type in _PAGE_TYPES)):
            return link.href
    # Some write the address between the tags, as RSS does.
    return fields.text("link")


def _entry_url(link: str, entry_id: str, fields: Fields, base: str) -> str:
    if found := web(link, base):
        return found
    # Some ids end in the title as it is, blanks and all.
    return web(entry_id, "") or web(fields.attribute("content", "src"), base)


def _content(fields: Fields, media: Media) -> tuple[_Element | None, str]:
    """The element the body comes from, if any, and the body."""
    for name in ("content", "summary"):
        for element in reversed(fields.get(name, ())):
            if (found := as_html(element)) and not found.isspace():
                return element, found
    return None, text.escaped(media.description()).replace("\n", "<br>")


def _plain(fields: Fields, *names: str) -> str:
    for name in names:
        for element in fields.get(name, ()):
            if found := as_plain(element):
                return found
    return ""


def _people(fields: Fields, names: Names) -> str:
    for name in ("author", "contributor"):
        if name in fields and (found := joined([person(each, names) for each in fields[name]])):
            return found
    return fields.text("dc:creator")


def _source_people(fields: Fields, names: Names) -> str:
    """An aggregated entry without an author has that of the feed it comes from."""
    for source in fields.get("source", ()):
        return _people(Fields(source, names), names)
    return ""


def _comments_url(fields: Fields, heard: Heard, links: list[Link]) -> str:
    """Where people answer (RFC 4685)."""
    for link in links:
        if link.rel == "replies" and link.type in _PAGE_TYPES and is_web(link.href):
            return web(link.href, "")
    return next((web(written, "") for written in fields.texts(*heard.comments) if is_web(written)), "")


def _published(fields: Fields, heard: Heard, now: Instant | None) -> Instant | None:
    for name in heard.dates:
        for element in reversed(fields.get(name, ())):
            if (instant := dates.read(text_of(element), now)) is not None:
                return instant
    return None


def _tags(fields: Fields) -> list[str]:
    found = fields.texts("dc:subject")
    for category in fields.get("category", ()):
        found.append(attribute(category, "label") or attribute(category, "term") or category.text or "")
    return found


def _enclosures(links: list[Link], media: Media, base: str) -> list[ParsedEnclosure]:
    found = [] if media.is_silent else list(media.thumbnails())
    for link in links:
        if link.rel == "enclosure":
            # The type as it is written, upper case and all.
            size = read_size(attribute(link.element, "length"))
            found.append(ParsedEnclosure(absolute(link.href, base), attribute(link.element, "type"), size))
    if not media.is_silent:
        found += media.enclosures()
    return found


def _addresses(links: list[Link], rel: str, base: str) -> Iterator[str]:
    for link in links:
        if link.rel == rel and (address := absolute(link.href, base)):
            yield address
