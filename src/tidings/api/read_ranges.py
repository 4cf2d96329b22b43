"""Marks a list of entries as read, or a part of it, for the endpoints of the core and of slices."""

from __future__ import annotations

from typing import Annotated

from msgspec import Struct

from tidings.api.entry_filters import EntriesQuery
from tidings.api.entry_lists import opened_list
from tidings.api.schema_annotations import Required, one_of
from tidings.base.errors import InvalidInput
from tidings.base.messages import verbatim
from tidings.domain.accounts.users import User
from tidings.domain.entries.entries import Direction, EntryCursor, Order, PageRequest, Shown
from tidings.http.json_body import Int64
from tidings.query.model import DatedQuery
from tidings.services import Services
from tidings.services.entries.entries import owned_entry
from tidings.services.entries.queries import both

RANGES = ("above", "below", "all")


class MarkRead(Struct, frozen=True):
    """range: above or below an entry of the list, in its order; or all of the list. entry_id: this entry, which is not
    marked itself. newest_entry_id: the highest id that you have seen; entries that were stored later stay unread.
    """

    range: Annotated[Required[str], one_of(RANGES)] = None
    entry_id: Int64 | None = None
    newest_entry_id: Int64 | None = None


class MarkedRead(Struct, frozen=True):
    """marked: how many entries were marked. undo_token: to undo exactly this; null if nothing was marked."""

    marked: int
    undo_token: str | None


def marked_list(
    caller: User,
    services: Services,
    query: EntriesQuery,
    body: MarkRead,
    *,
    page: PageRequest | None = None,
    within: DatedQuery | None = None,
) -> MarkedRead:
    """Mark entries of a list as read. page, within: as for `filtered_list`.

    Raises InvalidInput, and NotFound if the entry is not the caller's.
    """
    page = _marked_part(caller, services, page or query.page(), body)
    shown = None if body.newest_entry_id is None else Shown(body.newest_entry_id)
    feed_ids = {query.feed_id} if query.feed_id else set()
    category_ids = {query.category_id} if query.category_id else set()
    asked = both(services.entries.queries.dated(caller, query.query), within)
    with opened_list(caller, services, query, feed_ids, category_ids, asked) as (_, entry_filter):
        if entry_filter is None:
            return MarkedRead(0, None)
    marked = services.entries.read_marker.mark_list_read(caller.id, entry_filter, page, shown)
    return MarkedRead(marked.count, str(marked.moment) if marked.count else None)


def _marked_part(caller: User, services: Services, page: PageRequest, body: MarkRead) -> PageRequest | None:
    """Return a request for the entries to mark, by their place in a list; None for the whole list."""
    if body.range not in RANGES:
        raise InvalidInput(verbatim(f"range: expected one of {', '.join(RANGES)}."), field="range")
    if body.range == "all":
        if body.entry_id is not None:
            raise InvalidInput(verbatim("entry_id: send it with the range above or below only."), field="entry_id")
        return None
    if body.entry_id is None:
        raise InvalidInput(verbatim(f"entry_id: name the entry {body.range} which to mark."), field="entry_id")
    with services.reading() as db:
        entry = owned_entry(db, caller.id, body.entry_id)
    moments = {
        Order.PUBLISHED_AT: entry.published_at,
        Order.CREATED_AT: entry.created_at,
        Order.CHANGED_AT: entry.changed_at,
    }
    if page.order not in moments:
        raise InvalidInput(verbatim(f"order: above and below need one of {', '.join(moments)}."), field="order")
    direction = page.direction
    if body.range == "above":
        direction = Direction.ASC if direction is Direction.DESC else Direction.DESC
    return PageRequest(order=page.order, direction=direction, cursor=EntryCursor(moments[page.order], entry.id))
