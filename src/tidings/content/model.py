"""What a feed document contains, in the same structs for every format.

Strings are never None: absent is "". Values are as the publisher wrote them: not cleaned, filtered or rewritten.
"""

from __future__ import annotations

from enum import StrEnum
from functools import cached_property

from msgspec import Struct

from tidings.base.times import Instant


class FeedFormat(StrEnum):
    """The values of `type` in the API's response to a discovery."""

    ATOM = "atom"
    RSS = "rss"
    RDF = "rdf"
    JSON = "json"


class PageKind(StrEnum):
    """How a document that is not a feed is read. The values are those of a feed's `kind` in the API."""

    CSS = "html+css"
    XPATH = "html+xpath"
    JSON = "json"
    JSON_IN_HTML = "json in html"

    @property
    def is_json(self) -> bool:
        return self in (PageKind.JSON, PageKind.JSON_IN_HTML)


class ParsedEnclosure(Struct, frozen=True):
    """A file attached to an entry, as the publisher declares it."""

    url: str
    """An absolute URL."""
    mime_type: str = ""
    size: int = 0
    """Number of bytes, 0 when unknown."""


# Limits on the chapters of an episode; longer lists and titles are cut.
MAX_CHAPTERS = 1_000


MAX_CHAPTER_TITLE = 300


def chapter_title(written: str) -> str:
    """Return the title of a chapter on one line, not longer than the limit."""
    return " ".join(written.split())[:MAX_CHAPTER_TITLE]


class Chapter(Struct, frozen=True):
    """A part of an episode."""

    start_s: float
    """Seconds from the beginning of the episode."""
    title: str
    url: str = ""
    """A page about the chapter, or ""."""


class ParsedEntry(Struct, frozen=True, kw_only=True):
    """An entry as its document gives it: in the same form for all formats, with HTML that is not yet cleaned."""

    hash: str
    """SHA-256 of the entry's identity, 64 lower-case hex digits."""
    url: str = ""
    """An absolute http(s) URL, "" when the entry has none."""
    title: str = ""
    """Plain text; if the document has none, the beginning of the content or the URL."""
    content: str = ""
    """The publisher's HTML, not cleaned."""
    base_url: str = ""
    """The base of the relative URLs in `content`."""
    author: str = ""
    comments_url: str = ""
    language: str = ""
    published_at: Instant | None = None
    """None when the document gives no usable date."""
    tags: tuple[str, ...] = ()
    """Trimmed and unique."""
    enclosures: tuple[ParsedEnclosure, ...] = ()
    duration_minutes: int = 0
    """The episode's duration, 0 when unknown."""
    chapters: tuple[Chapter, ...] = ()
    """In the order of their times."""


class PublisherHints(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """When the document itself asks to be checked."""

    ttl_minutes: int | None = None
    """`ttl` of RSS."""
    update_minutes: int | None = None
    """`sy:updatePeriod` divided by `sy:updateFrequency`, counted from `update_base` where there is one."""
    update_base: Instant | None = None
    skip_hours: frozenset[int] = frozenset()
    """Hours from 0 to 23, UTC."""
    skip_days: frozenset[int] = frozenset()
    """Days from 0 (Monday) to 6."""


class DocumentLimit(StrEnum):
    """A limit at which a document was cut.

    ELEMENTS: too many elements in the whole document. TEXT: an entry's content is too long.
    """

    ELEMENTS = "elements"
    ENTRIES = "entries"
    TEXT = "text"


class ParsedFeed(Struct, frozen=True, kw_only=True, dict=True):
    """A feed document with its entries: the same for all formats."""

    format: FeedFormat | None
    """None for a page that is read by selectors."""
    title: str = ""
    site_url: str = ""
    """An absolute URL; the document's own URL if it names no other."""
    description: str = ""
    language: str = ""
    icon_url: str = ""
    """An absolute URL or ""."""
    self_url: str = ""
    """An absolute URL or ""."""
    hubs: tuple[str, ...] = ()
    """Absolute URLs of WebSub hubs."""
    hints: PublisherHints = PublisherHints()
    entries: tuple[ParsedEntry, ...] = ()
    """In document order."""
    other_hashes: dict[str, tuple[str, ...]] = {}
    skipped: int = 0
    """Number of items that could not be parsed."""
    is_cut_off: bool = False
    """Whether the last item was incomplete."""
    limits_reached: frozenset[DocumentLimit] = frozenset()
    """The limits beyond which the rest of the document was left out."""

    @cached_property
    def hashed_entries(self) -> list[tuple[bytes, ParsedEntry]]:
        """The entries with their hashes as bytes. Feeds of one source share them."""
        return [(bytes.fromhex(entry.hash), entry) for entry in self.entries]
