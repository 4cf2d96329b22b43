"""The extensions that RSS and Atom share: Dublin Core and podcast authors, Media RSS, chapters, requests to pollers.

item_author, channel_author    Dublin Core, iTunes and the formats' own elements ─► a name
read_hints                     ttl, skipHours, skipDays and the syndication module ─► when the feed asks to be polled
parse_duration_minutes         how long an episode plays
simple_chapters                Podlove simple chapters (https://podlove.org/simple-chapters/)
MediaElements                  Media RSS and podcast extensions ─► enclosures
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import Final

from lxml.etree import _Element
from msgspec.structs import replace

from tidings.content.dates import parse_date
from tidings.content.formats import text
from tidings.content.formats.entry_builder import MAX_ENCLOSURES
from tidings.content.formats.text import escape_html
from tidings.content.model import MAX_CHAPTERS, Chapter, ParsedEnclosure, PublisherHints, chapter_title
from tidings.content.urls import absolute_url, tidy_url, web_url
from tidings.content.xml.elements import ElementFields, NamePriorities, TagNames, attribute, text_of

# Authors


class PersonNamePriorities(NamePriorities, frozen=True):
    """The names of the elements that hold a person's name or mail address, the preferred one first."""

    person: tuple[str, ...] = ("atom:name", "itunes:name", "name", "atom:email", "itunes:email", "email")


# All names that `item_author` reads.
AUTHOR_NAMES: Final = (
    "googleplay:author", "itunes:author", "dc:creator", "atom:author", "author", "dc:author", "media:credit",
    "dc:contributor", "atom:contributor",
)  # fmt: skip


def item_author(item: ElementFields, names: TagNames) -> str:
    """Return the author of an item, "" if it names none."""
    return (
        _plain_name(item.text("googleplay:author", "itunes:author"))
        or join_names([_plain_name(creator) for creator in item.texts("dc:creator")])
        or join_names([person_name(each, names) for each in item.get("atom:author", ())])
        or _plain_name(item.text("author", "dc:author", "media:credit"))
        or _plain_name(", ".join(item.texts("dc:contributor")))
        or join_names([person_name(each, names) for each in item.get("atom:contributor", ())])
    )


def channel_author(channel: ElementFields, names: TagNames) -> str:
    """Return the author, owner or editor of the whole feed, "" if it names none."""
    owners = (person_name(owner, names) for owner in channel.get("itunes:owner", ()))
    return (
        _plain_name(channel.text("itunes:author", "googleplay:author"))
        or join_names(owners)
        or _plain_name(channel.text("managingeditor", "webmaster", "dc:creator", "author"))
        or join_names(person_name(each, names) for each in channel.get("atom:author", ()))
    )


def person_name(element: _Element, names: TagNames) -> str:
    """Return the name of an Atom person or podcast owner, else the mail address, else the element's text."""
    if len(element) == 0:
        return _plain_name(element.text or "")
    fields = ElementFields(element, names)
    return _plain_name(fields.text(*names.in_use(PersonNamePriorities).person))


def join_names(people: Iterable[str]) -> str:
    """Return the distinct non-empty names, sorted, joined by ", "."""
    names = [name for name in people if name]
    return ", ".join(sorted(set(names))) if len(names) > 1 else "".join(names)


def _plain_name(source: str) -> str:
    return text.html_to_text(source) if source else ""


# When a feed asks to be polled

_PERIODS: Final = {
    "hourly": 60,
    "daily": 24 * 60,
    "weekly": 7 * 24 * 60,
    "monthly": 30 * 24 * 60,
    "yearly": 365 * 24 * 60,
}
_DAYS: Final = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")
_MAX_DIGITS: Final = 6


def read_hints(channel: ElementFields, names: TagNames) -> PublisherHints:
    """Return the polling hints of a channel or feed element."""
    return PublisherHints(
        ttl_minutes=_number(channel.text("ttl")),
        update_minutes=_update_minutes(channel),
        update_base=parse_date(channel.text("sy:updatebase")),
        skip_hours=frozenset(_skipped_hours(channel, names)),
        skip_days=frozenset(
            _DAYS.index(day)
            for text in _nested_texts(channel, names, "skipdays", "day")
            if (day := text.lower()) in _DAYS
        ),
    )


