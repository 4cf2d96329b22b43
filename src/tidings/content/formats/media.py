"""Enclosures: Media RSS, podcast extensions, and lists of enclosures with unique URLs."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Final

from lxml.etree import _Element
from msgspec.structs import replace

from tidings.content.formats.limits import MAX_ENCLOSURES
from tidings.content.formats.text import escape_html
from tidings.content.model import ParsedEnclosure
from tidings.content.urls import absolute_url, tidy_url, web_url
from tidings.content.xml.elements import ElementFields, attribute, text_of
from tidings.content.xml.namespaces import TagNames

_MAX_GROUP_DEPTH: Final = 3
_UNKNOWN_TYPE: Final = "application/octet-stream"
_TYPE_OF_MEDIUM: Final = {"image": "image/*", "video": "video/*", "audio": "audio/*"}
# Tags of one word each, separated by blanks.
_FLICKR_TAGS: Final = "urn:flickr:tags"
_CHAPTERS_TYPE: Final = "application/json+chapters"
MEDIA_NAMES: Final = (
    "media:group", "media:content", "media:thumbnail", "media:peerlink", "media:title", "media:description",
    "media:category", "media:keywords", "itunes:image", "podcast:chapters", "podcast:transcript",
)  # fmt: skip


class MediaElements:
    """The Media RSS and podcast elements of one item."""

    __slots__ = ("_base", "_fields", "_groups", "_names", "is_empty")

    def __init__(
        self, fields: ElementFields, names: TagNames, base: str, names_in_use: Sequence[str] = MEDIA_NAMES
    ) -> None:
        """Group the elements of an item. names_in_use: the names in `MEDIA_NAMES` that the document uses."""
        self._fields = fields
        # Most items have no media elements and skip all further look-ups.
        self.is_empty = not names_in_use or fields.keys().isdisjoint(names_in_use)
        self._groups = list(_groups(fields, names)) if names_in_use else []
        self._base = base
        self._names = names

    def thumbnails(self) -> Iterator[ParsedEnclosure]:
        for thumbnail in self._elements("media:thumbnail"):
            yield self._enclosure(attribute(thumbnail, "url"), "image/*")
        for inside in self._content_children():
            for thumbnail in inside.get("media:thumbnail", ()):
                yield self._enclosure(attribute(thumbnail, "url"), "image/*")

    def contents(self) -> Iterator[ParsedEnclosure]:
        for content in self._elements("media:content"):
            mime_type = attribute(content, "type") or _TYPE_OF_MEDIUM.get(attribute(content, "medium"), _UNKNOWN_TYPE)
            yield self._enclosure(attribute(content, "url"), mime_type, attribute(content, "filesize"))
        for inside in self._content_children():
            if not attribute(inside.element, "url"):
                yield self._enclosure(inside.attribute("media:player", "url"), "text/html")

    def peer_links(self) -> Iterator[ParsedEnclosure]:
        for link in self._elements("media:peerlink"):
            yield self._enclosure(attribute(link, "href"), attribute(link, "type") or _UNKNOWN_TYPE)

    def enclosures(self) -> Iterator[ParsedEnclosure]:
        """Yield the enclosures other than thumbnails and the format's own enclosures, in order of importance."""
        if not self.is_empty:
            yield from self.contents()
            yield from self.peer_links()
            yield from self.podcast_parts()

    def podcast_parts(self) -> Iterator[ParsedEnclosure]:
        """Yield the episode's image, chapters and transcripts."""
        for image in self._fields.get("itunes:image", ()):
            yield self._enclosure(attribute(image, "href") or attribute(image, "url"), "image/*")
        for chapters in self._fields.get("podcast:chapters", ()):
            yield self._enclosure(attribute(chapters, "url"), attribute(chapters, "type") or _CHAPTERS_TYPE)
        for transcript in self._fields.get("podcast:transcript", ()):
            yield self._enclosure(attribute(transcript, "url"), attribute(transcript, "type") or "text/plain")

    def description(self) -> str:
        """Return the description as HTML. It is plain text unless its `type` says otherwise (Media RSS 1.5.1)."""
        for fields in self._places():
            for element in reversed(fields.get("media:description", ())):
                if text := text_of(element).strip():
                    return text if attribute(element, "type") == "html" else escape_html(text).replace("\n", "<br>")
        return ""

    def title(self) -> str:
        return self._text("media:title")

    def labels(self) -> list[str]:
        """Return the categories as tags."""
        labels = []
        for category in self._elements("media:category"):
            written = text_of(category).strip()
            if label := attribute(category, "label"):
                labels.append(label)
            elif attribute(category, "scheme") == _FLICKR_TAGS:
                labels += written.split()
            elif written:
                labels.append(written)
        return labels

    def keywords(self) -> list[str]:
        """Return the keywords, which describe the files rather than the entry: its tags if it has no others."""
        return [word for keywords in self._elements("media:keywords") for word in text_of(keywords).split(",")]

    def _text(self, name: str) -> str:
        return next((text for fields in self._places() if (text := fields.text(name))), "")

    def _places(self) -> Iterator[ElementFields]:
        """Yield the places of a title or description: the item, its groups, and the elements of its content."""
        if not self.is_empty:
            yield from (self._fields, *self._groups)
            yield from self._content_children()

    def _content_children(self) -> Iterator[ElementFields]:
        for content in self._elements("media:content"):
            if len(content):
                yield ElementFields(content, self._names)

    def _elements(self, name: str) -> Iterator[_Element]:
        if self.is_empty:
            return
        for fields in (self._fields, *self._groups):
            yield from fields.get(name, ())

    def _enclosure(self, url: str, mime_type: str, size: str = "") -> ParsedEnclosure:
        return ParsedEnclosure(absolute_url(url, self._base), mime_type, parse_size_bytes(size))


def _groups(fields: ElementFields, names: TagNames) -> Iterator[ElementFields]:
    """Yield the groups of an item and the groups in them, outer ones first."""
    level = [fields]
    for _ in range(_MAX_GROUP_DEPTH):
        level = [ElementFields(group, names) for outer in level for group in outer.get("media:group", ())]
        yield from level


def unique_by_url(enclosures: Iterable[ParsedEnclosure]) -> tuple[ParsedEnclosure, ...]:
    """Return the enclosures with a URL; of those with the same URL, the first."""
    by_url: dict[str, ParsedEnclosure] = {}
    for each in enclosures:
        if each.url and len(by_url) < MAX_ENCLOSURES:
            url = tidy_url(each.url)
            by_url.setdefault(url, each if url == each.url else replace(each, url=url))
    return tuple(by_url.values())


def main_url(enclosures: Iterable[ParsedEnclosure]) -> str:
    """Return the URL that stands for an entry without a link: of its first enclosure that is no picture, else any."""
    urls = [(each.mime_type.startswith("image/"), each.url) for each in enclosures if web_url(each.url, "")]
    return min(urls, key=lambda each: each[0], default=(False, ""))[1]


def parse_size_bytes(text: str) -> int:
    """Return a size in bytes; 0 for everything except a plain number that fits into a database column."""
    text = text.strip()
    return int(text) if text.isascii() and text.isdigit() and len(text) <= 18 else 0
