"""One item of RSS, with the extensions publishers use: Dublin Core, content, podcasts, Media RSS, threading.

Where several elements say the same thing, the names in `Heard` are the order in which they are heard.
"""

from __future__ import annotations

from typing import Final

from lxml import etree
from lxml.etree import _Element
from msgspec import Struct

from tidings.domain.feeds import FeedFormat, ParsedEnclosure, ParsedEntry
from tidings.domain.formats import dates, text
from tidings.domain.formats.addresses import absolute, is_web, web
from tidings.domain.formats.drafts import Draft, unique_sorted
from tidings.domain.formats.elements import Fields, about, attribute, text_of
from tidings.domain.formats.identity import Identity
from tidings.domain.formats.inherited import declared_base, language, language_inside
from tidings.domain.formats.media import MEDIA_NAMES, Media, once_each, read_size
from tidings.domain.formats.names import Names, Orders
from tidings.domain.formats.people import PEOPLE, author_of_item
from tidings.domain.times import Instant

_PAGE_TYPES: Final = frozenset({"", "text/html", "application/xhtml+xml"})
_LONGEST_DURATION: Final = 3


class Heard(Orders, frozen=True):
    """media, people, tags, comments: whether there are any at all; who reads them knows their order."""

    title: tuple[str, ...] = ("dc:title", "title", "itunes:title", "atom:title")
    content: tuple[str, ...] = (
        "content:encoded", "xhtml:body", "xhtml:div", "description", "googleplay:description", "itunes:summary",
        "itunes:subtitle", "atom:content", "atom:summary", "dc:description", "body", "fullitem", "summary", "content",
        "abstract",
    )  # fmt: skip
    dates: tuple[str, ...] = (
        "dc:date", "pubdate", "atom:published", "dcterms:issued", "dcterms:created", "atom:updated",
        "dcterms:modified", "date", "published", "updated",
    )  # fmt: skip
    links: tuple[str, ...] = ("feedburner:origlink", "link")
    atom_links: tuple[str, ...] = ("atom:link", "link")
    media: tuple[str, ...] = MEDIA_NAMES
    people: tuple[str, ...] = PEOPLE
    tags: tuple[str, ...] = (
        "category", "dc:subject", "media:category", "media:group", "itunes:category", "itunes:keywords",
    )  # fmt: skip
    comments: tuple[str, ...] = ("comments", "atom:link")
    language: tuple[str, ...] = ("dc:language",)
    duration: tuple[str, ...] = ("itunes:duration",)


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
    heard = channel.names.heard(Heard)
    declared = declared_base(item, channel.declared_base, channel.url)
    base = declared or channel.site_url
    media = Media(fields, channel.names, base, heard.media)
    body, content = fields.body(*heard.content)
    content = content or media.description()
    title = _title(fields, heard, media, channel.form)
    enclosures = once_each(_enclosures(fields, heard, media, base))
    link = fields.text(*heard.links) or alternate_link(fields) or attribute(item, "href")
    url = _address(link, fields, enclosures, base) or web(channel.site_url, "")
    identity = _identity(fields, heard, channel.form, link=link, url=url, says=(title, content))
    if identity.is_empty and not enclosures:
        return None
    entry = ParsedEntry(
        hash="",
        url=url,
        title=title or text.excerpt(content) or url,
        content=content,
        base_url=(declared if body is None else declared_base(body, declared, channel.url)) or url or channel.url,
        author=(author_of_item(fields, channel.names) if heard.people else "") or channel.author,
        comments_url=_comments_url(fields) if heard.comments else "",
        language=_language(fields, heard, body, channel),
        published_at=_published(fields, heard, channel.now),
        tags=(unique_sorted(_tags(fields, media)) if heard.tags else ()) or channel.tags,
        enclosures=enclosures,
        duration_minutes=read_duration(fields.text(*heard.duration)),
    )
    return Draft(identity, entry)


