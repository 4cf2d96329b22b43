"""Parses Atom 1.0 (RFC 4287) and Atom 0.3."""

from __future__ import annotations

import base64
import binascii
from collections.abc import Iterator
from functools import partial
from typing import Final

from lxml.etree import _Element
from msgspec import Struct
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
    MEDIA_NAMES,
    MediaElements,
    join_names,
    main_url,
    parse_duration_minutes,
    parse_size_bytes,
    person_name,
    read_hints,
    simple_chapters,
    unique_by_url,
)
from tidings.content.formats.text import unescape_again
from tidings.content.model import FeedFormat, ParsedEnclosure, ParsedEntry, ParsedFeed
from tidings.content.urls import absolute_url, is_web_url, relative_url, tidy_url, web_url
from tidings.content.xml.elements import (
    XML_BASE,
    ElementFields,
    NamePriorities,
    TagNames,
    all_values,
    attribute,
    declared_base,
    element_language,
    inner_html,
    link_relations,
    text_of,
    unwrap_cdata,
)

# Text constructs and content, as HTML or plain text

_HTML: Final = frozenset({"html", "text/html"})
# Base64 of what most publishers mean to be HTML.
_BINARY: Final = "application/octet-stream"
_PLAIN: Final = frozenset({"", "text", "text/plain"})
# Types that need no normalization; the usual case.
_COMMON_TYPES: Final = frozenset({"html", "text", "xhtml"})


def element_to_html(element: _Element) -> str:
    """Return the content of the element as HTML; "" for content that is elsewhere (`src`) or undecodable."""
    media_type, mode, source = _attributes(element)
    if mode == "base64":
        return _html_of_type(_decode_base64(text_of(element)), media_type)
    if mode in ("escaped", "xml") or (not mode and source):
        return _atom03(element, media_type, mode) if mode else ""
    if len(element):
        return _inner_xhtml(element)
    if media_type in _HTML:
        return unwrap_cdata(text_of(element))
    if _is_xml(media_type):
        return _inner_xhtml(element)
    if media_type in _PLAIN or media_type.startswith("text/"):
        return text.escape_html(text_of(element))
    return _html_of_type(_decode_base64(text_of(element)), "text/html")


def may_be_escaped_twice(element: _Element | None) -> bool:
    """Return whether the element's content is HTML, or of no declared type and thus perhaps meant as HTML."""
    if element is None:
        return False
    media_type, mode, _ = _attributes(element)
    return media_type in _HTML or (not media_type and not mode and len(element) == 0)


def element_to_text(element: _Element) -> str:
    """Return the content of the element as plain text on one line. Content of an unknown type is text."""
    media_type, mode, _ = _attributes(element)
    if mode or media_type == _BINARY:
        return text.html_to_text(element_to_html(element))
    if media_type in _HTML:
        return text.html_title_to_text(element_to_html(element))
    return text.collapse_whitespace(text_of(element))


def _attributes(element: _Element) -> tuple[str, str, str]:
    """Return the media type and the Atom 0.3 mode, both in lower case, and the value of `src`."""
    count = len(element.keys())
    if not count:
        return "", "", ""
    media_type = attribute(element, "type")
    if media_type in _COMMON_TYPES and count == 1:
        return media_type, "", ""
    return media_type.partition(";")[0].strip().lower(), attribute(element, "mode").lower(), attribute(element, "src")


def _atom03(element: _Element, media_type: str, mode: str) -> str:
    if mode == "xml":
        return _inner_xhtml(element)
    return _html_of_type(text_of(element), media_type)


def _html_of_type(source: str, media_type: str) -> str:
    return text.escape_html(source) if media_type in ("", "text/plain") else source


def _is_xml(media_type: str) -> bool:
    return media_type == "xhtml" or media_type.endswith(("+xml", "/xml"))


def _inner_xhtml(element: _Element) -> str:
    """Return the markup inside the element, without the `div` that RFC 4287 requires around XHTML."""
    is_xhtml = _is_xml(attribute(element, "type").lower())
    if len(element) == 1 and not (element.text or "").strip() and not (element[0].tail or "").strip():
        child = element[0]
        if str(child.tag).rpartition("}")[2].rpartition(":")[2].lower() == "div":
            return inner_html(child, is_xhtml=True) if len(child) else text.escape_html(child.text or "")
    return inner_html(element, is_xhtml=is_xhtml)


def _decode_base64(encoded: str) -> str:
    try:
        return text.remove_unstorable(base64.b64decode(encoded, validate=False).decode())
    except (binascii.Error, ValueError):
        return ""


_PAGE_SCHEMES: Final = WEB_SCHEMES | {""}
# The others are elements of RSS, whose text is HTML.
_TEXT_CONSTRUCTS: Final = frozenset({"content", "summary"})
_PAGE_TYPES: Final = frozenset({"", "text/html", "application/xhtml+xml"})


