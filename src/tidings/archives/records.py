"""What the lines of an archive hold; docs/archive.md describes the format.

Names are the same as in the API where it has them. Times are RFC 3339 in UTC, exact to the microsecond.
"""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Any, Final

from msgspec import Meta, Struct

from tidings.content.model import Chapter
from tidings.domain.feeds.feed_settings import ALL_FEED_SETTINGS

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
VIEWS: Final = "views.jsonl"
RULES: Final = "rules.jsonl"
WEBHOOKS: Final = "webhooks.jsonl"
NEWSLETTERS: Final = "newsletters.jsonl"
NEWSLETTER_ADDRESSES: Final = "newsletter_addresses.jsonl"
LIVE_OPML: Final = "live_opml.jsonl"
READ_AFTER: Final = "read_after.jsonl"
BRIDGES: Final = "bridges.jsonl"
LIST_SETTINGS: Final = "list_settings.jsonl"
DELETED_ENTRIES: Final = "deleted_entries.jsonl"
MEMBERS: Final = frozenset(
    {
        MANIFEST,
        SETTINGS,
        INTEGRATIONS,
        CATEGORIES,
        FEEDS,
        ENTRIES,
        LABELS,
        VIEWS,
        RULES,
        WEBHOOKS,
        NEWSLETTERS,
        NEWSLETTER_ADDRESSES,
        LIVE_OPML,
        READ_AFTER,
        BRIDGES,
        LIST_SETTINGS,
        DELETED_ENTRIES,
    }
)

# Fields of a feed that its user chose, by which it is stored again.
FEED_SETTINGS: Final = tuple(one.name for one in ALL_FEED_SETTINGS if not one.setting.is_secret)
# Fields that only an archive with secrets has.
FEED_SECRETS: Final = tuple(one.name for one in ALL_FEED_SETTINGS if one.setting.is_secret)


# As large as the columns.
_Number = Annotated[int, Meta(ge=0, le=2**31 - 1)]
_BigNumber = Annotated[int, Meta(ge=0, le=2**63 - 1)]


class Manifest(Struct, frozen=True, kw_only=True):
    """Describes an archive: its format, origin and size."""

    format: str
    version: int
    application: str
    created_at: datetime
    username: str
    has_secrets: bool
    """Whether passwords of feeds and services are in it."""
    counts: dict[str, int]
    """Lines by file."""


class ArchivedCategory(Struct, frozen=True):
    """A category; feeds name theirs by its title."""

    title: str
    hide_globally: bool = False
    path: list[str] = []
    """Its name after those of the categories above it; empty if the title is its name, and none is above it."""
    keep_duplicates: bool = False


class ArchivedLabel(Struct, frozen=True):
    """A label of the user; entries name theirs."""

    name: str
    color: str = ""
    position: int | None = None
    """Place in the order of the user; None if the label is behind the others, by name."""


class ArchivedView(Struct, frozen=True):
    """A saved view of the user; the lines are in their order."""

    name: str
    query: str = ""
    order: str = "published_at"
    direction: str = "desc"
    density: str = ""
    icon: str = "filter"
    in_apps: bool = False
    is_home: bool = False


class ArchivedAction(Struct, frozen=True):
    """What a rule does."""

    type: str
    label: str = ""
    """Name of the label that it gives."""


class ArchivedRule(Struct, frozen=True, kw_only=True):
    """A rule with actions; the lines are in their order."""

    name: str = ""
    enabled: bool = True
    scope: str = "all"
    category: str = ""
    """Title of the category that it is for; empty for another scope."""
    feed: int = 0
    """Number of the feed that it is for; 0 for another scope."""
    query: str = ""
    actions: list[ArchivedAction] = []
    stop: bool = False
    for_changed: bool = False


class ArchivedWebhook(Struct, frozen=True, kw_only=True):
    """A webhook of the user, without its secret. The address of the main one is among the integrations."""

    name: str = ""
    is_main: bool = False
    enabled: bool = False
    url: str = ""
    events: list[str] = []
    feeds: list[int] = []
    """Numbers of the feeds that it is told of; empty, as the categories: all."""
    categories: list[str] = []
    """Titles; empty for one that was deleted."""
    query: str = ""


