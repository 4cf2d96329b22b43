"""Entries and lists of entries as the API returns them, for the endpoints of the core and of slices."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager
from typing import Annotated, Any

import msgspec
from msgspec import Struct
from starlette.responses import Response

from tidings.api.endpoints.enclosures import EnclosureOut, enclosure_out
from tidings.api.endpoints.feeds import FeedOut, encoded_feeds
from tidings.api.endpoints.labels import Color
from tidings.api.entry_filters import EntriesQuery, IdsQuery
from tidings.api.feed_style import PLAIN, FeedStyle
from tidings.api.fields import ALL_FIELDS, Fields
from tidings.api.paging import next_link
from tidings.api.schema_annotations import Timestamp, one_of
from tidings.api.struct_copy import StructCopy
from tidings.domain.accounts.users import User
from tidings.domain.entries.entries import (
    NAME_BY_STATUS,
    STATUS_BY_NAME,
    Direction,
    Enclosure,
    Entry,
    EntryFilter,
    EntryStatus,
    Folded,
    Order,
    PageRequest,
    Total,
    shown_minutes,
)
from tidings.engine.database import Read
from tidings.http.requests import Request
from tidings.http.responses import ChunkedJson, json
from tidings.query.model import DatedQuery
from tidings.services import Services
from tidings.services.clock import TimeZone, time_zone
from tidings.services.entries.entries import unknown_entry
from tidings.services.entries.labels import check_owned
from tidings.services.entries.listing import COUNTED, EntryLists
from tidings.services.entries.queries import both, in_categories
from tidings.storage.entries import duplicates, entries, entry_lists, labels
from tidings.storage.entries.duplicates import Other
from tidings.storage.entries.entry_lists import WHOLE, EntryPage, Parts

# Longer lists are streamed, with the bodies of at most this many entries in memory.
MAX_WHOLE = 1_000
CHUNK = 200


class EntryLabelOut(Struct, frozen=True):
    """A label that the user gave to the entry."""

    id: int
    title: str
    color: Color


class EntryOut(Struct, frozen=True):
    """content: cleaned HTML. reading_time: minutes. Times are in the time zone of the user.

    tags: of the publisher. labels: of the user, in their order. hidden: a rule or the user keeps it out of the global
    lists, such as Unread. duplicate_of: the entry of another feed that this one
    repeats, or null. duplicates: the entries that repeat this one. Both are left out for users whose setting
    `duplicates` is off.
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
    hidden: bool
    duplicate_of: int | msgspec.UnsetType | None = msgspec.UNSET
    duplicates: list[int] | msgspec.UnsetType = msgspec.UNSET


class EntryList(Struct, frozen=True, kw_only=True):
    """total: the number of matches on all pages.

    total_exact: only in lists of a query or a view, and false where there are more, since counting stops at 10000.
    """

    total: int
    total_exact: bool | msgspec.UnsetType = msgspec.UNSET
    entries: list[EntryOut]


class EntryIds(Struct, frozen=True):
    total: int
    entry_ids: list[int]


# Of most entries.
_NO_LABELS: list[EntryLabelOut] = []
# Where the client does not want the feed.
_NO_FEED = msgspec.Raw(b"null")

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
    "duplicate_of",
    "duplicates",
)


def serialize_page(
    db: Read, caller: User, page: EntryPage, style: FeedStyle = PLAIN, fields: Fields = ALL_FIELDS
) -> list[EntryOut]:
    """Leaves out entries whose feed was deleted since the page was read, which PostgreSQL allows.

    fields: members of the entries; what others need is not read.
    """
    has_feed = "feed" in fields
    has_labels = page.entries and page.may_have_labels and "labels" in fields
    finds_duplicates = caller.duplicates != "off" and fields.has_any("status", "duplicate_of", "duplicates")
    with db.by_key() as keyed:
        feed_ids = {entry.feed_id for entry in page.entries}
        embedded = encoded_feeds(keyed, caller, feed_ids, style=style) if has_feed else {}
        given = _labels_of(keyed, caller, page.entries) if has_labels else {}
        entry_ids = [entry.id for entry in page.entries]
        others = duplicates.others_of(keyed, caller.id, entry_ids) if finds_duplicates else {}
    clock = time_zone(caller.timezone)
    shown = [
        _show(
            entry,
            page.contents.get(entry.id, ""),
            page.enclosures.get(entry.id, []),
            embedded[entry.feed_id] if has_feed else _NO_FEED,
            given.get(entry.id, _NO_LABELS),
            clock,
            minutes=shown_minutes(entry.reading_time, caller),
            others=others.get(entry.id, []) if finds_duplicates else None,
            folded_as=Folded.for_apps(caller),
        )
        for entry in page.entries
        if not has_feed or entry.feed_id in embedded
    ]
    return [fields.of(one) for one in shown] if fields.names else shown  # type: ignore[misc]


