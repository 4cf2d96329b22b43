"""What is told to others when something happened: bodies of webhooks (spec/behaviour.md, section 17.3)."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence

import msgspec
from msgspec import Struct

from tidings.domain.categories import Category
from tidings.domain.entries import Enclosure, Entry, Status
from tidings.domain.feeds import Feed
from tidings.domain.times import Instant

NEW_ENTRIES = "new_entries"
SAVE_ENTRY = "save_entry"
# Many receivers take a megabyte and no more: more than that goes out in several events.
LARGEST_BODY = 1_000_000

Show = Callable[[Instant], str]


class CategoryTold(Struct, frozen=True):
    id: int
    title: str


class FeedTold(Struct, frozen=True):
    """The few facts about a feed that concern a receiver: no credentials, no rules."""

    id: int
    user_id: int
    category_id: int
    category: CategoryTold
    feed_url: str
    site_url: str
    title: str
    checked_at: str


class EntryTold(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """feed: left out where the event has one for all its entries."""

    id: int
    user_id: int
    feed_id: int
    status: str
    hash: str
    title: str
    url: str
    comments_url: str
    published_at: str
    created_at: str
    changed_at: str
    content: str
    author: str
    share_code: str
    starred: bool
    reading_time: int
    enclosures: list[Enclosure]
    tags: list[str]
    feed: FeedTold | None = None


class SaveEntry(Struct, frozen=True):
    event_type: str
    entry: EntryTold


class NewEntries(Struct, frozen=True):
    """entries: oldest first, without their feed."""

    event_type: str
    feed: FeedTold
    entries: list[EntryTold]


class Event(Struct, frozen=True, kw_only=True):
    """An event on its way out, as the one who delivers it sees it.

    delivery_id: the same at every try. attempt: counted from 1. receiver: as the leaf named it.
    body: as it was written when the event happened; what is signed. at: when this try is made, for tokens that carry
    the time.
    """

    type: str
    delivery_id: str
    attempt: int
    receiver: str
    body: bytes
    at: Instant = Instant(0)

    @property
    def entry(self) -> EntryTold:
        """The entry of save_entry, with its feed."""
        return msgspec.json.decode(self.body, type=SaveEntry).entry

    @property
    def news(self) -> NewEntries:
        """What new_entries tells."""
        return msgspec.json.decode(self.body, type=NewEntries)


def save_entry(entry: Entry, content: str, enclosures: Sequence[Enclosure], feed: FeedTold, *, show: Show) -> bytes:
    """Somebody wants to keep this entry elsewhere.

    show: writes an instant in the zone of the user.
    """
    return msgspec.json.encode(SaveEntry(SAVE_ENTRY, entry_told(entry, content, enclosures, feed, show=show)))


def new_entries(feed: FeedTold, entries: Iterable[EntryTold]) -> Iterator[bytes]:
    """One event with all of them, or several when that would be larger than LARGEST_BODY.

    entries: oldest first, at least one. Of them and of events, no more than one event's are in memory.
    """
    empty = len(msgspec.json.encode(NewEntries(NEW_ENTRIES, feed, [])))
    together: list[EntryTold] = []
    size = empty
    for entry in entries:
        needed = len(msgspec.json.encode(entry)) + 1
        if together and size + needed > LARGEST_BODY:
            yield msgspec.json.encode(NewEntries(NEW_ENTRIES, feed, together))
            together, size = [], empty
        together.append(entry)
        size += needed
    yield msgspec.json.encode(NewEntries(NEW_ENTRIES, feed, together))


def entry_told(
    entry: Entry, content: str, enclosures: Sequence[Enclosure], feed: FeedTold | None, *, show: Show
) -> EntryTold:
    return EntryTold(
        id=entry.id,
        user_id=entry.user_id,
        feed_id=entry.feed_id,
        status=Status(entry.status).word,
        hash=entry.hash.hex(),
        title=entry.title,
        url=entry.url,
        comments_url=entry.comments_url,
        published_at=show(entry.published_at),
        created_at=show(entry.created_at),
        changed_at=show(entry.changed_at),
        content=content,
        author=entry.author,
        share_code=entry.share_code,
        starred=bool(entry.starred),
        reading_time=entry.reading_time,
        enclosures=list(enclosures),
        tags=msgspec.json.decode(entry.tags, type=list[str]),
        feed=feed,
    )


def feed_told(feed: Feed, category: Category, *, show: Show) -> FeedTold:
    return FeedTold(
        id=feed.id,
        user_id=feed.user_id,
        category_id=category.id,
        category=CategoryTold(category.id, category.title),
        feed_url=feed.feed_url,
        site_url=feed.site_url,
        title=feed.title,
        checked_at=show(feed.checked_at),
    )
