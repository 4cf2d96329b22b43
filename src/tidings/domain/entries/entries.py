"""Entries, stored and ready to be stored, with what is attached to them; filters, orders and pages of lists of entries.

Enclosures are recognised after the publisher has changed the entry. Chapters of an episode come from the feed itself,
or as the JSON of Podcasting 2.0.
Source: https://github.com/Podcastindex-org/podcast-namespace/blob/main/chapters/jsonChapters.md
"""

from __future__ import annotations

import codecs
from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from enum import IntEnum, IntFlag, StrEnum
from typing import Any, Final, Literal

import msgspec
from msgspec import Struct

from tidings.base.errors import InvalidInput
from tidings.base.messages import msg
from tidings.base.text import normalize_for_search
from tidings.base.times import DAY, Instant
from tidings.base.url_schemes import safe_href
from tidings.content.model import MAX_CHAPTERS, Chapter, ParsedEnclosure, chapter_title
from tidings.domain.accounts.users import User
from tidings.query.model import DatedQuery

# Longer tags are compared by this many characters: PostgreSQL limits the size of an index entry.
TAG_LENGTH = 200


# Pages offer to mark entries read that are older than this.
OLD_ENTRY_AGE = 7 * DAY


class EntryStatus(IntEnum):
    """The stored values. The API uses the names in lower case."""

    UNREAD = 0
    READ = 1
    REMOVED = 2
    FOLDED = 3
    """It repeats an entry of another feed, which represents it in all lists and counts (`storage.entries.duplicates`).
    The API shows the status of the other one."""

    @property
    def api_name(self) -> str:
        return "read" if self is EntryStatus.FOLDED else self.name.lower()


# By value: looking it up takes a twentieth of the time of making the enum and asking it.
NAME_BY_STATUS: Mapping[int, str] = {int(status): status.api_name for status in EntryStatus}
STATUS_BY_NAME = {status.api_name: status for status in EntryStatus if status is not EntryStatus.FOLDED}
# Entries with one of these are in no list and no count.
UNLISTED = (EntryStatus.REMOVED, EntryStatus.FOLDED)


class Folded(StrEnum):
    """What apps see of folded entries: the values of the setting `duplicates_in_apps`."""

    HIDE = "hide"
    """Nothing, as pages."""
    READ = "read"
    """They are read."""
    ALL = "all"
    """They have the status of the entry that represents them."""

    @classmethod
    def for_apps(cls, user: User) -> Folded:
        """Return what the apps of a user see."""
        return cls(user.duplicates_in_apps) if user.duplicates == "fold" else cls.HIDE


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
    hidden: bool


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
    page_url: str = ""
    """The address that the entry's page has or says it has; "" if the page was not fetched."""
    status: EntryStatus = EntryStatus.UNREAD
    starred: bool = False
    hidden: bool = False
    """Whether the global lists leave it out."""


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
    """Whether to leave out entries that are hidden globally: themselves, with their feed or with their category."""
    excludes_hidden: bool = False
    """Whether to leave out entries that are hidden globally themselves."""
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
    query: DatedQuery | None = None
    """A query of the query language."""
    folded: Folded = Folded.HIDE
    """Whether folded entries are in the list, and as which; a status that includes them comes first."""


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


class Total(Struct, frozen=True):
    """The number of entries in a list."""

    number: int
    is_exact: bool = True
    """False where counting has stopped: the list has more entries."""


class PageRequest(Struct, frozen=True, kw_only=True):
    """Which page of a list of entries to return, and in which order."""

    order: Order = Order.PUBLISHED_AT
    direction: Direction = Direction.ASC
    limit: int = 100
    """At least 1."""
    offset: int = 0
    cursor: EntryCursor | None = None
    """The entry after which the page begins; only in an order by time."""
    count_up_to: int | None = None
    """At how many entries counting the list may stop; None counts all."""


def shown_minutes(minutes: int, user: User) -> int:
    """Return a reading time as API and receivers show it: 0 if the user hides reading times."""
    return minutes if user.show_reading_time else 0


# Enclosures


def match_enclosures(
    stored: Mapping[int, ParsedEnclosure], published: Sequence[ParsedEnclosure]
) -> dict[int, ParsedEnclosure]:
    """Return what each stored enclosure is now; enclosures that the entry does not have any more are left out.

    It is the one with the same URL; else one of the same kind (audio, image) with the same URL except for scheme and
    query, in which many podcasts have a new token in every document; else the entry's only one of the same type.

    stored: the stored enclosures, by id.
    """
    found: dict[int, ParsedEnclosure] = {}
    unmatched = dict.fromkeys(published)
    key_of: Callable[[ParsedEnclosure], Hashable]
    for key_of in (_url, _url_without_query, _type):
        stored_counts, published_counts = Counter(map(key_of, stored.values())), Counter(map(key_of, published))
        candidates = {
            key: id_
            for id_, enclosure in stored.items()
            if id_ not in found and stored_counts[key := key_of(enclosure)] == 1
        }
        for enclosure in list(unmatched):
            key = key_of(enclosure)
            if published_counts[key] == 1 and key in candidates:
                found[candidates[key]] = enclosure
                del unmatched[enclosure]
    return found


def _url(enclosure: ParsedEnclosure) -> str:
    return enclosure.url


def _url_without_query(enclosure: ParsedEnclosure) -> tuple[str, str]:
    """Return the URL without scheme and query, and the kind: a cover may have the path of its episode."""
    return enclosure.url.partition("?")[0].rpartition("://")[2], enclosure.mime_type.partition("/")[0]


def _type(enclosure: ParsedEnclosure) -> str:
    return enclosure.mime_type


# Chapters

_MAX_START_S: Final = 10**7


def start_seconds(value: Any) -> float | None:
    """Return the seconds; None unless `value` is a number from 0 to several hundred days."""
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value <= _MAX_START_S:
        return None
    return float(value)


def read_chapters(body: bytes) -> list[Chapter]:
    """Return the chapters of a document in the order of their times. Raises InvalidInput if it has none."""
    try:
        document = msgspec.json.decode(body.removeprefix(codecs.BOM_UTF8))
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise InvalidInput(msg("The file of the chapters is not JSON.")) from error
    listed = document.get("chapters") if isinstance(document, dict) else None
    chapters = sorted_chapters(_chapter(one) for one in (listed if isinstance(listed, list) else ())[:MAX_CHAPTERS])
    if not chapters:
        raise InvalidInput(msg("The file of the chapters has none."))
    return chapters


def sorted_chapters(chapters: Iterable[Chapter | None]) -> list[Chapter]:
    return sorted((one for one in chapters if one), key=lambda one: one.start_s)


def stored_chapters(text: str) -> list[Chapter]:
    """Return the chapters that `chapters_text` wrote."""
    return msgspec.json.decode(text, type=list[Chapter]) if text else []


def chapters_text(chapters: Iterable[Chapter]) -> str:
    """Return the text to store; "" for none."""
    listed = list(chapters)
    return msgspec.json.encode(listed).decode() if listed else ""


def _chapter(one: Any) -> Chapter | None:
    """Return None for what is not a chapter, or not in the table of contents."""
    if not isinstance(one, dict) or one.get("toc") is False:
        return None
    start, title, url = one.get("startTime"), one.get("title"), one.get("url")
    if isinstance(start, str):
        try:
            start = float(start)
        except ValueError:
            return None
    seconds = start_seconds(start)
    if seconds is None:
        return None
    name = chapter_title(title) if isinstance(title, str) else ""
    return Chapter(seconds, name, safe_href(url) if isinstance(url, str) else "")
