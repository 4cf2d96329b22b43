"""A parsed feed with the field names of feedparser. Values with the same meaning compare as equal."""

from __future__ import annotations

import html
import time
from hashlib import sha256
from typing import Any

import lxml.html
from lxml.etree import LxmlError, tostring

from tidings.base.times import Instant, to_datetime
from tidings.content.formats.text import html_to_text
from tidings.content.model import FeedFormat, ParsedEntry, ParsedFeed


class Named(dict[str, Any]):
    """A dict whose keys are attributes too."""

    __getattr__ = dict.__getitem__


class Plain(str):
    """Plain text, equal to markup with the same visible text."""

    __slots__ = ()

    def __eq__(self, other: object) -> bool:
        return isinstance(other, str) and (_line(self) == _line(other) or _line(self) == html_to_text(other))

    __hash__ = str.__hash__


class Markup(str):
    """HTML with a base URL, equal to HTML with the same elements, or to text with the same visible content."""

    __slots__ = ("base",)
    base: str

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, str):
            return False
        return self.strip() == other.strip() or html.unescape(self).strip() == other.strip() or self._is_like(other)

    __hash__ = str.__hash__

    def _is_like(self, other: str) -> bool:
        return _resolved(self, self.base) == _resolved(other, self.base)


class Person(Plain):
    """A name, equal to the same name followed by a mail address."""

    __slots__ = ()

    def __eq__(self, other: object) -> bool:
        return isinstance(other, str) and super().__eq__(other.partition(" (")[0])

    __hash__ = str.__hash__


class Code(str):
    """A language code, compared without case; "" is None."""

    __slots__ = ()

    def __eq__(self, other: object) -> bool:
        return str(self) == (other.lower() if isinstance(other, str) else "" if other is None else other)

    __hash__ = str.__hash__


class OneOf(tuple[str, ...]):
    """A set that equals each of its members: we sort tags, so that their positions have no meaning."""

    __slots__ = ()

    def __eq__(self, other: object) -> bool:
        return other in tuple(self)

    __hash__ = tuple.__hash__


class HashOf(str):
    """A hash, equal to the identity that it was computed from."""

    __slots__ = ()

    def __eq__(self, other: object) -> bool:
        return isinstance(other, str) and str(self) == sha256(other.encode()).hexdigest()

    __hash__ = str.__hash__


class Version(str):
    """A format, equal to every version of the format."""

    __slots__ = ()

    def __eq__(self, other: object) -> bool:
        if other in ("rss10", "rss090"):
            return self == FeedFormat.RDF.value or str(self) == FeedFormat.RDF.value
        return isinstance(other, str) and other.startswith("rss" if self.startswith("rss") else str(self))

    __hash__ = str.__hash__


def record(feed: ParsedFeed) -> dict[str, Any]:
    description = Plain(feed.description)
    picture = Named(href=feed.icon_url, url=feed.icon_url)
    return {
        "version": Version(feed.format.value if feed.format else ""),
        "feed": Named(
            title=Plain(feed.title),
            title_detail=Named(value=Plain(feed.title)),
            tagline=description,
            subtitle=description,
            description=description,
            info=description,
            link=feed.site_url,
            language=Code(feed.language),
            icon=feed.icon_url,
            logo=feed.icon_url,
            image=picture,
            ttl=str(feed.hints.ttl_minutes),
        ),
        "entries": [_entry(entry) for entry in feed.entries],
    }


def _entry(entry: ParsedEntry) -> Named:
    content = Markup(entry.content)
    content.base = entry.base_url
    moment = _time(entry.published_at)
    pictures = [each.url for each in entry.enclosures if each.mime_type.startswith("image")]
    return Named(
        title=Plain(entry.title),
        title_detail=Named(value=Plain(entry.title)),
        link=entry.url,
        description=content,
        summary=content,
        summary_detail=Named(value=content, base=entry.base_url),
        content=[Named(value=content, base=entry.base_url, language=Code(entry.language))],
        id=HashOf(entry.hash),
        guid=HashOf(entry.hash),
        author=Person(entry.author),
        comments=entry.comments_url,
        category=OneOf(entry.tags),
        tags=[Named(term=OneOf(entry.tags)) for _ in entry.tags],
        published_parsed=moment,
        updated_parsed=moment,
        created_parsed=moment,
        image=Named(href=next(iter(pictures), "")),
        enclosures=[
            Named(href=each.url, url=each.url, type=each.mime_type, length=str(each.size)) for each in entry.enclosures
        ],
    )


def _time(instant: Instant | None) -> time.struct_time | None:
    return None if instant is None else to_datetime(instant).utctimetuple()


def _line(text: str) -> str:
    return " ".join(text.split())


def _drop_namespaces(box: lxml.html.HtmlElement) -> None:
    for element in box.iter():
        for name in [name for name in element.attrib if str(name).startswith(("xmlns", "xlink", "{"))]:
            del element.attrib[name]


def _resolved(markup: str, base: str) -> str:
    """Return the HTML in a normal form, with absolute URLs."""
    try:
        box = lxml.html.fragment_fromstring(markup, create_parent="div")
        if len(box) == 1 and box[0].tag == "div" and not (box.text or "").strip():
            box = box[0]
        box.make_links_absolute(base or None, handle_failures="ignore")
        _drop_namespaces(box)
    except (LxmlError, ValueError):
        return str(markup)
    return _line(tostring(box, method="c14n").decode())
