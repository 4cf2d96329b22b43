"""Enclosures: Media RSS, podcast extensions, and the lists in which each address stands once."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import chain
from typing import Final

from lxml.etree import _Element

from tidings.domain.feeds import ParsedEnclosure
from tidings.domain.formats.addresses import absolute
from tidings.domain.formats.elements import Fields, attribute
from tidings.domain.formats.names import Names
from tidings.domain.formats.size import MAX_ENCLOSURES

_UNKNOWN_TYPE: Final = "application/octet-stream"
_TYPE_OF_MEDIUM: Final = {"image": "image/*", "video": "video/*", "audio": "audio/*"}
_CHAPTERS_TYPE: Final = "application/json+chapters"
MEDIA_NAMES: Final = (
    "media:group", "media:content", "media:thumbnail", "media:peerlink", "media:title", "media:description",
    "media:category", "itunes:image", "podcast:chapters", "podcast:transcript",
)  # fmt: skip


class Media:
    """What Media RSS and the podcast vocabularies say beside and inside an item."""

    __slots__ = ("_base", "_fields", "_groups", "_names", "is_silent")

    def __init__(self, fields: Fields, names: Names, base: str, heard: Sequence[str] = MEDIA_NAMES) -> None:
        """heard: of `MEDIA_NAMES`, those the document uses."""
        self._fields = fields
        # Most items hold nothing of this; they should not pay for looking.
        self.is_silent = not heard or fields.keys().isdisjoint(heard)
        self._groups = [Fields(group, names) for group in fields.get("media:group", ())] if heard else []
        self._base = base
        self._names = names

    def thumbnails(self) -> Iterator[ParsedEnclosure]:
        for thumbnail in self._each("media:thumbnail"):
            yield self._enclosure(attribute(thumbnail, "url"), "image/*")
        for inside in self._inside_contents():
            for thumbnail in inside.get("media:thumbnail", ()):
                yield self._enclosure(attribute(thumbnail, "url"), "image/*")

    def contents(self) -> Iterator[ParsedEnclosure]:
        for content in self._each("media:content"):
            mime_type = attribute(content, "type") or _TYPE_OF_MEDIUM.get(attribute(content, "medium"), _UNKNOWN_TYPE)
            yield self._enclosure(attribute(content, "url"), mime_type, attribute(content, "filesize"))
        for inside in self._inside_contents():
            if not attribute(inside.element, "url"):
                yield self._enclosure(inside.attribute("media:player", "url"), "text/html")

    def peer_links(self) -> Iterator[ParsedEnclosure]:
        for link in self._each("media:peerlink"):
            yield self._enclosure(attribute(link, "href"), attribute(link, "type") or _UNKNOWN_TYPE)

    def enclosures(self) -> Iterator[ParsedEnclosure]:
        """What there is besides thumbnails and the format's own enclosures, in the order it counts."""
        if not self.is_silent:
            yield from self.contents()
            yield from self.peer_links()
            yield from self.podcast_parts()

    def podcast_parts(self) -> Iterator[ParsedEnclosure]:
        """The episode's picture, its chapters and transcripts."""
        for image in self._fields.get("itunes:image", ()):
            yield self._enclosure(attribute(image, "href") or attribute(image, "url"), "image/*")
        for chapters in self._fields.get("podcast:chapters", ()):
            yield self._enclosure(attribute(chapters, "url"), attribute(chapters, "type") or _CHAPTERS_TYPE)
        for transcript in self._fields.get("podcast:transcript", ()):
            yield self._enclosure(attribute(transcript, "url"), attribute(transcript, "type") or "text/plain")

    def description(self) -> str:
        return self._text("media:description")

    def title(self) -> str:
        return self._text("media:title")

    def labels(self) -> list[str]:
        return [label for category in self._each("media:category") if (label := attribute(category, "label"))]

    def _text(self, name: str) -> str:
        if self.is_silent:
            return ""
        for fields in chain((self._fields, *self._groups), self._inside_contents()):
            if found := fields.text(name):
                return found
        return ""

    def _inside_contents(self) -> Iterator[Fields]:
        for content in self._each("media:content"):
            if len(content):
                yield Fields(content, self._names)

    def _each(self, name: str) -> Iterator[_Element]:
        if self.is_silent:
            return
        for fields in (self._fields, *self._groups):
            yield from fields.get(name, ())

    def _enclosure(self, url: str, mime_type: str, size: str = "") -> ParsedEnclosure:
        return ParsedEnclosure(absolute(url, self._base), mime_type, read_size(size))


def once_each(enclosures: Iterable[ParsedEnclosure]) -> tuple[ParsedEnclosure, ...]:
    """Without empty addresses, and without repeated ones: the first stays."""
    by_url: dict[str, ParsedEnclosure] = {}
    for each in enclosures:
        if each.url and len(by_url) < MAX_ENCLOSURES:
            by_url.setdefault(each.url, each)
    return tuple(by_url.values())


def read_size(text: str) -> int:
    """Bytes; 0 for anything that is not a plain number a database can hold."""
    text = text.strip()
    return int(text) if text.isascii() and text.isdigit() and len(text) <= 18 else 0