def _show(
    entry: Entry,
    content: str,
    attached: list[Enclosure],
    feed: msgspec.Raw,
    given: list[EntryLabelOut],
    clock: TimeZone,
    *,
    minutes: int,
    others: list[Other] | None,
    folded_as: Folded,
) -> EntryOut:
    original = next((one for one in others or () if one.is_original), None)
    has_status_of_original = entry.status == EntryStatus.FOLDED and folded_as is not Folded.READ
    status = original.status if original and has_status_of_original else entry.status
    return _copy(
        entry,
        reading_time=minutes,
        status=NAME_BY_STATUS[status],
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
        duplicate_of=msgspec.UNSET if others is None else original and original.other_id,
        duplicates=msgspec.UNSET if others is None else [one.other_id for one in others if not one.is_original],
    )


def _labels_of(db: Read, caller: User, listed: Sequence[Entry]) -> dict[int, list[EntryLabelOut]]:
    """Return the labels of entries by entry id; an entry without labels is missing."""
    given = labels.of_entries(db, caller.id, [entry.id for entry in listed])
    return {
        entry_id: [EntryLabelOut(id=label.id, title=label.name, color=label.color) for label in own]
        for entry_id, own in given.items()
    }


def serialize_entry(db: Read, caller: User, entry_id: int, style: FeedStyle = PLAIN) -> EntryOut:
    """Return an entry of the caller. Raises NotFound."""
    shown = serialize_page(db, caller, entry_lists.single(db, caller.id, entry_id), style)
    if not shown:
        raise unknown_entry(entry_id)
    return shown[0]


def filtered_list(
    caller: User,
    services: Services,
    style: FeedStyle,
    query: EntriesQuery,
    *,
    request: Request,
    fields: Fields = ALL_FIELDS,
    feed_id: int = 0,
    category_id: int = 0,
    within: DatedQuery | None = None,
    page: PageRequest | None = None,
) -> Response:
    """Return a page of a list as an EntryList, with a link to the next page. A long one is streamed.

    request: the link has its path and its parameters. fields: members of the entries.
    feed_id, category_id: of the path; 0 for none. Those of path and query must both match; by contract an unknown one
    is a 400. within: a query that entries match as well. page: where the list has an order of its own.
    """
    feed_ids = {id_ for id_ in (feed_id, query.feed_id or 0) if id_}
    category_ids = {id_ for id_ in (category_id, query.category_id or 0) if id_}
    asked = both(services.entries.queries.dated(caller, query.query), within)
    is_bounded = not query.wants_exact_total and asked is not None
    with opened_list(caller, services, query, feed_ids, category_ids, asked) as (lists, entry_filter):
        page = page or query.page()
        if entry_filter is None:
            return json(EntryList(**_members(Total(0), asked), entries=[]))
        asked_page = _with_one_more(page, count_up_to=COUNTED if is_bounded else None)
        if page.limit <= MAX_WHOLE:
            result, has_more = _first(lists.page(entry_filter, asked_page, _parts(fields)), page)
            shown = serialize_page(lists.db, caller, result, style, fields)
            listed = EntryList(**_members(result.total, asked), entries=shown)
            return json(listed, headers=next_link(request, page, result.entries[-1]) if has_more else None)
        ids, total = lists.page_ids(entry_filter, asked_page)
        ids, has_more = ids[: page.limit], len(ids) > page.limit
        last = entries.get_many(lists.db, caller.id, ids[-1:]) if has_more else []
    headers = next_link(request, page, last[0]) if last else None
    return ChunkedJson(_chunks(caller, services, style, fields, ids, _members(total, asked)), headers)


