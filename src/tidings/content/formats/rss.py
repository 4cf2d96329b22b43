"""Parses RSS 0.9x, 1.0 (RDF) and 2.0: the channel, and where its items are."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import Final

from lxml.etree import _Element
from msgspec.structs import replace

from tidings.base.times import Instant
from tidings.content.formats import text
from tidings.content.formats.authors import channel_author
from tidings.content.formats.entry_builder import FeedDefaults, build_entries, order_of_dates, unique_sorted
from tidings.content.formats.hints import read_hints
from tidings.content.formats.limits import MAX_INHERITED_TAGS
from tidings.content.formats.rss_items import RssItemNamePriorities, alternate_link, read_item, void_link
from tidings.content.model import FeedFormat, ParsedFeed
from tidings.content.urls import absolute_url, tidy_url, web_url
from tidings.content.xml.elements import ElementFields, attribute
from tidings.content.xml.namespaces import TagNames
from tidings.content.xml.xml_attributes import declared_base, element_language, normalize_language

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
        tags=unique_sorted(_tags(fields, names))[:MAX_INHERITED_TAGS],
        language=normalize_language(fields.text("language", "dc:language")) or inherited,
        now=now,
    )


def _tags(fields: ElementFields, names: TagNames) -> Iterator[str]:
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
