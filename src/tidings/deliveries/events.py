"""Events sent to other services, the registry of event types, and deliveries: each sends an event to one receiver.

A new event is a value in `EVENTS` below with the function that writes its body, and a listener in
`deliveries.outbox` that `wiring` registers. The registry decides which receivers can get it (`Provider.events`; each
webhook those that its user chose), its name on the deliveries page, and the sample event of a test.
docs/webhooks.md describes the events for receivers.

A delivery has the state and the result of the attempts to send it.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from enum import StrEnum
from typing import Final

import msgspec
from msgspec import Struct, field

from tidings.base.messages import Message, decode_message, encode_message, msg
from tidings.base.times import DAY, Instant
from tidings.domain.entries.entries import Enclosure, Entry, EntryStatus
from tidings.domain.feeds.categories import Category
from tidings.domain.feeds.feeds import Feed

# Events

NEW_ENTRIES: Final = "new_entries"
SAVE_ENTRY: Final = "save_entry"
RULE_MATCHED: Final = "rule_matched"
ENTRY_READ: Final = "entry_read"
ENTRY_STARRED: Final = "entry_starred"
FEED_FAILED: Final = "feed_failed"
FEED_RECOVERED: Final = "feed_recovered"
IMPORT_FINISHED: Final = "import_finished"
# What the webhook among the integrations gets unless its user chooses other events.
MAIN_EVENTS: Final = (SAVE_ENTRY, NEW_ENTRIES, RULE_MATCHED)
# Many receivers accept at most one megabyte: larger bodies are split into several events.
MAX_BODY_BYTES = 1_000_000
# Ids in one event about entries that were read or starred; more are told in several events.
MAX_IDS = 10_000
# Up to so many of them are told as they are, with their content, and up to so many without it.
MAX_WITH_CONTENT = 10
MAX_WITHOUT_CONTENT = 100

FormatTime = Callable[[Instant], str]


class CategoryPayload(Struct, frozen=True):
    id: int
    title: str


class FeedPayload(Struct, frozen=True, omit_defaults=True):
    """The fields of a feed that are sent to receivers: no credentials, no rules."""

    id: int
    user_id: int
    category_id: int
    category: CategoryPayload
    feed_url: str
    site_url: str
    title: str
    checked_at: str
    categories: list[CategoryPayload] = []
    """All that it is in, the first one first; not sent if there is only one."""


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
    labels: list[str] = []
    """Names of the user's labels, in their order; not sent if there are none."""
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


class RulePayload(Struct, frozen=True):
    """The rule that sends entries."""

    id: int
    name: str


class RuleMatchedPayload(Struct, frozen=True):
    """The body of an event about new entries that a rule sends to the webhook."""

    event_type: str
    rule: RulePayload
    feed: FeedPayload
    entries: list[EntryPayload]
    """Oldest first, without their feed."""


