"""One item of RSS, with the extensions publishers use: Dublin Core, content, podcasts, Media RSS, threading.

Where several elements say the same thing, the lists of names below are the order in which they are heard.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from lxml import etree
from lxml.etree import _Element
from msgspec import Struct

from tidings.domain.feeds import FeedFormat, ParsedEnclosure, ParsedEntry
from tidings.domain.formats import dates, text
from tidings.domain.formats.addresses import absolute, is_web, web
from tidings.domain.formats.drafts import Draft, unique_sorted
from tidings.domain.formats.elements import Fields, about, attribute
from tidings.domain.formats.identity import Identity
from tidings.domain.formats.inherited import declared_base, language, language_inside
from tidings.domain.formats.media import Media, once_each, read_size
from tidings.domain.formats.names import Names
from tidings.domain.formats.people import author_of_item
from tidings.domain.times import Instant

_CONTENT: Final = (
    "content:encoded", "xhtml:body", "xhtml:div", "description", "googleplay:description", "itunes:summary",
    "itunes:subtitle", "atom:content", "atom:summary", "dc:description", "body", "fullitem", "summary", "content",
    "abstract",
)  # fmt: skip
_DATES: Final = ("dc:date", "pubdate", "atom:published", "dcterms:issued", "dcterms:created", "atom:updated",
                 "dcterms:modified", "date", "published", "updated")  # fmt: skip
_PAGE_TYPES: Final = frozenset({"", "text/html", "application/xhtml+xml"})
_LONGEST_DURATION: Final = 3


class Channel(Struct, frozen=True):
    """What an item falls back to.

    url: of the document. declared_base: what xml:base says, "" if nothing.
    """

    names: Names
    form: FeedFormat
    url: str
    declared_base: str
    site_url: str
    author: str = ""
    tags: tuple[str, ...] = ()
    language: str = ""
    now: Instant | None = None


def read_item(item: _Element, channel: Channel) -> Draft | None:
    """None for an item that says nothing at all."""
    if not len(item) and not item.attrib:
        return None
    fields = Fields(item, channel.names)
    declared = declared_base(item, channel.declared_base, channel.url)
    base = declared or channel.site_url
    media = Media(fields, channel.names, base)
    body, content = fields.body(*_CONTENT)
    content = content or media.description()
    title = _title(fields, media, channel.form)
    enclosures = once_each(_enclosures(fields, media, base))
    link = fields.text("feedburner:origlink", "link") or alternate_link(fields) or attribute(item, "href")
    url = _address(link, fields, enclosures, base) or web(channel.site_url, "")
    identity = _identity(fields, channel.form, link=link, url=url, says=title + content)
    if identity.is_empty and not enclosures:
        return None
    entry = ParsedEntry(
        hash="",
        url=url,
        title=title or text.excerpt(content) or url,
        content=content,
        base_url=(declared if body is None else declared_base(body, declared, channel.url)) or url or channel.url,
        author=author_of_item(fields, channel.names) or channel.author,
        comments_url=_comments_url(fields),
        language=_language(fields, body, channel),
        published_at=_published(fields, channel.now),
        tags=unique_sorted(_tags(fields, media)) or channel.tags,
        enclosures=enclosures,
        duration_minutes=read_duration(fields.text("itunes:duration")),
    )
    return Draft(identity, entry)


def _identity(fields: Fields, form: FeedFormat, *, link: str, url: str, says: str) -> Identity:
    """RSS 1.0 has no guid. An item with neither a link nor a text is known by whatever else it says."""
    guid = "" if form is FeedFormat.RDF else fields.raw("guid")
    rest = "" if guid or link or says else about(fields.element)
    date = fields.text(*_DATES) if not (guid or link) else ""
    return Identity(id=guid, link=link, url=url, says=says or rest, date=date)


def _address(link: str, fields: Fields, enclosures: tuple[ParsedEnclosure, ...], base: str) -> str:
    if found := web(link, base) or _permalink(fields, base):
        return found
    return next((address for each in enclosures if (address := web(each.url, base))), "")


def _language(fields: Fields, body: _Element | None, channel: Channel) -> str:
    """That of the text one reads, else of the item, else of the channel."""
    around = language(fields.text("dc:language")) or language_inside(fields.element, channel.language)
    return around if body is None else language_inside(body, around)


def alternate_link(fields: Fields) -> str:
    """The page an Atom link inside RSS leads to."""
    for link in fields.every("atom:link", "link"):
        if attribute(link, "rel").lower() in ("", "alternate") and (address := attribute(link, "href")):
            return address
    return ""


def read_duration(written: str) -> int:
    """Whole minutes of `[[hours:]minutes:]seconds`; 0 for anything else."""
    parts = written.split(":")
    if not 1 <= len(parts) <= _LONGEST_DURATION or not all(part.isascii() and part.isdigit() for part in parts):
        return 0
    seconds = 0
    for part in parts:
        seconds = seconds * 60 + int(part[:9])
    return min(seconds // 60, 2**31 - 1)


def _title(fields: Fields, media: Media, form: FeedFormat) -> str:
    order = ("title", "dc:title") if form is FeedFormat.RDF else ("dc:title", "title")
    found = fields.text(*order, "itunes:title", "atom:title") or media.title()
    return text.from_title(found)


def _permalink(fields: Fields, base: str) -> str:
    """The guid, when it is an address: by its own word, or because it says nothing and looks like one."""
    for guid in fields.get("guid", ()):
        says = attribute(guid, "ispermalink").lower()
        address = (guid.text or "").strip()
        if (says == "" and is_web(address)) or says == "true":
            return web(address, base)
    return ""


def _comments_url(fields: Fields) -> str:
    """`comments`, else the replies of RFC 4685."""
    for written in fields.texts("comments"):
        if is_web(written):
            return web(written, "")
    for link in fields.get("atom:link", ()):
        is_page = attribute(link, "type").lower() in _PAGE_TYPES
        if attribute(link, "rel").lower() == "replies" and is_page and is_web(attribute(link, "href")):
            return web(attribute(link, "href"), "")
    return ""


def _published(fields: Fields, now: Instant | None) -> Instant | None:
    for name in _DATES:
        for written in reversed(fields.texts(name)):
            if (instant := dates.read(written, now)) is not None:
                return instant
    # CDF writes it beside the address.
    return dates.read(attribute(fields.element, "lastmod"), now)


def _tags(fields: Fields, media: Media) -> Iterator[str]:
    for tag in fields.texts("category", "dc:subject"):
        yield text.from_html(tag)
    yield from media.labels()
    for category in fields.get("itunes:category", ()):
        yield from (attribute(each, "text") for each in category.iter(etree.Element))
    for keywords in fields.texts("itunes:keywords"):
        yield from keywords.split(",")


def _enclosures(fields: Fields, media: Media, base: str) -> Iterator[ParsedEnclosure]:
    yield from media.thumbnails()
    original = fields.text("feedburner:origenclosurelink")
    for enclosure in fields.get("enclosure", ()):
        address = _original(attribute(enclosure, "url"), original)
        yield ParsedEnclosure(
            absolute(address, base), attribute(enclosure, "type"), read_size(attribute(enclosure, "length"))
        )
    # Atom's link, which some use without its namespace.
    for link in fields.every("atom:link", "link"):
        if attribute(link, "rel").lower() == "enclosure":
            address = absolute(attribute(link, "href"), base)
            yield ParsedEnclosure(address, attribute(link, "type"), read_size(attribute(link, "length")))
    yield from media.enclosures()


def _original(address: str, original: str) -> str:
    """FeedBurner puts its own address before the file's; both end in the same file name."""
    if original and original.rpartition("/")[2] == address.rpartition("/")[2]:
        return original
    return address
