"""Feeds that a page names, or that lie where feeds usually lie."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Final
from urllib.parse import urlsplit

from msgspec import Struct

from tidings.domain.feeds import FeedFormat
from tidings.domain.page_links import Link, PageLinks

_TYPES: Final = {
    "application/rss+xml": FeedFormat.RSS,
    "application/x-rss+xml": FeedFormat.RSS,
    "application/rss": FeedFormat.RSS,
    "text/rss+xml": FeedFormat.RSS,
    "text/rss": FeedFormat.RSS,
    "application/atom+xml": FeedFormat.ATOM,
    "application/x-atom+xml": FeedFormat.ATOM,
    "application/atom": FeedFormat.ATOM,
    "text/atom+xml": FeedFormat.ATOM,
    "application/feed+json": FeedFormat.JSON,
    "application/json": FeedFormat.JSON,
}
# Also said of pages, lists of friends and site maps: their body has to tell.
_VAGUE_TYPES: Final = frozenset({"application/rdf+xml", "application/xml", "text/xml"})
_FEED_RELATIONS: Final = frozenset({"alternate", "feed", "self", "service.feed"})
_OTHER_RELATIONS: Final = frozenset({"stylesheet", "icon", "manifest", "search", "preload", "edituri"})
# WordPress declares its programming interface as an alternate of every page.
_INTERFACE: Final = re.compile(r"/wp-json/|[?&]rest_route=|/oembed\b", re.IGNORECASE)

_FEED_PATH: Final = re.compile(
    r"\.(?:rss|atom|rdf)$|(?:^|[/._-])(?:rss2?|atom|feeds?|podcast)(?:\d|[._-](?:xml|json|php))?/?$|feed[^/]*\.(?:xml|json)$",
    re.IGNORECASE,
)
_FEED_QUERY: Final = re.compile(
    r"(?:^|&)(?:feed|format|type|output|alt)=(?:rss2?|atom|rdf|feed|json-?feed)", re.IGNORECASE
)
_FEED_TEXT: Final = re.compile(r"\b(?:rss|atom|feed)\b", re.IGNORECASE)
_NOT_A_FEED_PATH: Final = re.compile(
    r"\.(?:html?|png|jpe?g|gif|svg|webp|pdf|zip|gz|css|js|mp3|m4a|mp4|ico|txt|opml)$", re.IGNORECASE
)

# Where feeds usually lie, and where they lie sometimes. In the order in which they are shown.
_USUAL: Final = ("feed", "feed/", "feed.xml", "rss.xml", "atom.xml", "index.xml")
_UNUSUAL: Final = ("rss", "rss/", "feed.json", "feed.atom", "index.rss", "rss/feed.xml")
_AT_THE_ROOT: Final = ("feeds/posts/default", "?feed=rss2")


class Candidate(Struct, frozen=True):
    """url: absolute. title: "" when only the feed itself can tell. type: as declared, or None.

    is_declared: the page says that it is a feed: it counts unless its body proves the contrary.
    """

    url: str
    title: str = ""
    type: FeedFormat | None = None
    is_declared: bool = False


def declared(page: PageLinks) -> list[Candidate]:
    """By link elements, in document order, each address once."""
    return _once_each(candidate for link in page.links if (candidate := _declared(link)))


def anchored(page: PageLinks, *, most: int) -> list[Candidate]:
    """Links on the page that look like feeds, those that look most like one first."""
    rated = [(_likeness(anchor), anchor) for anchor in page.anchors]
    likely = sorted((one for one in rated if one[0]), key=lambda one: -one[0])
    return _once_each(Candidate(anchor.url) for _, anchor in likely)[:most]


def places(url: str) -> list[list[Candidate]]:
    """To be tried one group after the other, until one holds a feed: in the page's own folder and at the root."""
    parts = urlsplit(url)
    folder, _, last = parts.path.rpartition("/")
    # Without a slash at its end, /blog is a folder as often as it is a page.
    own = [f"{folder}/{last}/"] if last and "." not in last else []
    usual = [one + place for one in dict.fromkeys([*own, f"{folder}/", "/"]) for place in _USUAL]
    unusual = [one + place for one in dict.fromkeys([f"{folder}/", "/"]) for place in _UNUSUAL]
    unusual += [f"/{place}" for place in _AT_THE_ROOT]
    origin = f"{parts.scheme}://{parts.netloc}"
    return [_once_each(Candidate(origin + path) for path in group) for group in (usual, unusual)]


def _declared(link: Link) -> Candidate | None:
    if link.url.startswith("data:") or link.rel & _OTHER_RELATIONS or (link.rel and not link.rel & _FEED_RELATIONS):
        return None
    kind = _TYPES.get(link.type)
    if kind is FeedFormat.JSON and _INTERFACE.search(link.url):
        return None
    if kind:
        return Candidate(link.url, link.text, kind, is_declared=True)
    if "feed" in link.rel or (link.type in _VAGUE_TYPES and "alternate" in link.rel):
        return Candidate(link.url, link.text)
    return None


def _likeness(anchor: Link) -> int:
    parts = urlsplit(anchor.url)
    if parts.scheme == "data":
        return 0
    if anchor.type in _TYPES:
        return 3
    if _NOT_A_FEED_PATH.search(parts.path) or (parts.path in ("", "/") and not parts.query):
        return 0
    if _FEED_PATH.search(parts.path) or _FEED_QUERY.search(parts.query):
        return 2
    return int(bool(_FEED_TEXT.search(anchor.text)) and len(anchor.text) < 40)


def _once_each(candidates: Iterable[Candidate]) -> list[Candidate]:
    by_url: dict[str, Candidate] = {}
    for candidate in candidates:
        by_url.setdefault(candidate.url, candidate)
    return list(by_url.values())