class ArchivedNewsletter(Struct, frozen=True, kw_only=True):
    """A sender of newsletters."""

    key: str
    """list: and its List-Id, or from: and its address."""
    name: str = ""
    address: str = ""
    feed: int = 0
    """Number of the feed where its letters go; 0 for none."""
    blocked: bool = False


class ArchivedNewsletterAddress(Struct, frozen=True, kw_only=True):
    """A secret address for newsletters. Only an archive with secrets has them."""

    name: str
    secret: str
    one_feed: bool = False
    category: str = ""
    """Title of the category for new feeds; empty for the first one."""


class ArchivedListedFeed(Struct, frozen=True):
    """A feed that a list names, or that was added for it."""

    url: str
    feed: int = 0
    """Number of the feed that was added for it; 0 if the user had it before, or has deleted it."""
    missing_since: datetime | None = None
    """Since when the list does not name it any more: its user is asked."""


class ArchivedOpmlSubscription(Struct, frozen=True):
    """A list of feeds that the user follows."""

    url: str
    category: str
    """Title of the category of its feeds."""
    feeds: list[ArchivedListedFeed] = []


class ArchivedReadAfter(Struct, frozen=True):
    """After how many days unread entries become read: of a feed, of a category, or of all feeds."""

    days: int
    """0: never."""
    category: str = ""
    feed: int = 0


class ArchivedListSetting(Struct, frozen=True, kw_only=True):
    """The order and the layout of a list: a standard one, or that of a feed, a category or a label."""

    list: str = ""
    """unread, starred, history or shared; empty for another one."""
    feed: int = 0
    """Number of the feed; 0 for another list."""
    category: str = ""
    label: str = ""
    direction: str = ""
    density: str = ""


class ArchivedBridge(Struct, frozen=True):
    """A bridge that the user has set up. Only an archive with secrets has it."""

    name: str
    """As in `PUT /v1/bridges`."""
    address: str

    def __repr__(self) -> str:
        """Leaves out the address, which may have a password."""
        return f"ArchivedBridge({self.name})"


class ArchivedFeed(Struct, frozen=True, kw_only=True):
    """A subscription."""

    number: int
    """Identifies the feed within the archive."""
    category: str
    further_categories: list[str] = []
    """Titles of the others that it is in."""
    feed_url: str
    site_url: str = ""
    title: str = ""
    description: str = ""
    language: str = ""
    edited: int = 0
    """Bits of the fields that the user set manually."""
    created_at: datetime | None = None
    settings: dict[str, Any] = {}
    """The settings that differ from a new feed's."""


class ArchivedEnclosure(Struct, frozen=True):
    """An enclosure of an entry."""

    url: str
    mime_type: str = ""
    size: _BigNumber = 0
    """Bytes; 0 when unknown."""
    media_progression: _BigNumber = 0
    """Seconds."""
    queue_position: Annotated[int, Meta(ge=-(2**31), le=2**31 - 1)] | None = None
    """Null if it is not in the queue."""


class ArchivedEntry(Struct, frozen=True, kw_only=True):
    """An entry of an archive."""

    feed: int
    """Number of its feed in the archive."""
    hash: str
    """Hex digits, as in the table `entries`."""
    fingerprint: str = ""
    """Hex digits, as in the table `entries`."""
    status: str = "read"
    """unread, read or removed."""
    starred: bool = False
    hidden: bool = False
    """Left out of the global lists."""
    published_at: datetime
    created_at: datetime | None = None
    changed_at: datetime | None = None
    snoozed_until: datetime | None = None
    """When it becomes unread again."""
    title: str = ""
    url: str = ""
    author: str = ""
    comments_url: str = ""
    language: str = ""
    share_code: str = ""
    """Code of the public link; empty without one."""
    reading_time: _Number = 0
    """Minutes."""
    edited: int = 0
    """Bits of the fields that the user set manually."""
    tags: list[str] = []
    labels: list[str] = []
    """Names of labels."""
    enclosures: list[ArchivedEnclosure] = []
    content: str = ""
    other_content: str | None = None
    """HTML that the user can switch to."""
    chapters: list[Chapter] = []
    """The chapters that the feed contains."""


class ArchivedDeletion(Struct, frozen=True):
    """An entry that was deleted and does not come back."""

    feed: int
    hash: str
    """As in ArchivedEntry."""