def _identity(
    fields: Fields, heard: Heard, form: FeedFormat, *, link: str, url: str, says: tuple[str, str]
) -> Identity:
    """RSS 1.0 has no guid. An item with neither a link nor a text is known by whatever else it says."""
    guid = "" if form is FeedFormat.RDF else fields.raw("guid")
    if guid:
        return Identity(id=guid, link=link, url=url)
    said = "".join(says)
    rest = "" if link or said else about(fields.element)
    date = "" if link else fields.text(*heard.dates)
    return Identity(link=link, url=url, says=said or rest, date=date)


def _address(link: str, fields: Fields, enclosures: tuple[ParsedEnclosure, ...], base: str) -> str:
    if found := web(link, base) or _permalink(fields, base):
        return found
    return next((address for each in enclosures if (address := web(each.url, base))), "")


def _language(fields: Fields, heard: Heard, body: _Element | None, channel: Channel) -> str:
    """That of the text one reads, else of the item, else of the channel."""
    around = language(fields.text(*heard.language)) or language_inside(fields.element, channel.language)
    return around if body is None else language_inside(body, around)


def alternate_link(fields: Fields) -> str:
    """The page an Atom link inside RSS leads to."""
    for link in fields.every("atom:link", "link"):
        if attribute(link, "rel").lower() in ("", "alternate") and (address := attribute(link, "href")):
            return address
    return ""


def read_duration(written: str) -> int:
    """Whole minutes of `[[hours:]minutes:]seconds`; 0 for anything else."""
    if not written:
        return 0
    parts = written.split(":")
    if not 1 <= len(parts) <= _LONGEST_DURATION or not all(part.isascii() and part.isdigit() for part in parts):
        return 0
    seconds = 0
    for part in parts:
        seconds = seconds * 60 + int(part[:9])
    return min(seconds // 60, 2**31 - 1)


def _title(fields: Fields, heard: Heard, media: Media, form: FeedFormat) -> str:
    # RSS 1.0 has a title of its own; what Dublin Core says in RSS 2.0 is the better one.
    found = (form is FeedFormat.RDF and fields.text("title")) or fields.text(*heard.title) or media.title()
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


def _published(fields: Fields, heard: Heard, now: Instant | None) -> Instant | None:
    for name in heard.dates:
        for element in reversed(fields.get(name, ())):
            if (instant := dates.read(text_of(element), now)) is not None:
                return instant
    # CDF writes it beside the address.
    return dates.read(attribute(fields.element, "lastmod"), now)


def _tags(fields: Fields, media: Media) -> list[str]:
    found = [text.from_html(tag) for tag in fields.texts("category", "dc:subject")]
    if not media.is_silent:
        found += media.labels()
    for category in fields.get("itunes:category", ()):
        found += (attribute(each, "text") for each in category.iter(etree.Element))
    for keywords in fields.texts("itunes:keywords"):
        found += keywords.split(",")
    return found


def _enclosures(fields: Fields, heard: Heard, media: Media, base: str) -> list[ParsedEnclosure]:
    found = [] if media.is_silent else list(media.thumbnails())
    if "enclosure" in fields:
        original = fields.text("feedburner:origenclosurelink")
        for enclosure in fields["enclosure"]:
            address = attribute(enclosure, "url")
            found.append(_enclosure(absolute(_original(address, original) if original else address, base), enclosure))
    # Atom's link, which some use without its namespace.
    for name in heard.atom_links:
        for link in fields.get(name, ()):
            if link.keys() and attribute(link, "rel").lower() == "enclosure":
                found.append(_enclosure(absolute(attribute(link, "href"), base), link))
    if not media.is_silent:
        found += media.enclosures()
    return found


def _enclosure(url: str, element: _Element) -> ParsedEnclosure:
    return ParsedEnclosure(url, attribute(element, "type"), read_size(attribute(element, "length")))


def _original(address: str, original: str) -> str:
    """FeedBurner puts its own address before the file's; both end in the same file name."""
    if original.rpartition("/")[2] == address.rpartition("/")[2]:
        return original
    return address