@contextmanager
def opened_list(
    caller: User,
    services: Services,
    query: EntriesQuery,
    feed_ids: Collection[int],
    category_ids: Collection[int],
    asked: DatedQuery | None,
) -> Iterator[tuple[EntryLists, EntryFilter | None]]:
    """Yield lists of the caller, and the conditions of this one with those of its path; None if nothing can match.

    feed_ids, category_ids: all of them must match. asked: the query of the list.
    """
    with services.entries.listing.open(
        caller.id,
        search=query.search,
        query=asked,
        feed_ids=feed_ids,
        category_ids=category_ids,
        label_ids=query.label_ids(),
    ) as lists:
        yield lists, _filter_of_list(lists.db, caller, query, feed_ids, category_ids, asked)


def _filter_of_list(
    db: Read,
    caller: User,
    query: EntriesQuery,
    feed_ids: Collection[int],
    category_ids: Collection[int],
    asked: DatedQuery | None,
) -> EntryFilter | None:
    entry_filter, place = query.filter(), in_categories(db, caller.id, category_ids, asked)
    if len(feed_ids) > 1 or place is None:
        return None
    category, query_of_list = place
    return msgspec.structs.replace(
        entry_filter,
        query=query_of_list,
        feed_id=next(iter(feed_ids), None),
        category_id=category,
        folded=Folded.for_apps(caller),
    )


def _parts(fields: Fields) -> Parts:
    return Parts(contents="content" in fields, enclosures="enclosures" in fields) if fields.names else WHOLE


def _members(total: Total, asked: DatedQuery | None) -> dict[str, Any]:
    """Return what an EntryList has besides its entries. asked: the query of the list."""
    return {"total": total.number} | ({} if asked is None else {"total_exact": total.is_exact})


def _with_one_more(page: PageRequest, count_up_to: int | None) -> PageRequest:
    """Return the page to read: one more entry shows whether another page follows."""
    return msgspec.structs.replace(page, limit=page.limit + 1, count_up_to=count_up_to)


def _first(read: EntryPage, page: PageRequest) -> tuple[EntryPage, bool]:
    """Return the page without the one entry more, and whether another page follows."""
    if len(read.entries) <= page.limit:
        return read, False
    return msgspec.structs.replace(read, entries=read.entries[: page.limit]), True


def entry_ids(caller: User, services: Services, query: IdsQuery, *, within: DatedQuery | None = None) -> EntryIds:
    """Return ids of entries, newest first. within: a query that entries match as well."""
    entry_filter, limit, offset = query.filter(), query.page_size(), query.offset or 0
    entry_filter = msgspec.structs.replace(entry_filter, folded=Folded.for_apps(caller))
    if asked := both(services.entries.queries.dated(caller, query.query), within):
        entry_filter = msgspec.structs.replace(entry_filter, query=asked)
        page = PageRequest(order=Order.ID, direction=Direction.DESC, limit=limit, offset=offset)
        with services.entries.listing.of(caller.id, entry_filter) as lists:
            ids, counted = lists.page_ids(entry_filter, page)
        return EntryIds(total=counted.number, entry_ids=ids)
    with services.reading() as db:
        check_owned(db, caller.id, entry_filter.label_ids, field="label_id")
        total, joined = entry_lists.ids(db, caller.id, entry_filter, limit=limit, offset=offset)
    # Joined, they are JSON already: decoding and encoding them would take longer than reading them.
    return EntryIds(total=total, entry_ids=msgspec.Raw(f"[{joined}]".encode()))  # type: ignore[arg-type]


def _chunks(
    caller: User, services: Services, style: FeedStyle, fields: Fields, ids: Sequence[int], members: dict[str, Any]
) -> Iterator[bytes]:
    """Yield an EntryList as JSON, with a transaction for the bodies of each chunk.

    members: those besides the entries. An entry that is deleted in the meantime is missing.
    """
    yield msgspec.json.encode(members)[:-1] + b',"entries":['
    is_first = True
    for start in range(0, len(ids), CHUNK):
        with services.reading() as db:
            chunk = ids[start : start + CHUNK]
            by_id = {entry.id: entry for entry in entries.get_many(db, caller.id, chunk)}
            listed = [by_id[number] for number in chunk if number in by_id]
            page = entry_lists.with_bodies(db, listed, parts=_parts(fields))
            encoded = msgspec.json.encode(serialize_page(db, caller, page, style, fields))[1:-1]
        if encoded:
            yield encoded if is_first else b"," + encoded
            is_first = False
    yield b"]}"
