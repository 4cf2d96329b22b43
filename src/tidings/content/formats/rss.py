"""Parses RSS 0.9x, 1.0 (RDF) and 2.0: the channel, and its items with the extensions of `formats.extensions`.

Where several elements can hold the same value, `RssItemNamePriorities` lists them, the preferred one first.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import Final

from lxml import etree
from lxml.etree import _Element
from msgspec.structs import replace

from tidings.base.times import Instant
from tidings.base.url_schemes import WEB_SCHEMES, scheme_of
from tidings.content import dates
from tidings.content.formats import text
from tidings.content.formats.entry_builder import (
    MAX_INHERITED_TAGS,
    EntryIdentity,
    FeedDefaults,
    UnhashedEntry,
    build_entries,
    order_of_dates,
    unique_sorted,
)
from tidings.content.formats.extensions import (
    AUTHOR_NAMES,
    MEDIA_NAMES,
    MediaElements,
    channel_author,
    item_author,
    main_url,
    parse_duration_minutes,
    parse_size_bytes,
    read_hints,
    simple_chapters,
    unique_by_url,
)
from tidings.content.formats.text import unescape_again
from tidings.content.model import FeedFormat, ParsedEnclosure, ParsedEntry, ParsedFeed
from tidings.content.urls import absolute_url, is_web_url, tidy_url, web_url
from tidings.content.xml.elements import (
    ElementFields,
    NamePriorities,
    TagNames,
    all_values,
    attribute,
    declared_base,
    element_language,
    link_relations,
    normalize_language,
    text_of,
)

# Items

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


# The channel

_DESCRIPTION: Final = (
    "description", "itunes:summary", "itunes:subtitle", "dc:description", "abstract", "atom:subtitle",
)  # fmt: skip

_DATE_NAMES: Final = frozenset(RssItemNamePriorities().dates)


def read_rss(
    root: _Element, *, url: str, feed_format: FeedFormat, is_cut_off: bool = False, now: Instant | None = None
) -> ParsedFeed:
    """Return the feed of an RSS document. url: its URL. is_cut_off: an incomplete last item was left out of `root`."""
    names = TagNames(root)
    outer = ElementFields(root, names)
    fields = ElementFields(outer["channel"][0], names) if "channel" in outer else outer
    base = declared_base(fields.element, declared_base(root, "", url), url)
    channel = _read_channel(root, fields, names, base, url=url, feed_format=feed_format, now=now)
    items = _items(outer, fields)
    if order := order_of_dates(items, partial(_dates, names=names), now):
        channel = replace(channel, date_order=order)
    built = build_entries(read_item(item, channel) for item in items)
    base_url = base or url
    return ParsedFeed(
        format=feed_format,
        title=text.title_to_text(fields.text("title", "dc:title", "itunes:title", "atom:title")) or channel.site_url,
        site_url=tidy_url(channel.site_url),
        description=text.title_to_text(fields.text(*_DESCRIPTION)),
        language=channel.language,
        icon_url=_icon(outer, fields, names, base_url),
        self_url=next(_link_urls(fields, "self", base_url), ""),
        hubs=tuple(dict.fromkeys(_link_urls(fields, "hub", base_url))),
        hints=read_hints(fields, names),
        entries=built.entries,
        other_hashes=built.other_hashes,
        skipped=built.skipped + is_cut_off,
        is_cut_off=is_cut_off,
        limits_reached=built.limits_reached,
    )


def _dates(item: _Element, names: TagNames) -> list[str]:
    return [child.text or "" for child in item if names[str(child.tag)] in _DATE_NAMES]


def _items(outer: ElementFields, channel: ElementFields) -> list[_Element]:
    """Return the items of the channel, and the items next to it that RSS 1.0 and some RSS 2.0 feeds have."""
    items = list(channel.get("item", ()))
    if outer is not channel:
        for other in outer["channel"][1:]:
            items.extend(child for child in other if str(child.tag).lower().endswith("item"))
        items.extend(outer.get("item", ()))
    return items


def _read_channel(
    root: _Element,
    fields: ElementFields,
    names: TagNames,
    base: str,
    *,
    url: str,
    feed_format: FeedFormat,
    now: Instant | None,
) -> FeedDefaults:
    base_url = base or url
    inherited = element_language(fields.element, element_language(root))
    link = fields.text("link") or void_link(fields) or alternate_link(fields) or attribute(fields.element, "href")
    return FeedDefaults(
        names=names,
        format=feed_format,
        url=url,
        declared_base=base,
        site_url=web_url(link, base_url) or url,
        author=channel_author(fields, names),
        tags=unique_sorted(_channel_tags(fields, names))[:MAX_INHERITED_TAGS],
        language=normalize_language(fields.text("language", "dc:language")) or inherited,
        now=now,
    )


def _channel_tags(fields: ElementFields, names: TagNames) -> Iterator[str]:
    yield from fields.texts("category", "dc:subject")
    for category in fields.elements("itunes:category", "googleplay:category"):
        yield attribute(category, "text")
        for nested in ElementFields(category, names).get("itunes:category", ()):
            yield attribute(nested, "text")


def _icon(outer: ElementFields, fields: ElementFields, names: TagNames, base: str) -> str:
    for image in (*fields.get("image", ()), *outer.get("image", ())):
        if url := ElementFields(image, names).text("url"):
            return absolute_url(url, base)
    for name in ("itunes:image", "googleplay:image"):
        if url := fields.attribute(name, "href") or fields.attribute(name, "url"):
            return absolute_url(url, base)
    return absolute_url(fields.text("webfeeds:icon", "atom:icon", "atom:logo", "webfeeds:logo"), base)


def _link_urls(fields: ElementFields, rel: str, base: str) -> Iterator[str]:
    for link in fields.elements("atom:link", "link"):
        if attribute(link, "rel").lower() == rel and (url := absolute_url(attribute(link, "href"), base)):
            yield url
