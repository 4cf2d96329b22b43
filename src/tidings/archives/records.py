"""What the lines of an archive hold; docs/archive.md describes the format.

Names are those of the API where it has them. Times are RFC 3339 in UTC, exact to the microsecond.
"""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Any, Final

from msgspec import Meta, Struct

from tidings.content.model import Chapter

FORMAT: Final = "tidings-archive"
VERSION: Final = 1

# Members of the file.
MANIFEST: Final = "manifest.json"
SETTINGS: Final = "settings.json"
INTEGRATIONS: Final = "integrations.json"
CATEGORIES: Final = "categories.jsonl"
FEEDS: Final = "feeds.jsonl"
ENTRIES: Final = "entries.jsonl"
LABELS: Final = "labels.jsonl"
DELETED_ENTRIES: Final = "deleted_entries.jsonl"
MEMBERS: Final = frozenset({MANIFEST, SETTINGS, INTEGRATIONS, CATEGORIES, FEEDS, ENTRIES, LABELS, DELETED_ENTRIES})

# Fields of a feed that its user chose, by which it is stored again.
FEED_SETTINGS: Final = (
    "disabled", "check_interval_minutes", "user_agent", "fetch_via_proxy", "ignore_http_cache",
    "allow_self_signed_certificates", "disable_http2", "crawler", "ignore_entry_updates", "match_entries_by_url",
    "keep_read_days", "keep_unread_days", "hide_globally", "no_media_player", "scraper_rules", "rewrite_rules",
    "urlrewrite_rules", "blocklist_rules", "keeplist_rules", "block_filter_entry_rules", "keep_filter_entry_rules",
    "ntfy_enabled", "ntfy_priority", "ntfy_topic", "pushover_enabled", "pushover_priority",
)  # fmt: skip
# Fields that only an archive with secrets has.
FEED_SECRETS: Final = ("username", "password", "cookie", "proxy_url", "apprise_service_urls", "webhook_url")


# As large as the columns.
_Number = Annotated[int, Meta(ge=0, le=2**31 - 1)]
_BigNumber = Annotated[int, Meta(ge=0, le=2**63 - 1)]


class Manifest(Struct, frozen=True, kw_only=True):
    """About the archive. has_secrets: whether passwords of feeds and services are in it. counts: of lines by file."""

    format: str
    version: int
    application: str
    created_at: datetime
    username: str
    has_secrets: bool
    counts: dict[str, int]


class ArchivedCategory(Struct, frozen=True):
    title: str
    hide_globally: bool = False


class ArchivedLabel(Struct, frozen=True):
    """A label of the user; entries name theirs."""

    name: str


class ArchivedFeed(Struct, frozen=True, kw_only=True):
    """A subscription. number: identifies it within the archive.

    edited: bits of the fields that the user set by hand. settings: those that differ from the settings of a new feed.
    """

    number: int
    category: str
    feed_url: str
    site_url: str = ""
    title: str = ""
    description: str = ""
    language: str = ""
    edited: int = 0
    created_at: datetime | None = None
    settings: dict[str, Any] = {}


class ArchivedEnclosure(Struct, frozen=True):
    """size: bytes, 0 when unknown. media_progression: seconds. queue_position: null if it is not in the queue."""

    url: str
    mime_type: str = ""
    size: _BigNumber = 0
    media_progression: _BigNumber = 0
    queue_position: Annotated[int, Meta(ge=-(2**31), le=2**31 - 1)] | None = None


class ArchivedEntry(Struct, frozen=True, kw_only=True):
    """An entry of the feed with this number.

    hash, fingerprint: hex digits, as in the table `entries`. status: unread, read or removed. reading_time: minutes.
    edited: bits of the fields that the user set by hand. share_code: of the public link, "" without one.
    labels: names. other_content: HTML that the user can switch to. chapters: those in the feed.
    """

    feed: int
    hash: str
    fingerprint: str = ""
    status: str = "read"
    starred: bool = False
    published_at: datetime
    created_at: datetime | None = None
    changed_at: datetime | None = None
    title: str = ""
    url: str = ""
    author: str = ""
    comments_url: str = ""
    language: str = ""
    share_code: str = ""
    reading_time: _Number = 0
    edited: int = 0
    tags: list[str] = []
    labels: list[str] = []
    enclosures: list[ArchivedEnclosure] = []
    content: str = ""
    other_content: str | None = None
    chapters: list[Chapter] = []


class ArchivedDeletion(Struct, frozen=True):
    """An entry that was deleted and does not come back. hash: as in ArchivedEntry."""

    feed: int
    hash: str