def _update_minutes(channel: ElementFields) -> int | None:
    """Return the update interval in minutes; the module's defaults are daily and once per period."""
    period = channel.text("sy:updateperiod").lower()
    frequency = _number(channel.text("sy:updatefrequency"))
    if not period and frequency is None:
        return None
    minutes = _PERIODS.get(period or "daily")
    return None if minutes is None else max(1, minutes // max(1, frequency or 1))


def _skipped_hours(channel: ElementFields, names: TagNames) -> list[int]:
    """Return hours 0 to 23. Some publishers count from 1 to 24; 24 is midnight."""
    hours = (_number(text) for text in _nested_texts(channel, names, "skiphours", "hour"))
    return [hour % 24 for hour in hours if hour is not None and hour <= 24]


def _nested_texts(channel: ElementFields, names: TagNames, outer: str, inner: str) -> list[str]:
    return [text for element in channel.get(outer, ()) for text in ElementFields(element, names).texts(inner)]


def _number(text: str) -> int | None:
    return int(text) if text.isascii() and text.isdigit() and len(text) <= _MAX_DIGITS else None


# How long an episode plays

# The longest recordings last some days. What is longer is another number, such as milliseconds.
_MAX_HOURS: Final = 100

_CLOCK: Final = re.compile(r"(?:(?:(\d{1,9}):)?(\d{1,9}):)?(\d{1,9})(?:[.,]\d*)?", re.ASCII)
# ISO 8601 (PT1H2M3S), and the same in words (1h 2 min).
_UNITS: Final = re.compile(
    r"(?:p\s*(?:(?P<days>\d{1,9})d)?\s*t?)?\s*"
    r"(?:(?P<hours>\d{1,9}(?:[.,]\d{1,9})?)\s*h(?:(?:ou)?rs?)?\b\.?[\s,]*)?"
    r"(?:(?P<minutes>\d{1,9}(?:[.,]\d{1,9})?)\s*m(?:in(?:ute)?s?)?\b\.?[\s,]*)?"
    r"(?:(?P<seconds>\d{1,9})(?:[.,]\d{0,9})?\s*s(?:ec(?:ond)?s?)?\b\.?)?",
    re.ASCII | re.IGNORECASE,
)
_MAX_CHARS: Final = 60


def parse_duration_minutes(written: str) -> int:
    """Return the whole minutes of a duration; 0 if it is unknown.

    written: seconds, minutes and seconds, or hours, minutes and seconds, separated by colons, the seconds with or
    without a fraction; or an ISO 8601 duration.
    """
    written = written.strip()
    if not written or len(written) > _MAX_CHARS:
        return 0
    if match := _CLOCK.fullmatch(written):
        return duration_minutes(int(match[1] or 0) * 3600 + int(match[2] or 0) * 60 + int(match[3]))
    if match := _UNITS.fullmatch(_spaced(written)):
        days, hours, minutes, seconds = (float((each or "0").replace(",", ".")) for each in match.groups())
        return duration_minutes(int(days * 86400 + hours * 3600 + minutes * 60 + seconds))
    return 0


def duration_minutes(seconds: int) -> int:
    """Return the whole minutes of a number of seconds; 0 for a number that is too large for a recording."""
    return seconds // 60 if 0 <= seconds <= _MAX_HOURS * 3600 else 0


def _spaced(written: str) -> str:
    """Return `1h2m` as `1h 2m`: then every unit is a word of its own."""
    return re.sub(r"(?<=[a-z])(?=\d)", " ", written, flags=re.IGNORECASE)


# Chapters of an episode within its feed

# "Normal play time" (RFC 2326, section 3.6).
_TIME: Final = re.compile(r"(?:(?:(\d{1,4}):)?(\d{1,2}):)?(\d{1,6}(?:\.\d{1,9})?)")


def simple_chapters(fields: ElementFields, names: TagNames) -> tuple[Chapter, ...]:
    """Return the chapters of an item by their times; those without a time are left out."""
    if "psc:chapters" not in fields:
        return ()
    chapters = [
        Chapter(start_s, chapter_title(attribute(one, "title")), web_url(attribute(one, "href"), ""))
        for element in fields["psc:chapters"]
        for one in ElementFields(element, names).get("psc:chapter", ())[:MAX_CHAPTERS]
        if (start_s := parse_play_time(attribute(one, "start"))) is not None
    ]
    return tuple(sorted(chapters, key=lambda one: one.start_s)[:MAX_CHAPTERS])


def parse_play_time(written: str) -> float | None:
    """Return the seconds of `[[hours:]minutes:]seconds[.fraction]`; None for any other text."""
    match = _TIME.fullmatch(written.strip())
    if not match:
        return None
    return int(match[1] or 0) * 3600 + int(match[2] or 0) * 60 + float(match[3])


# Enclosures

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
    """Return the URL that stands for an entry without a link: its first enclosure's, if possible not a picture's."""
    urls = [(each.mime_type.startswith("image/"), each.url) for each in enclosures if web_url(each.url, "")]
    return min(urls, key=lambda each: each[0], default=(False, ""))[1]


def parse_size_bytes(text: str) -> int:
    """Return a size in bytes; 0 for everything except a plain number that fits into a database column."""
    text = text.strip()
    return int(text) if text.isascii() and text.isdigit() and len(text) <= 18 else 0
