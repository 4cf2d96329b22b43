"""Parses one RSS item with its extensions: Dublin Core, content, podcasts, Media RSS, threading.

Where several elements can hold the same value, `RssItemNamePriorities` lists them, the preferred one first.
"""

from __future__ import annotations

from typing import Final

from lxml import etree
from lxml.etree import _Element

from tidings.base.times import Instant
from tidings.base.url_schemes import WEB_SCHEMES, scheme_of
from tidings.content.dates import dates
from tidings.content.formats import text
from tidings.content.formats.authors import AUTHOR_NAMES, item_author
from tidings.content.formats.chapters import simple_chapters
from tidings.content.formats.double_escaping import unescape_again
from tidings.content.formats.durations import parse_duration_minutes
from tidings.content.formats.entry_builder import FeedDefaults, UnhashedEntry, unique_sorted
from tidings.content.formats.identity import EntryIdentity
from tidings.content.formats.media import MEDIA_NAMES, MediaElements, main_url, parse_size_bytes, unique_by_url
from tidings.content.model import FeedFormat, ParsedEnclosure, ParsedEntry
from tidings.content.urls import absolute_url, is_web_url, tidy_url, web_url
from tidings.content.xml.elements import ElementFields, all_values, attribute, text_of
from tidings.content.xml.namespaces import NamePriorities
from tidings.content.xml.xml_attributes import declared_base, element_language, link_relations, normalize_language

_PAGE_SCHEMES: Final = WEB_SCHEMES | {""}
_PAGE_TYPES: Final = frozenset({"", "text/html", "application/xhtml+xml"})
_RDF_ABOUT: Final = "{http://www.w3.org/1999/02/22-rdf-syntax-ns#}about"


class RssItemNamePriorities(NamePriorities, frozen=True):
    """The names of elements to read from an RSS item, the preferred ones first.

    media, people, tags and comments list all names that are read; the readers define their order.
    """

    title: tuple[str, ...] = ("dc:title", "title", "itunes:title", "atom:title")
    content: tuple[str, ...] = (
        "content:encoded", "xhtml:body", "xhtml:div", "yandex:full-text", "atom:content", "content", "description",
        "googleplay:description", "itunes:summary", "itunes:subtitle", "atom:summary", "dc:description", "body",
        "fullitem", "summary", "abstract",
    )  # fmt: skip
    dates: tuple[str, ...] = (
        "dc:date", "pubdate", "atom:published", "dcterms:issued", "dcterms:created", "atom:updated",
        "dcterms:modified", "date", "published", "updated",
    )  # fmt: skip
    links: tuple[str, ...] = ("feedburner:origlink", "link")
    atom_links: tuple[str, ...] = ("atom:link", "link")
    media: tuple[str, ...] = MEDIA_NAMES
    people: tuple[str, ...] = AUTHOR_NAMES
    tags: tuple[str, ...] = (
        "category", "categories", "dc:subject", "atom:category", "media:category", "media:keywords", "media:group",
        "itunes:category", "itunes:keywords",
    )  # fmt: skip
    comments: tuple[str, ...] = ("comments", "atom:link")
    language: tuple[str, ...] = ("dc:language",)
    duration: tuple[str, ...] = ("itunes:duration",)


def read_item(item: _Element, channel: FeedDefaults) -> UnhashedEntry | None:
    """Return the entry of an `item` element; None for an empty one."""
    if not len(item) and not item.attrib:
        return None
    fields = ElementFields(item, channel.names)
    priorities = channel.names.in_use(RssItemNamePriorities)
    declared = declared_base(item, channel.declared_base, channel.url)
    base = declared or channel.site_url
    media = MediaElements(fields, channel.names, base, priorities.media)
    body, written = fields.body(*priorities.content)
    written = written or media.description()
    content = unescape_again(written)
    title = _title(fields, priorities, media, channel.format)
    enclosures = unique_by_url(_enclosures(fields, priorities, media, base))
    link = fields.text(*priorities.links) or void_link(fields) or alternate_link(fields) or attribute(item, "href")
    url = _item_url(link, fields, enclosures, base) or web_url(channel.site_url, "")
    identity = _identity(fields, priorities, channel.format, link=link, url=url, texts=(title, written))
    if identity.is_empty and not enclosures:
        return None
    page = tidy_url(url)
    entry = ParsedEntry(
        hash="",
        url=page,
        title=title or text.excerpt(content) or page,
        content=content,
        base_url=(declared if body is None else declared_base(body, declared, channel.url)) or page or channel.url,
        author=(item_author(fields, channel.names) if priorities.people else "") or channel.author,
        comments_url=_comments_url(fields) if priorities.comments else "",
        language=_language(fields, priorities, body, channel),
        published_at=_published_at(fields, priorities, channel),
        tags=(unique_sorted(_tags(fields, media)) if priorities.tags else ()) or channel.tags,
        enclosures=enclosures,
        duration_minutes=parse_duration_minutes(fields.text(*priorities.duration)),
        chapters=simple_chapters(fields, channel.names),
    )
    return UnhashedEntry(identity, entry)


def _identity(
    fields: ElementFields,
    priorities: RssItemNamePriorities,
    feed_format: FeedFormat,
    *,
    link: str,
    url: str,
    texts: tuple[str, str],
) -> EntryIdentity:
    """Return the identity of an item. An item without link and text is identified by its other values."""
    # RSS 1.0 has no guid.
    guid = "" if feed_format is FeedFormat.RDF else fields.raw_text("guid")
    if not guid and not link:
        guid = fields.raw_text("atom:id")
    if guid:
        return EntryIdentity(id=guid, link=link, url=url, texts=texts)
    if not link and not any(texts):
        texts = (all_values(fields.element), "")
    date = "" if link else fields.text(*priorities.dates)
    return EntryIdentity(link=link, url=url, texts=texts, date=date)


