"""Endpoints for entries: lists, single entries, and their state."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Annotated

import msgspec
from msgspec import Struct
from starlette.responses import Response

from tidings.api.endpoints.enclosures import EnclosureOut, enclosure_out
from tidings.api.endpoints.feeds import FeedOut, MissingIcon, encoded_feeds
from tidings.api.endpoints.labels import Color
from tidings.api.entry_filters import EntriesQuery, IdsQuery
from tidings.api.schema_annotations import Required, Timestamp, one_of
from tidings.api.struct_copy import StructCopy
from tidings.base.errors import InvalidInput, NotFound
from tidings.base.messages import verbatim
from tidings.domain.accounts.users import User
from tidings.domain.entries.entries import (
    STATUS_BY_NAME,
    Direction,
    Enclosure,
    Entry,
    EntryStatus,
    Order,
    PageRequest,
    shown_minutes,
)
from tidings.engine.database import Read
from tidings.http.endpoints import Routes
from tidings.http.json_body import Int64
from tidings.http.responses import ChunkedJson, json
from tidings.services import Services
from tidings.services.clock import TimeZone, time_zone
from tidings.services.entries.entries import owned_entry, unknown_entry
from tidings.services.entries.labels import check_owned
from tidings.services.entries.queries import dated_query
from tidings.storage.entries import entries, entry_lists, labels
from tidings.storage.entries.entry_lists import EntryPage
from tidings.storage.feeds import categories

routes = Routes("Entries")


class EntryLabelOut(Struct, frozen=True):
    """A label that the user gave to the entry."""

    id: int
    title: str
    color: Color


class EntryOut(Struct, frozen=True):
    """content: cleaned HTML. reading_time: minutes. Times are in the time zone of the user.

    tags: of the publisher. labels: of the user, in their order.
    """

    id: int
    user_id: int
    feed_id: int
    title: str
    url: str
    comments_url: str
    author: str
    language: str
    share_code: str
    starred: bool
    reading_time: int
    status: Annotated[str, one_of(STATUS_BY_NAME)]
    hash: str
    published_at: Timestamp
    created_at: Timestamp
    changed_at: Timestamp
    content: str
    tags: list[str]
    enclosures: list[EnclosureOut]
    feed: FeedOut
    labels: list[EntryLabelOut]


class EntryList(Struct, frozen=True):
    """total: the number of matches on all pages."""

    total: int
    entries: list[EntryOut]


# Entries per change, so that other transactions do not wait long.
MAX_IDS = 100_000


# Longer lists are streamed, with the bodies of at most this many entries in memory.
MAX_WHOLE = 1_000
CHUNK = 200


class EntryIds(Struct, frozen=True):
    total: int
    entry_ids: list[int]


class EntriesUpdate(Struct, frozen=True):
    """At least one of status, starred, add_labels and remove_labels is sent.

    add_labels, remove_labels: ids of your labels, which the entries may have already or not.
    """

    entry_ids: Required[list[Int64]] = None
    status: Annotated[str | None, one_of(STATUS_BY_NAME)] = None
    starred: bool | None = None
    add_labels: list[Int64] | None = None
    remove_labels: list[Int64] | None = None


# Of most entries.
_NO_LABELS: list[EntryLabelOut] = []

_copy = StructCopy(
    EntryOut,
    "reading_time",
    "status",
    "hash",
    "published_at",
    "created_at",
    "changed_at",
    "content",
    "tags",
    "enclosures",
    "feed",
    "labels",
)


def serialize_page(
    db: Read, caller: User, page: EntryPage, missing_icon: MissingIcon = MissingIcon.NULL
) -> list[EntryOut]:
    """Leaves out entries whose feed was deleted since the page was read, which PostgreSQL allows."""
    embedded = encoded_feeds(db, caller, {entry.feed_id for entry in page.entries}, missing_icon=missing_icon)
    given = _labels_of(db, caller, page.entries) if page.entries else {}
    clock = time_zone(caller.timezone)
    return [
        _show(
            entry,
            page.contents.get(entry.id, ""),
            page.enclosures.get(entry.id, []),
            embedded[entry.feed_id],
            given.get(entry.id, _NO_LABELS),
            clock,
            minutes=shown_minutes(entry.reading_time, caller),
        )
        for entry in page.entries
        if entry.feed_id in embedded
    ]


def _show(
    entry: Entry,
    content: str,
    attached: list[Enclosure],
    feed: msgspec.Raw,
    given: list[EntryLabelOut],
    clock: TimeZone,
    *,
    minutes: int,
) -> EntryOut:
    return _copy(
        entry,
        reading_time=minutes,
        status=EntryStatus(entry.status).api_name,
        hash=entry.hash.hex(),
        published_at=clock.format(entry.published_at),
        created_at=clock.format(entry.created_at),
        changed_at=clock.format(entry.changed_at),
        content=content,
        # Stored as JSON and sent as JSON, without decoding.
        tags=msgspec.Raw(entry.tags.encode()),
        enclosures=[enclosure_out(enclosure) for enclosure in attached],
        feed=feed,
        labels=given,
    )


def _labels_of(db: Read, caller: User, listed: Sequence[Entry]) -> dict[int, list[EntryLabelOut]]:
    """Return the labels of entries by entry id; an entry without labels is missing."""
    given = labels.of_entries(db, caller.id, [entry.id for entry in listed])
    return {
        entry_id: [EntryLabelOut(label.id, label.name, label.color) for label in own] for entry_id, own in given.items()
    }


def serialize_entry(db: Read, caller: User, entry: Entry, missing_icon: MissingIcon = MissingIcon.NULL) -> EntryOut:
    """Raise NotFound if its feed was deleted since the entry was read."""
    shown = serialize_page(db, caller, entry_lists.with_bodies(db, [entry]), missing_icon)
    if not shown:
        raise unknown_entry(entry.id)
    return shown[0]


@routes.get("/v1/entries", raises=(InvalidInput,), responses={200: EntryList})
def list_entries(caller: User, services: Services, missing_icon: MissingIcon, query: EntriesQuery) -> Response:
    """List entries of all feeds."""
    return _list(caller, services, missing_icon, query)


@routes.get("/v1/feeds/{feed_id}/entries", raises=(InvalidInput,), responses={200: EntryList})
def list_feed_entries(
    caller: User, services: Services, missing_icon: MissingIcon, feed_id: int, query: EntriesQuery
) -> Response:
    """List entries of a feed."""
    return _list(caller, services, missing_icon, query, feed_id=feed_id)


@routes.get("/v1/categories/{category_id}/entries", raises=(InvalidInput,), responses={200: EntryList})
def list_category_entries(
    caller: User, services: Services, missing_icon: MissingIcon, category_id: int, query: EntriesQuery
) -> Response:
    """List entries of all feeds of a category and of those below it."""
    return _list(caller, services, missing_icon, query, category_id=category_id)


def _list(
    caller: User,
    services: Services,
    missing_icon: MissingIcon,
    query: EntriesQuery,
    *,
    feed_id: int = 0,
    category_id: int = 0,
) -> Response:
    """Return a page. Feed and category of path and query must both match; by contract an unknown one is a 400."""
    feed_ids = {id_ for id_ in (feed_id, query.feed_id or 0) if id_}
    category_ids = {id_ for id_ in (category_id, query.category_id or 0) if id_}
    asked = dated_query(query.query, now=services.clock(), zone=caller.timezone)
    with services.entries.listing.open(
        caller.id,
        search=query.search,
        query=asked,
        feed_ids=feed_ids,
        category_ids=category_ids,
        label_ids=query.label_ids(),
    ) as lists:
        entry_filter, page = query.filter(), query.page()
        lowest = categories.lowest(lists.db, caller.id, category_ids)
        if len(feed_ids) > 1 or (category_ids and lowest is None):
            return json(EntryList(total=0, entries=[]))
        entry_filter = msgspec.structs.replace(
            entry_filter,
            query=asked,
            feed_id=next(iter(feed_ids), None),
            category_id=lowest,
        )
        if page.limit <= MAX_WHOLE:
            result = lists.page(entry_filter, page)
            return json(EntryList(total=result.total, entries=serialize_page(lists.db, caller, result, missing_icon)))
        ids, total = lists.page_ids(entry_filter, page)
    return ChunkedJson(_chunks(caller, services, missing_icon, ids, total))


def _chunks(
    caller: User, services: Services, missing_icon: MissingIcon, ids: Sequence[int], total: int
) -> Iterator[bytes]:
    """Yield an EntryList as JSON, with a transaction for the bodies of each chunk.

    An entry that is deleted in the meantime is missing.
    """
    yield b'{"total":%d,"entries":[' % total
    is_first = True
    for start in range(0, len(ids), CHUNK):
        with services.reading() as db:
            chunk = ids[start : start + CHUNK]
            by_id = {entry.id: entry for entry in entries.get_many(db, caller.id, chunk)}
            page = entry_lists.with_bodies(db, [by_id[number] for number in chunk if number in by_id])
            encoded = msgspec.json.encode(serialize_page(db, caller, page, missing_icon))[1:-1]
        if encoded:
            yield encoded if is_first else b"," + encoded
            is_first = False
    yield b"]}"


@routes.get("/v1/entries/ids", raises=(InvalidInput,))
def list_entry_ids(caller: User, services: Services, query: IdsQuery) -> EntryIds:
    """List ids of entries, newest first, at most 10,000 at a time."""
    entry_filter, limit, offset = query.filter(), query.page_size(), query.offset or 0
    if asked := dated_query(query.query, now=services.clock(), zone=caller.timezone):
        entry_filter = msgspec.structs.replace(entry_filter, query=asked)
        page = PageRequest(order=Order.ID, direction=Direction.DESC, limit=limit, offset=offset)
        with services.entries.listing.of(caller.id, entry_filter) as lists:
            ids, total = lists.page_ids(entry_filter, page)
        return EntryIds(total, ids)
    with services.reading() as db:
        check_owned(db, caller.id, entry_filter.label_ids, field="label_id")
        total, joined = entry_lists.ids(db, caller.id, entry_filter, limit=limit, offset=offset)
    # Joined, they are JSON already: decoding and encoding them would take longer than reading them.
    return EntryIds(total, msgspec.Raw(f"[{joined}]".encode()))  # type: ignore[arg-type]


@routes.get("/v1/entries/{entry_id}", raises=(InvalidInput, NotFound))
def get_entry(caller: User, services: Services, missing_icon: MissingIcon, entry_id: int) -> EntryOut:
    """Get an entry. This does not mark it as read."""
    with services.reading() as db:
        return serialize_entry(db, caller, owned_entry(db, caller.id, entry_id), missing_icon)


@routes.get("/v1/feeds/{feed_id}/entries/{entry_id}", raises=(InvalidInput, NotFound))
def get_feed_entry(
    caller: User, services: Services, missing_icon: MissingIcon, feed_id: int, entry_id: int
) -> EntryOut:
    """Get an entry of a feed."""
    with services.reading() as db:
        entry = owned_entry(db, caller.id, entry_id)
        if entry.feed_id != feed_id:
            raise NotFound(verbatim(f"There is no entry {entry_id} in feed {feed_id}."))
        return serialize_entry(db, caller, entry, missing_icon)


@routes.get("/v1/categories/{category_id}/entries/{entry_id}", raises=(InvalidInput, NotFound))
def get_category_entry(
    caller: User, services: Services, missing_icon: MissingIcon, category_id: int, entry_id: int
) -> EntryOut:
    """Get an entry of a category or of one below it."""
    with services.reading() as db:
        entry = owned_entry(db, caller.id, entry_id)
        if entry.category_id not in categories.with_below(db, caller.id, [category_id]):
            raise NotFound(verbatim(f"There is no entry {entry_id} in category {category_id}."))
        return serialize_entry(db, caller, entry, missing_icon)


@routes.put("/v1/entries", status=204, raises=(InvalidInput,))
def update_entries(caller: User, services: Services, body: EntriesUpdate) -> None:
    """Set the status or the star of several entries, and give or take labels. Other users' entries are ignored."""
    if not body.entry_ids:
        raise InvalidInput(verbatim("entry_ids: at least one entry id is needed."), field="entry_ids")
    if len(body.entry_ids) > MAX_IDS:
        raise InvalidInput(
            verbatim(f"entry_ids: {MAX_IDS:,} entry ids at most; send them in parts."), field="entry_ids"
        )
    status = None
    if body.status:
        status = STATUS_BY_NAME.get(body.status)
        if status is None:
            raise InvalidInput(
                verbatim(f"status: {body.status[:40]!r} is not read, unread or removed."), field="status"
            )
    if body.add_labels or body.remove_labels:
        added, removed = _label_changes(body)
        services.entries.labels.update_entries(
            caller, body.entry_ids, add=added, remove=removed, status=status, starred=body.starred
        )
        return
    if status is None and body.starred is None:
        raise InvalidInput(
            verbatim("Nothing to change: send status, starred, add_labels or remove_labels."), field="status"
        )
    services.entries.changes.update(caller, body.entry_ids, status=status, starred=body.starred)


def _label_changes(body: EntriesUpdate) -> tuple[set[int], set[int]]:
    """Return the ids of the labels to give and to take. Raises InvalidInput."""
    added, removed = set(body.add_labels or ()), set(body.remove_labels or ())
    if both := sorted(added & removed):
        raise InvalidInput(verbatim(f"remove_labels: label {both[0]} is in add_labels as well."), field="remove_labels")
    if len(body.entry_ids or ()) * len(added | removed) > MAX_IDS:
        raise InvalidInput(
            verbatim(f"entry_ids: {MAX_IDS:,} at most, divided by the number of labels; send them in parts."),
            field="entry_ids",
        )
    return added, removed


@routes.put("/v1/entries/{entry_id}/bookmark", status=204, raises=(InvalidInput, NotFound))
@routes.put("/v1/entries/{entry_id}/star", status=204, raises=(InvalidInput, NotFound))
def toggle_star(caller: User, services: Services, entry_id: int) -> None:
    """Toggle the star of an entry."""
    services.entries.changes.toggle_star(caller, entry_id)