class AtomNamePriorities(NamePriorities, frozen=True):
    """The names of elements to read from an Atom feed, the preferred ones first."""

    # Atom 1.0 first, then Atom 0.3, then other vocabularies.
    dates: tuple[str, ...] = (
        "published", "issued", "dc:date", "pubdate", "updated", "modified", "created", "dcterms:issued",
        "dcterms:created", "dcterms:modified",
    )  # fmt: skip
    media: tuple[str, ...] = MEDIA_NAMES
    """All names that `MediaElements` reads."""
    comments: tuple[str, ...] = ("comments",)
    duration: tuple[str, ...] = ("itunes:duration",)


_DATE_NAMES: Final = frozenset(AtomNamePriorities().dates)


class AtomLink(Struct, frozen=True):
    """One `link` element."""

    rels: tuple[str, ...]
    """In lower case."""
    type: str
    """In lower case."""
    href: str
    base: str
    """The value of its `xml:base`, "" if it has none."""
    element: _Element

    def is_page(self) -> bool:
        """Return whether it leads to the page of the feed or entry, and the web rather than mail or a newsgroup."""
        is_alternate = "alternate" in self.rels or (not self.rels and self.type in _PAGE_TYPES)
        return bool(self.href) and is_alternate and scheme_of(self.href) in _PAGE_SCHEMES


def read_atom(root: _Element, *, url: str, is_cut_off: bool = False, now: Instant | None = None) -> ParsedFeed:
    """Return the feed of an Atom document; a document that is a single `entry` is a feed with one entry.

    url: the URL of the document. is_cut_off: an incomplete last entry was left out of `root`.
    """
    names = TagNames(root, core=frozenset({"atom"}))
    fields = ElementFields(root, names)
    is_single_entry = names[str(root.tag)] == "entry"
    entry_elements = [root] if is_single_entry else fields.get("entry", [])
    links = read_links(fields)
    feed = _read_feed(fields, names, links, url, now)
    if order := order_of_dates(entry_elements, partial(_dates, names=names), now):
        feed = replace(feed, date_order=order)
    built = build_entries(read_entry(each, feed) for each in entry_elements)
    base_url = feed.declared_base or url
    return ParsedFeed(
        format=FeedFormat.ATOM,
        title=_plain_text(fields, "title") or feed.site_url,
        site_url=tidy_url(feed.site_url),
        description=_plain_text(fields, "subtitle", "tagline", "info"),
        language=feed.language,
        icon_url=absolute_url(fields.text("icon", "logo", "webfeeds:icon"), base_url),
        self_url=next(_link_urls(links, "self", base_url), ""),
        hubs=tuple(dict.fromkeys(_link_urls(links, "hub", base_url))),
        hints=read_hints(fields, names),
        entries=built.entries,
        other_hashes=built.other_hashes,
        skipped=built.skipped + is_cut_off,
        is_cut_off=is_cut_off,
        limits_reached=built.limits_reached,
    )


def _dates(entry: _Element, names: TagNames) -> list[str]:
    return [child.text or "" for child in entry if names[str(child.tag)] in _DATE_NAMES]


def _read_feed(
    fields: ElementFields, names: TagNames, links: list[AtomLink], url: str, now: Instant | None
) -> FeedDefaults:
    base = declared_base(fields.element, "", url)
    return FeedDefaults(
        names=names,
        format=FeedFormat.ATOM,
        url=url,
        declared_base=base,
        site_url=web_url(page_link(fields, links, base or url), base or url) or url,
        author=_authors(fields, names),
        tags=unique_sorted(_tag_names(fields))[:MAX_INHERITED_TAGS],
        language=element_language(fields.element),
        now=now,
    )


def read_entry(element: _Element, feed: FeedDefaults) -> UnhashedEntry | None:
    """Return the entry of an `entry` element; None for an element without children."""
    fields = ElementFields(element, feed.names)
    priorities = feed.names.in_use(AtomNamePriorities)
    declared = declared_base(element, feed.declared_base, feed.url)
    base = declared or feed.site_url
    media = MediaElements(fields, feed.names, base, priorities.media)
    body, written = _content(fields, media)
    content = unescape_again(written) if may_be_escaped_twice(body) else written
    title = _plain_text(fields, "title", "dc:title") or text.collapse_whitespace(media.title())
    links = read_links(fields)
    link, entry_id = page_link(fields, links, declared or feed.url), fields.raw_text("id")
    enclosures = unique_by_url(_enclosures(links, media, base, declared or feed.url))
    url = _entry_url(link, entry_id, fields, base) or main_url(enclosures) or web_url(feed.site_url, "")
    if not len(element):
        return None
    page = tidy_url(url)
    entry = ParsedEntry(
        hash="",
        url=page,
        title=title or text.excerpt(content) or page,
        content=content,
        base_url=(declared if body is None else declared_base(body, declared, feed.url)) or page or feed.url,
        author=_authors(fields, feed.names) or _source_authors(fields, feed.names) or feed.author,
        comments_url=_comments_url(fields, priorities, links),
        language=_language(element, body, feed),
        published_at=_published_at(fields, priorities, feed),
        tags=unique_sorted(_tags(fields, media)) or feed.tags,
        enclosures=enclosures,
        duration_minutes=parse_duration_minutes(fields.text(*priorities.duration)),
        chapters=simple_chapters(fields, feed.names),
    )
    texts = (title, "" if entry_id else fields.text(*priorities.dates), written)
    if not (entry_id or any(texts)):
        texts = (all_values(element), "", "")
    return UnhashedEntry(EntryIdentity(id=entry_id, link=link, url=url, texts=texts), entry)


