"""Endpoints for entries: lists, single entries, and their state."""

from __future__ import annotations

from typing import Annotated

from msgspec import Struct
from starlette.responses import Response

from tidings.api.entry_filters import EntriesQuery, IdsQuery
from tidings.api.entry_lists import EntryIds, EntryList, EntryOut, entry_ids, filtered_list, serialize_entry
from tidings.api.feed_style import FeedStyle
from tidings.api.fields import Fields
from tidings.api.schema_annotations import Required, one_of
from tidings.base.errors import InvalidInput, NotFound
from tidings.base.messages import verbatim
from tidings.domain.accounts.rights import KeyScope
from tidings.domain.accounts.users import User
from tidings.domain.entries.entries import (
    STATUS_BY_NAME,
)
from tidings.http.endpoints import Conditional, Routes
from tidings.http.json_body import Int64
from tidings.http.requests import Request
from tidings.services import Services
from tidings.storage.feeds import feeds

routes = Routes("Entries")


# Entries per change, so that other transactions do not wait long.
MAX_IDS = 100_000


class EntriesUpdate(Struct, frozen=True):
    """At least one of status, starred, hidden, add_labels and remove_labels is sent.

    hidden: whether the global lists leave them out, as those that rules hide.
    add_labels, remove_labels: ids of your labels, which the entries may have already or not.
    """

    entry_ids: Required[list[Int64]] = None
    status: Annotated[str | None, one_of(STATUS_BY_NAME)] = None
    starred: bool | None = None
    hidden: bool | None = None
    add_labels: list[Int64] | None = None
    remove_labels: list[Int64] | None = None


@routes.get(
    "/v1/entries",
    conditional=Conditional.EXCEPT_CHECKS,
    lists=EntryOut,
    raises=(InvalidInput,),
    responses={200: EntryList},
)
def list_entries(
    caller: User, services: Services, style: FeedStyle, fields: Fields, request: Request, query: EntriesQuery
) -> Response:
    """List entries of all feeds."""
    return filtered_list(caller, services, style, query, request=request, fields=fields)


@routes.get(
    "/v1/feeds/{feed_id}/entries",
    conditional=Conditional.EXCEPT_CHECKS,
    lists=EntryOut,
    raises=(InvalidInput,),
    responses={200: EntryList},
)
def list_feed_entries(
    caller: User,
    services: Services,
    style: FeedStyle,
    fields: Fields,
    request: Request,
    feed_id: int,
    query: EntriesQuery,
) -> Response:
    """List entries of a feed."""
    return filtered_list(caller, services, style, query, request=request, fields=fields, feed_id=feed_id)


@routes.get(
    "/v1/categories/{category_id}/entries",
    conditional=Conditional.EXCEPT_CHECKS,
    lists=EntryOut,
    raises=(InvalidInput,),
    responses={200: EntryList},
)
def list_category_entries(
    caller: User,
    services: Services,
    style: FeedStyle,
    fields: Fields,
    request: Request,
    category_id: int,
    query: EntriesQuery,
) -> Response:
    """List entries of all feeds of a category and of those below it."""
    return filtered_list(caller, services, style, query, request=request, fields=fields, category_id=category_id)


@routes.get("/v1/entries/ids", conditional=Conditional.EXACT, raises=(InvalidInput,))
def list_entry_ids(caller: User, services: Services, query: IdsQuery) -> EntryIds:
    """List ids of entries, newest first, at most 10,000 at a time."""
    return entry_ids(caller, services, query)


@routes.get("/v1/entries/{entry_id}", raises=(InvalidInput, NotFound))
def get_entry(caller: User, services: Services, style: FeedStyle, entry_id: int) -> EntryOut:
    """Get an entry. This does not mark it as read."""
    with services.reading(by_key=True) as db:
        return serialize_entry(db, caller, entry_id, style)


@routes.get("/v1/feeds/{feed_id}/entries/{entry_id}", raises=(InvalidInput, NotFound))
def get_feed_entry(caller: User, services: Services, style: FeedStyle, feed_id: int, entry_id: int) -> EntryOut:
    """Get an entry of a feed."""
    with services.reading() as db:
        entry = serialize_entry(db, caller, entry_id, style)
    if entry.feed_id != feed_id:
        raise NotFound(verbatim(f"There is no entry {entry_id} in feed {feed_id}."))
    return entry


@routes.get("/v1/categories/{category_id}/entries/{entry_id}", raises=(InvalidInput, NotFound))
def get_category_entry(caller: User, services: Services, style: FeedStyle, category_id: int, entry_id: int) -> EntryOut:
    """Get an entry of a category or of one below it."""
    with services.reading() as db:
        entry = serialize_entry(db, caller, entry_id, style)
        if entry.feed_id not in feeds.ids_of_category(db, caller.id, category_id):
            raise NotFound(verbatim(f"There is no entry {entry_id} in category {category_id}."))
        return entry


@routes.put("/v1/entries", scope=KeyScope.WRITE, status=204, raises=(InvalidInput,))
def update_entries(caller: User, services: Services, body: EntriesUpdate) -> None:
    """Set the status or the star of several entries, give or take labels, hide them or show them again.

    Other users' entries are ignored.
    """
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
    if body.add_labels or body.remove_labels or body.hidden is not None:
        added, removed = _label_changes(body)
        services.entries.labels.update_entries(
            caller,
            body.entry_ids,
            add=added,
            remove=removed,
            status=status,
            starred=body.starred,
            hidden=body.hidden,
        )
        return
    if status is None and body.starred is None:
        raise InvalidInput(
            verbatim("Nothing to change: send status, starred, hidden, add_labels or remove_labels."), field="status"
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


@routes.put("/v1/entries/{entry_id}/bookmark", scope=KeyScope.WRITE, status=204, raises=(InvalidInput, NotFound))
@routes.put("/v1/entries/{entry_id}/star", scope=KeyScope.WRITE, status=204, raises=(InvalidInput, NotFound))
def toggle_star(caller: User, services: Services, entry_id: int) -> None:
    """Toggle the star of an entry."""
    services.entries.changes.toggle_star(caller, entry_id)
