"""What a feed document contains, in the same structs for every format.

Strings are never None: absent is "". Values are as the publisher wrote them: not cleaned, filtered or rewritten.
"""

from __future__ import annotations

from enum import StrEnum

from msgspec import Struct

from tidings.base.times import Instant


class FeedFormat(StrEnum):
    """The values of `type` in the API's response to a discovery."""

    ATOM = "atom"
    RSS = "rss"
    RDF = "rdf"
    JSON = "json"


class ParsedEnclosure(Struct, frozen=True):
    """url: absolute; size: bytes, 0 when unknown."""

    url: str
    mime_type: str = ""
    size: int = 0


# Of an episode; longer lists and titles are cut.
MAX_CHAPTERS = 1_000


MAX_CHAPTER_TITLE = 300


def chapter_title(written: str) -> str:
    """Returns the title of a chapter on one line, not longer than the limit."""
    return " ".join(written.split())[:MAX_CHAPTER_TITLE]


class Chapter(Struct, frozen=True):
    """A part of an episode. start_s: from its beginning. url: of a page about it, or ""."""

    start_s: float
    title: str
    url: str = ""


class ParsedEntry(Struct, frozen=True, kw_only=True):
    """hash: SHA-256 of the entry's identity, 64 lower-case hex digits.

    url: absolute http(s), or "" when the entry has none.
    title: plain text; if the document has none, the beginning of the content or the URL.
    content: the publisher's HTML, not cleaned. base_url: the base of its relative URLs.
    published_at: None when the document gives no usable date.
    tags: trimmed, unique. duration_minutes: of an episode, 0 when unknown. chapters: by their times.
    """

    hash: str
    url: str = ""
    title: str = ""
    content: str = ""
    base_url: str = ""
    author: str = ""
    comments_url: str = ""
    language: str = ""
    published_at: Instant | None = None
    tags: tuple[str, ...] = ()
    enclosures: tuple[ParsedEnclosure, ...] = ()
    duration_minutes: int = 0
    chapters: tuple[Chapter, ...] = ()


class PublisherHints(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """When the document itself asks to be checked.

    ttl_minutes: RSS `ttl`. update_minutes: `sy:updatePeriod` divided by `sy:updateFrequency`, counted from
    update_base where there is one. skip_hours: 0 to 23, UTC. skip_days: 0 (Monday) to 6.
    """

    ttl_minutes: int | None = None
    update_minutes: int | None = None
    update_base: Instant | None = None
    skip_hours: frozenset[int] = frozenset()
    skip_days: frozenset[int] = frozenset()


class DocumentLimit(StrEnum):
    """A limit at which a document was cut. ELEMENTS: of the whole document. TEXT: of the content of an entry."""

    ELEMENTS = "elements"
    ENTRIES = "entries"
    TEXT = "text"


class ParsedFeed(Struct, frozen=True, kw_only=True):
    """entries: in document order. skipped: the number of items that could not be parsed. is_cut_off: the last of them
    was incomplete.

    site_url: absolute; the document's own URL if it names no other. icon_url, self_url: absolute or "".
    hubs: WebSub hubs, absolute. limits_reached: where more of the document was left out.
    """

    format: FeedFormat
    title: str = ""
    site_url: str = ""
    description: str = ""
    language: str = ""
    icon_url: str = ""
    self_url: str = ""
    hubs: tuple[str, ...] = ()
    hints: PublisherHints = PublisherHints()
    entries: tuple[ParsedEntry, ...] = ()
    other_hashes: dict[str, tuple[str, ...]] = {}
    skipped: int = 0
    is_cut_off: bool = False
    limits_reached: frozenset[DocumentLimit] = frozenset()
