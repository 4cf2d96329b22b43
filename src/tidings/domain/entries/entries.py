"""Entries, stored and ready to be stored, and the filters, orders and pages of lists of entries."""

from __future__ import annotations

from enum import IntEnum, IntFlag, StrEnum
from typing import Literal

from msgspec import Struct

from tidings.base.text import normalize_for_search
from tidings.base.times import DAY, Instant
from tidings.content.model import Chapter, ParsedEnclosure
from tidings.domain.accounts.users import User

# Longer tags are compared by this many characters: PostgreSQL limits the size of an index entry.
TAG_LENGTH = 200


# Pages offer to mark entries read that are older than this.
OLD_ENTRY_AGE = 7 * DAY


class EntryStatus(IntEnum):
    """The stored values. The API uses the names in lower case."""

    UNREAD = 0
    READ = 1
    REMOVED = 2

    @property
    def api_name(self) -> str:
        return self.name.lower()


STATUS_BY_NAME = {status.api_name: status for status in EntryStatus}


class EditedEntryField(IntFlag):
    """The fields of an entry that its user has edited: they stay when the publisher changes the entry."""

    TITLE = 1
    CONTENT = 2


def tag_key(tag: str) -> str:
    """Return the form in which tags are compared: without case and surrounding blanks; "" for a blank tag."""
    return normalize_for_search(tag)[:TAG_LENGTH]


class Order(StrEnum):
    ID = "id"
    STATUS = "status"
    PUBLISHED_AT = "published_at"
    CHANGED_AT = "changed_at"
    CREATED_AT = "created_at"
    CATEGORY_TITLE = "category_title"
    CATEGORY_ID = "category_id"
    TITLE = "title"
    AUTHOR = "author"


class Direction(StrEnum):
    ASC = "asc"
    DESC = "desc"


class Entry(Struct, frozen=True):
    """One row of `entries`, without its body, enclosures and tags table."""

    id: int
    user_id: int
    feed_id: int
    category_id: int
    status: int
    starred: bool
    published_at: Instant
    created_at: Instant
    changed_at: Instant
    hash: bytes
    reading_time: int
    title: str
    url: str
    author: str
    comments_url: str
    language: str
    share_code: str
    tags: str


class Enclosure(Struct, frozen=True):
    """A file attached to an entry, with how far its user has played it."""

    id: int
    user_id: int
    entry_id: int
    url: str
    mime_type: str
    size: int
    media_progression: int
    queue_position: int | None = None
    """Position in the user's queue, None if it is not in the queue."""


class ReadyEntry(Struct, frozen=True, kw_only=True):
    """An entry that is ready to be stored: filtered, rewritten and cleaned."""

    hash: bytes
    fingerprint: bytes
    """Changes when the publisher changes the entry."""
    title: str
    url: str
    content: str
    """Cleaned HTML."""
    author: str = ""
    comments_url: str = ""
    language: str = ""
    published_at: Instant
    reading_time: int = 0
    """Minutes."""
    tags: tuple[str, ...] = ()
    enclosures: tuple[ParsedEnclosure, ...] = ()
    chapters: tuple[Chapter, ...] = ()
    status: EntryStatus = EntryStatus.UNREAD
    starred: bool = False


def is_playable(mime_type: str) -> bool:
    """Return whether this is the type of an audio or video file."""
    return mime_type.startswith(("audio/", "video/"))


class UnreadLists(Struct, frozen=True):
    """Lists whose unread entries are marked read together: an entry in any of them is.

    label_ids: of labels, each of which is a list. starred: whether the list of starred entries is one of them.
    """

    feed_ids: tuple[int, ...] = ()
    category_ids: tuple[int, ...] = ()
    label_ids: tuple[int, ...] = ()
    starred: bool = False


class EntryFilter(Struct, frozen=True, kw_only=True):
    """Conditions on entries, all of which must hold. None means no condition. Times and ids are exclusive bounds."""

    statuses: tuple[EntryStatus, ...] = ()
    """Empty means read or unread."""
    starred: bool | None = None
    feed_id: int | None = None
    category_id: int | None = None
    published_before: Instant | None = None
    published_after: Instant | None = None
    changed_before: Instant | None = None
    changed_after: Instant | None = None
    created_before: Instant | None = None
    created_after: Instant | None = None
    before_entry_id: int | None = None
    after_entry_id: int | None = None
    globally_visible: bool = False
    """Whether to leave out entries whose feed or category is hidden globally."""
    excluded_feed_ids: tuple[int, ...] = ()
    """Entries of these feeds are left out."""
    tags: tuple[str, ...] = ()
    """Results of `tag_key`; an entry must have all of them."""
    label_ids: tuple[int, ...] = ()
    """Labels of the user; an entry must have all of them."""
    excluded_label_ids: tuple[int, ...] = ()
    """An entry must have none of them."""
    shared: Literal[True] | None = None
    """Whether to return only entries with a public link."""
    search: str = ""


class Shown(Struct, frozen=True):
    """The entries that a page may mark read as a whole: what was stored when it was built, and what else it shows.

    Ids rise in the order in which entries are stored.
    """

    newest_id: int
    """The entry that was stored last when the page was built; 0 if there was none."""
    later_ids: tuple[int, ...] = ()
    """Entries stored after it that the page shows nevertheless."""


class EntryCursor(Struct, frozen=True):
    """The position of an entry in a list ordered by time: its value of that time, and its id."""

    moment: Instant
    entry_id: int


class PageRequest(Struct, frozen=True, kw_only=True):
    """Which page of a list of entries to return, and in which order."""

    order: Order = Order.PUBLISHED_AT
    direction: Direction = Direction.ASC
    limit: int = 100
    """At least 1."""
    offset: int = 0
    cursor: EntryCursor | None = None
    """The entry after which the page begins; only in an order by time."""


def shown_minutes(minutes: int, user: User) -> int:
    """Return a reading time as API and receivers show it: 0 if the user hides reading times."""
    return minutes if user.show_reading_time else 0