def _item_url(link: str, fields: ElementFields, enclosures: tuple[ParsedEnclosure, ...], base: str) -> str:
    if url := web_url(link, base) or _permalink(fields, base):
        return url
    if url := main_url(enclosures):
        return url
    return web_url(fields.element.get(_RDF_ABOUT, ""), base)


def _language(
    fields: ElementFields, priorities: RssItemNamePriorities, body: _Element | None, channel: FeedDefaults
) -> str:
    """Return the language of the content, else of the item, else of the channel."""
    around = normalize_language(fields.text(*priorities.language)) or element_language(fields.element, channel.language)
    return around if body is None else element_language(body, around)


def void_link(fields: ElementFields) -> str:
    """Return the URL behind an empty `link`: software for HTML writes `<link/>https://…`, "" if there is none."""
    for link in fields.get("link", ()):
        url = (link.tail or "").strip()
        if url and not link.text and not link.keys() and len(link) == 0 and is_web_url(url):
            return url
    return ""


def alternate_link(fields: ElementFields) -> str:
    """Return the URL of the page that an Atom link inside RSS names, as written; "" if there is none."""
    for link in fields.elements("atom:link", "link"):
        relations = link_relations(link)
        is_alternate = not relations or "alternate" in relations
        if is_alternate and (url := attribute(link, "href")) and scheme_of(url) in _PAGE_SCHEMES:
            return url
    return ""


def _title(
    fields: ElementFields, priorities: RssItemNamePriorities, media: MediaElements, feed_format: FeedFormat
) -> str:
    # In RSS 1.0 the format's own title comes first; in RSS 2.0 Dublin Core's is better.
    title = (feed_format is FeedFormat.RDF and fields.text("title")) or fields.text(*priorities.title) or media.title()
    return text.title_to_text(title)


def _permalink(fields: ElementFields, base: str) -> str:
    """Return the guid as a URL if `isPermaLink` is "true", or is absent and the guid looks like a URL; else ""."""
    for guid in fields.get("guid", ()):
        is_permalink = attribute(guid, "ispermalink").lower()
        url = (guid.text or "").strip()
        if (is_permalink == "" and is_web_url(url)) or is_permalink == "true":
            return web_url(url, base)
    return ""


def _comments_url(fields: ElementFields) -> str:
    """Return the URL of the comments: `comments`, else a `replies` link (RFC 4685)."""
    for written in fields.texts("comments"):
        if is_web_url(written):
            return tidy_url(web_url(written, ""))
    for link in fields.get("atom:link", ()):
        is_page = attribute(link, "type").lower() in _PAGE_TYPES
        if "replies" in link_relations(link) and is_page and is_web_url(attribute(link, "href")):
            return tidy_url(web_url(attribute(link, "href"), ""))
    return ""


def _published_at(fields: ElementFields, priorities: RssItemNamePriorities, channel: FeedDefaults) -> Instant | None:
    for name in priorities.dates:
        for element in reversed(fields.get(name, ())):
            if (instant := dates.parse_date(text_of(element), channel.now, channel.date_order)) is not None:
                return instant
    # CDF has the date as an attribute of the item.
    return dates.parse_date(attribute(fields.element, "lastmod"), channel.now, channel.date_order)


def _tags(fields: ElementFields, media: MediaElements) -> list[str]:
    tags = [text.html_to_text(tag) for tag in fields.texts("category", "dc:subject")]
    tags += (
        attribute(category, "label") or attribute(category, "term") or text_of(category)
        for category in fields.get("atom:category", ())
    )
    for wrapper in fields.get("categories", ()):
        tags += (text.html_to_text(text_of(each)) for each in wrapper)
    if not media.is_empty:
        tags += media.labels()
        tags += () if tags else media.keywords()
    for category in fields.get("itunes:category", ()):
        tags += (attribute(each, "text") for each in category.iter(etree.Element))
    for keywords in fields.texts("itunes:keywords"):
        tags += keywords.split(",")
    return tags


def _enclosures(
    fields: ElementFields, priorities: RssItemNamePriorities, media: MediaElements, base: str
) -> list[ParsedEnclosure]:
    enclosures = [] if media.is_empty else list(media.thumbnails())
    if "enclosure" in fields:
        original = fields.text("feedburner:origenclosurelink")
        for enclosure in fields["enclosure"]:
            url = attribute(enclosure, "url")
            enclosures.append(
                _enclosure(absolute_url(_original_url(url, original) if original else url, base), enclosure)
            )
    # Some publishers write Atom links without their namespace.
    for name in priorities.atom_links:
        for link in fields.get(name, ()):
            if link.keys() and "enclosure" in link_relations(link):
                enclosures.append(_enclosure(absolute_url(attribute(link, "href"), base), link))
    if not media.is_empty:
        enclosures += media.enclosures()
    return enclosures


def _enclosure(url: str, element: _Element) -> ParsedEnclosure:
    return ParsedEnclosure(url, attribute(element, "type"), parse_size_bytes(attribute(element, "length")))


def _original_url(url: str, original: str) -> str:
    """Return the file's own URL if it has the same file name as `url`, which is FeedBurner's URL of the file."""
    if original.rpartition("/")[2] == url.rpartition("/")[2]:
        return original
    return url
