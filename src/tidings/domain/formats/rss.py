"""RSS 0.9x, 1.0 (RDF) and 2.0: the channel, and the way from its items to entries."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from lxml.etree import _Element

from tidings.domain.feeds import FeedFormat, ParsedFeed
from tidings.domain.formats import text
from tidings.domain.formats.addresses import absolute, web
from tidings.domain.formats.drafts import finish, unique_sorted
from tidings.domain.formats.elements import Fields, attribute
from tidings.domain.formats.hints import read_hints
from tidings.domain.formats.inherited import declared_base, language, language_inside
from tidings.domain.formats.names import Names
from tidings.domain.formats.people import author_of_channel
from tidings.domain.formats.rss_items import Channel, alternate_link, read_item
from tidings.domain.formats.size import MAX_INHERITED_TAGS
from tidings.domain.times import Instant

_DESCRIPTION: Final = ("description", "itunes:summary", "itunes:subtitle", "dc:description", "abstract")


def read_rss(
    root: _Element, *, url: str, form: FeedFormat, is_cut_off: bool = False, now: Instant | None = None
) -> ParsedFeed:
    """url: the document's address. is_cut_off: an incomplete last item was left out."""
    names = Names(root)
    outer = Fields(root, names)
    fields = Fields(outer["channel"][0], names) if "channel" in outer else outer
    base = declared_base(fields.element, declared_base(root, "", url), url)
    channel = _read_channel(root, fields, names, base, url=url, form=form, now=now)
    items = _items(outer, fields)
    finished = finish(read_item(item, channel) for item in items)
    near = base or url
    return ParsedFeed(
        format=form,
        title=text.from_title(fields.text("title", "dc:title", "itunes:title")) or channel.site_url,
        site_url=channel.site_url,
        description=text.from_title(fields.text(*_DESCRIPTION)),
        language=channel.language,
        icon_url=_icon(outer, fields, names, near),
        self_url=next(_links(fields, "self", near), ""),
        hubs=tuple(dict.fromkeys(_links(fields, "hub", near))),
        hints=read_hints(fields, names),
        entries=finished.entries,
        skipped=finished.skipped + is_cut_off,
        is_plain=finished.are_apart,
    )


def _items(outer: Fields, channel: Fields) -> list[_Element]:
    """RSS 1.0 puts items beside the channel, and so do some who write 2.0."""
    items = list(channel.get("item", ()))
    if outer is not channel:
        for other in outer["channel"][1:]:
            items.extend(child for child in other if str(child.tag).lower().endswith("item"))
        items.extend(outer.get("item", ()))
    return items


def _read_channel(
    root: _Element, fields: Fields, names: Names, base: str, *, url: str, form: FeedFormat, now: Instant | None
) -> Channel:
    near = base or url
    inherited = language_inside(fields.element, language_inside(root))
    link = fields.text("link") or alternate_link(fields) or attribute(fields.element, "href")
    return Channel(
        names=names,
        form=form,
        url=url,
        declared_base=base,
        site_url=web(link, near) or url,
        author=author_of_channel(fields, names),
        tags=unique_sorted(_tags(fields, names))[:MAX_INHERITED_TAGS],
        language=language(fields.text("language", "dc:language")) or inherited,
        now=now,
    )


def _tags(fields: Fields, names: Names) -> Iterator[str]:
    yield from fields.texts("category", "dc:subject")
    for category in fields.every("itunes:category", "googleplay:category"):
        yield attribute(category, "text")
        for nested in Fields(category, names).get("itunes:category", ()):
            yield attribute(nested, "text")


def _icon(outer: Fields, fields: Fields, names: Names, base: str) -> str:
    for image in (*fields.get("image", ()), *outer.get("image", ())):
        if address := Fields(image, names).text("url"):
            return absolute(address, base)
    for name in ("itunes:image", "googleplay:image"):
        if address := fields.attribute(name, "href") or fields.attribute(name, "url"):
            return absolute(address, base)
    return absolute(fields.text("webfeeds:icon", "atom:icon", "atom:logo", "webfeeds:logo"), base)


def _links(fields: Fields, rel: str, base: str) -> Iterator[str]:
    for link in fields.every("atom:link", "link"):
        if attribute(link, "rel").lower() == rel and (address := absolute(attribute(link, "href"), base)):
            yield address
