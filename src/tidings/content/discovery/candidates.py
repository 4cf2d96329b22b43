"""Feeds that a page declares or links to, and feeds at common locations."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Final
from urllib.parse import urlsplit

from msgspec import Struct

from tidings.content.discovery.page_links import PageLink, PageLinks
from tidings.content.model import FeedFormat

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
# Also the types of pages, lists of contacts and site maps; only the body decides.
_AMBIGUOUS_TYPES: Final = frozenset({"application/rdf+xml", "application/xml", "text/xml"})
_FEED_RELATIONS: Final = frozenset({"alternate", "feed", "self", "service.feed"})
_OTHER_RELATIONS: Final = frozenset({"stylesheet", "icon", "manifest", "search", "preload", "edituri"})
# WordPress declares its REST API as an alternate of every page.
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

# Common and rare paths of feeds, in the order in which results are shown.
_USUAL_PATHS: Final = ("feed", "feed/", "feed.xml", "rss.xml", "atom.xml", "index.xml")
_RARE_PATHS: Final = ("rss", "rss/", "feed.json", "feed.atom", "index.rss", "rss/feed.xml")
_ROOT_PATHS: Final = ("feeds/posts/default", "?feed=rss2")
# Feeds of comments by their URL (WordPress, Blogger, Ghost …) and by the title that such software gives them.
_COMMENTS_URL: Final = re.compile(
    r"/comments/(?:feed|default|rss|atom|index)|/comments?[._-]?(?:feed|rss|atom)|comments\.(?:xml|rss|atom)"
    r"|[?&]feed=comments|[?&]withcomments=1|\bcomments-(?:rss|atom)",
    re.IGNORECASE,
)
_COMMENTS_TITLE: Final = re.compile(
    r"\bcomments?[ -]feed\b|^(?:all |recent )?comments?(?: on\b| for\b|:|$| \((?:rss|atom))|\bcomments (?:rss|atom)\b"
    r"|»\s*comments\b|\bkommentar(?:e|-)? ?-?feed\b|\bflux des commentaires\b|\bfeed de (?:los )?coment[aá]rios\b"
    r"|\bfeed dei commenti\b|\breactiesfeed\b|^(?:kommentare|commentaires|coment[aá]rios|commenti|reacties)\b",
    re.IGNORECASE,
)


class FeedCandidate(Struct, frozen=True):
    """A URL that may be a feed, found on a page or guessed."""

    url: str
    """An absolute URL."""
    title: str = ""
    """The declared title; "" if unknown before the feed is fetched."""
    type: FeedFormat | None = None
    """The declared format, None if none is declared."""
    is_declared: bool = False
    """Whether the page declares it as a feed: then it is offered unless its body is not a feed."""


def declared_feeds(page: PageLinks) -> list[FeedCandidate]:
    """Return the feeds of link elements in document order, with unique URLs."""
    return _unique_by_url(candidate for link in page.links if (candidate := _declared_feed(link)))


def linked_feeds(page: PageLinks, *, limit: int) -> list[FeedCandidate]:
    """Return up to `limit` links on the page that look like feeds, the most likely ones first."""
    rated = [(_feed_score(anchor), anchor) for anchor in page.anchors]
    likely = sorted((candidate for candidate in rated if candidate[0]), key=lambda candidate: -candidate[0])
    return _unique_by_url(FeedCandidate(anchor.url) for _, anchor in likely)[:limit]


def common_locations(url: str) -> list[list[FeedCandidate]]:
    """Return groups of candidates: in the page's folder and at the root of the site.

    The groups are tried in order until one of them has a feed.
    """
    parts = urlsplit(url)
    folder, _, last = parts.path.rpartition("/")
    # Without a final slash, /blog can be a folder or a page.
    own = [f"{folder}/{last}/"] if last and "." not in last else []
    usual = [base + path for base in dict.fromkeys([*own, f"{folder}/", "/"]) for path in _USUAL_PATHS]
    rare = [base + path for base in dict.fromkeys([f"{folder}/", "/"]) for path in _RARE_PATHS]
    rare += [f"/{path}" for path in _ROOT_PATHS]
    origin = f"{parts.scheme}://{parts.netloc}"
    return [_unique_by_url(FeedCandidate(origin + path) for path in group) for group in (usual, rare)]


def is_comments_feed(url: str, title: str) -> bool:
    """Return whether a feed has the comments of readers, as far as its URL and its title tell."""
    return bool(_COMMENTS_URL.search(url) or _COMMENTS_TITLE.search(title.strip()))


def _declared_feed(link: PageLink) -> FeedCandidate | None:
    if link.url.startswith("data:") or link.rel & _OTHER_RELATIONS or (link.rel and not link.rel & _FEED_RELATIONS):
        return None
    kind = _TYPES.get(link.type)
    if kind is FeedFormat.JSON and _INTERFACE.search(link.url):
        return None
    if kind:
        return FeedCandidate(link.url, link.text, kind, is_declared=True)
    if "feed" in link.rel or (link.type in _AMBIGUOUS_TYPES and "alternate" in link.rel):
        return FeedCandidate(link.url, link.text)
    return None


def _feed_score(anchor: PageLink) -> int:
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


def _unique_by_url(candidates: Iterable[FeedCandidate]) -> list[FeedCandidate]:
    by_url: dict[str, FeedCandidate] = {}
    for candidate in candidates:
        by_url.setdefault(candidate.url, candidate)
    return list(by_url.values())