def _language(element: _Element, body: _Element | None, feed: FeedDefaults) -> str:
    """Return the language of the content, else of the entry, else of the feed."""
    around = element_language(element, feed.language)
    return around if body is None else element_language(body, around)


def read_links(fields: ElementFields) -> list[AtomLink]:
    """Return the `link` elements in document order."""
    return [
        AtomLink(
            link_relations(each),
            attribute(each, "type").lower(),
            attribute(each, "href"),
            each.get(XML_BASE, ""),
            each,
        )
        for each in fields.get("link", ())
    ]


def page_link(fields: ElementFields, links: list[AtomLink], outer: str) -> str:
    """Return the URL of the page, as written if the link has no `xml:base`; "" if there is none.

    That is the first alternate link to the web, or the first such link to a page without `rel`.
    outer: the base of a relative `xml:base`.
    """
    for link in links:
        if link.is_page():
            return relative_url(link.href, web_url(link.base, outer) or link.base) if link.base else link.href
    # Some publishers write the URL as text, as RSS does.
    return fields.text("link")


def _entry_url(link: str, entry_id: str, fields: ElementFields, base: str) -> str:
    if url := web_url(link, base):
        return url
    # Some publishers use the page's URL as the id, or refer to the page from `content`.
    return web_url(entry_id, "") or web_url(fields.attribute("content", "src"), base)


def _content(fields: ElementFields, media: MediaElements) -> tuple[_Element | None, str]:
    """Return the element that holds the content (None for a media description) and the content as HTML."""
    for name in ("content", "content:encoded", "summary", "description", "dc:description"):
        for element in reversed(fields.get(name, ())):
            html = element_to_html(element) if name in _TEXT_CONSTRUCTS else unwrap_cdata(inner_html(element))
            if html and not html.isspace():
                return element, html
    return None, media.description()


def _plain_text(fields: ElementFields, *names: str) -> str:
    for name in names:
        for element in fields.get(name, ()):
            if text := element_to_text(element):
                return text
    return ""


def _authors(fields: ElementFields, names: TagNames) -> str:
    for name in ("author", "contributor"):
        if name in fields and (found := join_names([person_name(each, names) for each in fields[name]])):
            return found
    return join_names(fields.texts("dc:creator"))


def _source_authors(fields: ElementFields, names: TagNames) -> str:
    """Return the authors of the feed that an aggregated entry comes from (`source`)."""
    for source in fields.get("source", ()):
        return _authors(ElementFields(source, names), names)
    return ""


def _comments_url(fields: ElementFields, priorities: AtomNamePriorities, links: list[AtomLink]) -> str:
    """Return the URL of the comments: a `replies` link (RFC 4685), else `comments`."""
    for link in links:
        if "replies" in link.rels and link.type in _PAGE_TYPES and is_web_url(link.href):
            return tidy_url(web_url(link.href, ""))
    return next(
        (tidy_url(web_url(written, "")) for written in fields.texts(*priorities.comments) if is_web_url(written)), ""
    )


def _published_at(fields: ElementFields, priorities: AtomNamePriorities, feed: FeedDefaults) -> Instant | None:
    for name in priorities.dates:
        for element in reversed(fields.get(name, ())):
            if (instant := dates.parse_date(text_of(element), feed.now, feed.date_order)) is not None:
                return instant
    return None


def _tag_names(fields: ElementFields) -> list[str]:
    subjects = fields.texts("dc:subject")
    for category in fields.get("category", ()):
        subjects.append(attribute(category, "label") or attribute(category, "term") or category.text or "")
    return subjects


def _tags(fields: ElementFields, media: MediaElements) -> list[str]:
    tags = _tag_names(fields) + media.labels()
    return tags or media.keywords()


def _enclosures(links: list[AtomLink], media: MediaElements, base: str, outer: str) -> list[ParsedEnclosure]:
    """Return the enclosures. base: of relative URLs. outer: of a relative `xml:base` of a link."""
    enclosures = [] if media.is_empty else list(media.thumbnails())
    for link in links:
        if "enclosure" in link.rels:
            # The media type keeps its case.
            size = parse_size_bytes(attribute(link.element, "length"))
            url = absolute_url(link.href, web_url(link.base, outer) if link.base else base)
            enclosures.append(ParsedEnclosure(url, attribute(link.element, "type"), size))
    if not media.is_empty:
        enclosures += media.enclosures()
    return enclosures


def _link_urls(links: list[AtomLink], rel: str, base: str) -> Iterator[str]:
    for link in links:
        if rel in link.rels and (url := absolute_url(link.href, base)):
            yield url
