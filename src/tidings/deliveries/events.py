"""Events sent to other services, and the registry of event types.

A new event is a value in `EVENTS` below with the function that writes its body, and a listener in
`deliveries.outbox` that `wiring` registers. The registry decides which receivers get it (`Provider.events`; the
webhook gets all), its name on the deliveries page, and the sample event of a test.
docs/webhooks.md describes the events for receivers.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Final

import msgspec
from msgspec import Struct

from tidings.base.messages import Message, msg
from tidings.base.times import Instant
from tidings.domain.entries.entries import Enclosure, Entry, EntryStatus
from tidings.domain.feeds.categories import Category
from tidings.domain.feeds.feeds import Feed

NEW_ENTRIES: Final = "new_entries"
SAVE_ENTRY: Final = "save_entry"
# Many receivers accept at most one megabyte: larger bodies are split into several events.
MAX_BODY_BYTES = 1_000_000

FormatTime = Callable[[Instant], str]


class CategoryPayload(Struct, frozen=True):
    id: int
    title: str


class FeedPayload(Struct, frozen=True):
    """The fields of a feed that are sent to receivers: no credentials, no rules."""

    id: int
    user_id: int
    category_id: int
    category: CategoryPayload
    feed_url: str
    site_url: str
    title: str
    checked_at: str


class EnclosurePayload(Struct, frozen=True):
    id: int
    user_id: int
    entry_id: int
    url: str
    mime_type: str
    size: int
    media_progression: int


class EntryPayload(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """The fields of an entry that are sent to receivers."""

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
    enclosures: list[EnclosurePayload]
    tags: list[str]
    feed: FeedPayload | None = None
    """None where the event itself holds the feed of all its entries."""


class SaveEntryPayload(Struct, frozen=True):
    event_type: str
    entry: EntryPayload


class NewEntriesPayload(Struct, frozen=True):
    """The body of an event about new entries of a feed."""

    event_type: str
    feed: FeedPayload
    entries: list[EntryPayload]
    """Oldest first, without their feed."""


class Event(Struct, frozen=True, kw_only=True):
    """One attempt to deliver an event, as a provider gets it."""

    type: str
    delivery_id: str
    """The same for every attempt."""
    attempt: int
    """Counted from 1."""
    receiver: str
    """As the provider named it."""
    body: bytes
    """JSON, written when the event happened; the signature covers these bytes."""
    at: Instant = Instant(0)
    """The time of this attempt, for tokens that contain it."""

    @property
    def saved_entry(self) -> EntryPayload:
        """The entry of a `save_entry` event, with its feed."""
        return msgspec.json.decode(self.body, type=SaveEntryPayload).entry

    @property
    def new_entries(self) -> NewEntriesPayload:
        """The decoded body of a `new_entries` event."""
        return msgspec.json.decode(self.body, type=NewEntriesPayload)


def new_entries_bodies(feed: FeedPayload, entries: Iterable[EntryPayload]) -> Iterator[bytes]:
    """Yield the body of one event with all entries, or several bodies of at most MAX_BODY_BYTES each.

    A single entry larger than that gets a separate body. entries: oldest first, at least one; they are consumed
    lazily, so that the entries and the body of only one event are in memory at a time.
    """
    empty = len(msgspec.json.encode(NewEntriesPayload(NEW_ENTRIES, feed, [])))
    batch: list[EntryPayload] = []
    size = empty
    for entry in entries:
        needed = len(msgspec.json.encode(entry)) + 1
        if batch and size + needed > MAX_BODY_BYTES:
            yield msgspec.json.encode(NewEntriesPayload(NEW_ENTRIES, feed, batch))
            batch, size = [], empty
        batch.append(entry)
        size += needed
    yield msgspec.json.encode(NewEntriesPayload(NEW_ENTRIES, feed, batch))


def entry_payload(
    entry: Entry, content: str, enclosures: Sequence[Enclosure], *, minutes: int, format_time: FormatTime
) -> EntryPayload:
    """Return an entry as it is sent to receivers.

    minutes: the reading time that the user sees. format_time: formats an instant in the user's time zone.
    """
    return EntryPayload(
        id=entry.id,
        user_id=entry.user_id,
        feed_id=entry.feed_id,
        status=EntryStatus(entry.status).api_name,
        hash=entry.hash.hex(),
        title=entry.title,
        url=entry.url,
        comments_url=entry.comments_url,
        published_at=format_time(entry.published_at),
        created_at=format_time(entry.created_at),
        changed_at=format_time(entry.changed_at),
        content=content,
        author=entry.author,
        share_code=entry.share_code,
        starred=bool(entry.starred),
        reading_time=minutes,
        enclosures=[msgspec.convert(one, EnclosurePayload, from_attributes=True) for one in enclosures],
        tags=msgspec.json.decode(entry.tags, type=list[str]),
    )


def feed_payload(feed: Feed, category: Category, *, format_time: FormatTime) -> FeedPayload:
    return FeedPayload(
        id=feed.id,
        user_id=feed.user_id,
        category_id=category.id,
        category=CategoryPayload(category.id, category.title),
        feed_url=feed.feed_url,
        site_url=feed.site_url,
        title=feed.title,
        checked_at=format_time(feed.checked_at),
    )


class EventType(Struct, frozen=True):
    """A type of event that receivers get."""

    name: str
    """As in the body, in the header and in the database."""
    title: Message
    """As shown on pages."""
    body: Callable[[FeedPayload, EntryPayload], bytes]
    """Return the body of an event about this feed and one of its entries."""


def _save_entry(feed: FeedPayload, entry: EntryPayload) -> bytes:
    return msgspec.json.encode(SaveEntryPayload(SAVE_ENTRY, msgspec.structs.replace(entry, feed=feed)))


def _new_entry(feed: FeedPayload, entry: EntryPayload) -> bytes:
    return msgspec.json.encode(NewEntriesPayload(NEW_ENTRIES, feed, [entry]))


# The test of an integration sends the first of these events that its provider supports.
EVENTS: Final = {
    event.name: event
    for event in (
        EventType(SAVE_ENTRY, msg("Saved entry"), _save_entry),
        EventType(NEW_ENTRIES, msg("New entries"), _new_entry),
    )
}