class EntryBrief(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """An entry without its content and its enclosures."""

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
    author: str
    starred: bool
    reading_time: int
    tags: list[str]
    labels: list[str] = []
    feed: FeedPayload | None = None

    @classmethod
    def of(cls, entry: EntryPayload) -> EntryBrief:
        return cls(**{name: getattr(entry, name) for name in cls.__struct_fields__})


class EntriesChangedPayload(Struct, frozen=True):
    """The body of an event about entries that the user has read or starred."""

    event_type: str
    user_id: int
    entry_ids: list[int]
    """At most MAX_IDS."""
    entries: list[EntryPayload] | list[EntryBrief]
    """These, each with its feed: up to MAX_WITH_CONTENT with content, up to MAX_WITHOUT_CONTENT without, else none."""


class FeedStatePayload(Struct, frozen=True, omit_defaults=True):
    """The body of an event about a feed that begins to fail, or is well again."""

    event_type: str
    feed: FeedPayload
    error_message: str | None = None
    """Why it fails; only of a feed that does."""
    disabled: bool | None = None
    """Whether it is not checked any more because of that; only of a feed that fails."""


class ImportPayload(Struct, frozen=True, kw_only=True):
    """An import that has ended."""

    source: str
    origin: str
    succeeded: bool
    error_message: str
    new_feeds: int
    known_feeds: int
    new_entries: int
    known_entries: int
    problems: int
    """How many things could not be imported."""


class ImportFinishedPayload(Struct, frozen=True):
    """The body of an event about an import that has ended."""

    event_type: str
    user_id: int
    result: ImportPayload = field(name="import")


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
    return _bodies(lambda some: NewEntriesPayload(NEW_ENTRIES, feed, some), entries)


def rule_matched_bodies(rule: RulePayload, feed: FeedPayload, entries: Iterable[EntryPayload]) -> Iterator[bytes]:
    """As `new_entries_bodies`, for entries that a rule sends."""
    return _bodies(lambda some: RuleMatchedPayload(RULE_MATCHED, rule, feed, some), entries)


def _bodies(payload: Callable[[list[EntryPayload]], Struct], entries: Iterable[EntryPayload]) -> Iterator[bytes]:
    batch: list[EntryPayload] = []
    size = empty = len(msgspec.json.encode(payload([])))
    for entry in entries:
        needed = len(msgspec.json.encode(entry)) + 1
        if batch and size + needed > MAX_BODY_BYTES:
            yield msgspec.json.encode(payload(batch))
            batch, size = [], empty
        batch.append(entry)
        size += needed
    yield msgspec.json.encode(payload(batch))


def entry_payload(
    entry: Entry,
    content: str,
    enclosures: Sequence[Enclosure],
    label_names: Iterable[str] = (),
    *,
    minutes: int,
    format_time: FormatTime,
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
        labels=list(label_names),
    )


def feed_payload(
    feed: Feed, category: Category, further: Sequence[Category] = (), *, format_time: FormatTime
) -> FeedPayload:
    """Return a feed as it is sent to receivers. category: its first one. further: the others that it is in."""
    return FeedPayload(
        id=feed.id,
        user_id=feed.user_id,
        category_id=category.id,
        category=CategoryPayload(category.id, category.title),
        feed_url=feed.feed_url,
        site_url=feed.site_url,
        title=feed.title,
        checked_at=format_time(feed.checked_at),
        categories=[CategoryPayload(one.id, one.title) for one in (category, *further)] if further else [],
    )


def encode_body(payload: Struct) -> bytes:
    """Return the body of an event."""
    return msgspec.json.encode(payload)


def entries_changed_body(
    event_type: str, user_id: int, entry_ids: Sequence[int], entries: Sequence[EntryPayload] = ()
) -> bytes:
    """Return the body of an event about entries that were read or starred. entries: these, if there are few."""
    is_whole = len(entries) <= MAX_WITH_CONTENT
    told = list(entries) if is_whole else [EntryBrief.of(one) for one in entries]
    return msgspec.json.encode(EntriesChangedPayload(event_type, user_id, list(entry_ids), told))


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


def _rule_matched(feed: FeedPayload, entry: EntryPayload) -> bytes:
    return msgspec.json.encode(RuleMatchedPayload(RULE_MATCHED, RulePayload(1, "Rain"), feed, [entry]))


def _changed(event_type: str) -> Callable[[FeedPayload, EntryPayload], bytes]:
    def body(feed: FeedPayload, entry: EntryPayload) -> bytes:
        told = msgspec.structs.replace(entry, feed=feed)
        return entries_changed_body(event_type, entry.user_id, [entry.id], [told])

    return body


def _feed_failed(feed: FeedPayload, _entry: EntryPayload) -> bytes:
    return msgspec.json.encode(FeedStatePayload(FEED_FAILED, feed, "The feed does not exist (404).", disabled=False))


def _feed_recovered(feed: FeedPayload, _entry: EntryPayload) -> bytes:
    return msgspec.json.encode(FeedStatePayload(FEED_RECOVERED, feed))


def _import_finished(feed: FeedPayload, _entry: EntryPayload) -> bytes:
    result = ImportPayload(
        source="opml",
        origin="subscriptions.opml",
        succeeded=True,
        error_message="",
        new_feeds=1,
        known_feeds=0,
        new_entries=0,
        known_entries=0,
        problems=0,
    )
    return msgspec.json.encode(ImportFinishedPayload(IMPORT_FINISHED, feed.user_id, result))


# The test of an integration sends the first of these events that its provider supports.
EVENTS: Final = {
    event.name: event
    for event in (
        EventType(SAVE_ENTRY, msg("Saved entry"), _save_entry),
        EventType(NEW_ENTRIES, msg("New entries"), _new_entry),
        EventType(RULE_MATCHED, msg("Entries matched by a rule"), _rule_matched),
        EventType(ENTRY_READ, msg("Entries read"), _changed(ENTRY_READ)),
        EventType(ENTRY_STARRED, msg("Entries starred"), _changed(ENTRY_STARRED)),
        EventType(FEED_FAILED, msg("Feed fails"), _feed_failed),
        EventType(FEED_RECOVERED, msg("Feed works again"), _feed_recovered),
        EventType(IMPORT_FINISHED, msg("Import finished"), _import_finished),
    )
}


# Deliveries

# Maximum number of characters of a response body, and of an error, that are stored and shown.
MAX_EXCERPT_LENGTH = 1_000
MAX_ERROR_LENGTH = 500
# How long delivered and failed deliveries can be viewed and redelivered.
FINISHED_RETENTION = 7 * DAY

QUEUE_OVERFLOWED = msg(
    "Too many events were waiting for this receiver: the oldest were given up, and their bodies deleted."
)
GIVEN_UP_TOGETHER = msg("Nothing reached this receiver for a day: all events that had waited as long were given up.")


class DeliveryState(StrEnum):
    """The state of a delivery."""

    PENDING = "pending"
    """Attempts continue."""
    DELIVERED = "delivered"
    FAILED = "failed"
    """Given up, by default after a day of failed attempts."""


class FailureKind(StrEnum):
    """The part that an attempt failed at, which decides what happens next."""

    RECEIVER = "receiver"
    """The receiver takes nothing at the moment: its whole queue waits, in order."""
    EVENT = "event"
    """The receiver fails at this event: it steps aside for a few more attempts, and later events go on."""
    TIMEOUT = "timeout"
    """As EVENT, but the receiver may have done its work already: at most one more attempt."""
    REFUSED = "refused"
    """The receiver will never take this event: no more attempts."""


class Delivery(Struct, frozen=True):
    """One row of `deliveries`, without its body."""

    id: int
    user_id: int
    delivery_id: str
    integration: str
    event_type: str
    receiver: str
    feed_id: int | None
    state: str
    attempts: int
    size: int
    created_at: Instant
    redelivered_at: Instant | None
    finished_at: Instant | None
    last_status: int
    last_error: str
    last_response: str
    last_error_form: str = ""
    failed_tries: int = 0
    """Attempts that failed because of this event."""
    retry_at: Instant | None = None
    """When it is attempted again, if it stepped aside."""

    @property
    def error(self) -> Message:
        """The message of `last_error`, which can be rendered in any language."""
        return decode_message(self.last_error, self.last_error_form)

    @property
    def queued_at(self) -> Instant:
        return self.redelivered_at or self.created_at

    def __repr__(self) -> str:
        """Leaves out the receiver: its URL may hold credentials, and deliveries appear in logs and tracebacks."""
        return f"Delivery({self.id})"


class ReceiverQueue(Struct, frozen=True):
    """A receiver with due deliveries, leased by a worker: one row of `receivers`."""

    id: int
    user_id: int
    integration: str
    failures: int
    """Failed attempts in a row."""
    failing_since: Instant | None
    given_up: int
    """Deliveries given up in a row."""


class QueueLimits(Struct, frozen=True):
    """How much may be pending for one receiver, and for all receivers of one user.

    When a limit is exceeded, the oldest deliveries are given up; for a user, the oldest in the longest queues.
    """

    max_deliveries: int = 10_000
    max_bytes: int = 64 * 1024 * 1024
    max_deliveries_of_user: int = 50_000
    max_bytes_of_user: int = 256 * 1024 * 1024


def fair_share(sizes: Sequence[int], total: int) -> int:
    """Return the largest share such that queues cut to it have at most `total` together; short queues keep all."""
    left, share = total, 0
    for position, size in enumerate(sorted(sizes)):
        share = max(0, left) // (len(sizes) - position)
        if size > share:
            break
        left -= size
        share = size
    return share


def error_columns(error: Message | None) -> dict[str, str]:
    """Return the columns in which deliveries and integrations store an error; empty texts for None."""
    text = error.english()[:MAX_ERROR_LENGTH] if error else ""
    return {"last_error": text, "last_error_form": encode_message(error, text) if error else ""}


def address_digest(receiver: str) -> bytes:
    """Return 16 bytes that stand for the receiver in an index, whose entries are limited in size."""
    return hashlib.blake2b(receiver.encode(), digest_size=16).digest()
