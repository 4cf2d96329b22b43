"""Endpoints for saved views, their entries and their counts."""

from __future__ import annotations

from typing import Annotated

from msgspec import Struct
from starlette.responses import Response

from tidings.api.entry_filters import EntriesQuery, IdsQuery
from tidings.api.entry_lists import (
    EntryIds,
    EntryList,
    EntryOut,
    entry_ids,
    filtered_list,
)
from tidings.api.feed_style import FeedStyle
from tidings.api.fields import Fields
from tidings.api.read_ranges import MarkedRead, MarkRead, marked_list
from tidings.api.schema_annotations import Required, one_of, up_to
from tidings.api.struct_copy import StructCopy
from tidings.base.errors import InvalidInput, NotFound
from tidings.base.messages import verbatim
from tidings.base.times import LATEST, SECOND, Instant
from tidings.domain.accounts.rights import KeyScope
from tidings.domain.accounts.users import User
from tidings.domain.entries.entries import Direction, EntryFilter, Order
from tidings.domain.entries.saved_views import DENSITIES, ICONS, MAX_VIEWS, ORDERS, SavedView
from tidings.http.binding import LazyBody, Query
from tidings.http.endpoints import Conditional, Routes
from tidings.http.json_body import Int64, sent
from tidings.http.requests import Request
from tidings.query.model import DatedQuery
from tidings.services import Services
from tidings.views.services import ViewServices

routes = Routes("Views", after="Queries")


class ViewOut(Struct, frozen=True):
    """order, direction: of its entries, unless a request asks for others. position: in the sidebar, from 1 on.

    density: how its page lists entries; "" for the device's setting. icon: the name of a drawing.
    in_apps: apps of the Google Reader API see it as a label. is_home: the first page after signing in.
    """

    id: int
    user_id: int
    name: str
    query: str
    order: Annotated[str, one_of(ORDERS)]
    direction: Annotated[str, one_of(Direction)]
    density: Annotated[str, one_of(DENSITIES)]
    icon: Annotated[str, one_of(ICONS)]
    position: int
    in_apps: bool
    is_home: bool


class ViewUpdate(Struct, frozen=True):
    """position: the place to move it to; the views from there on move down."""

    name: str | None = None
    query: str | None = None
    order: Annotated[str | None, one_of(ORDERS)] = None
    direction: Annotated[str | None, one_of(Direction)] = None
    density: Annotated[str | None, one_of(DENSITIES)] = None
    icon: Annotated[str | None, one_of(ICONS)] = None
    position: Annotated[Int64 | None, up_to(MAX_VIEWS, minimum=1)] = None
    in_apps: bool | None = None
    is_home: bool | None = None


class ViewCreate(ViewUpdate, frozen=True):
    """order: default published_at. direction: default desc. position: default the last one."""

    name: Required[str] = None
    query: Required[str] = None


class ViewCounters(Struct, frozen=True):
    """unreads: the number of unread entries by view id; without a view whose query takes too long.

    at_least: ids of the views that have more unread entries than their number says: counting stops at 1000.
    """

    unreads: dict[str, int]
    at_least: list[int]


class MarkReadQuery(Query, frozen=True):
    """before: Unix seconds; entries that were stored from then on stay unread. Default: now."""

    before: int | None = None


_copy = StructCopy(ViewOut)


@routes.get("/v1/views", lists=ViewOut)
def list_views(caller: User, views: ViewServices) -> list[ViewOut]:
    """List your saved views, in the order of the sidebar."""
    return [_copy(view) for view in views.views.list_all(caller.id)]


@routes.post("/v1/views", scope=KeyScope.MANAGE, status=201, raises=(InvalidInput,))
def create_view(caller: User, views: ViewServices, body: ViewCreate) -> ViewOut:
    """Save a query under a name. The name, in any case, is unique among your views."""
    if not body.name:
        raise InvalidInput(verbatim("name: a view needs one."), field="name")
    if body.query is None:
        raise InvalidInput(verbatim("query: a view needs one; send an empty text for all entries."), field="query")
    return _copy(views.views.create(caller.id, sent(body)))


@routes.get("/v1/views/counters", raises=(InvalidInput,))
def get_view_counters(caller: User, services: Services) -> ViewCounters:
    """Get the numbers of unread entries of all views."""
    counted = services.entries.view_counter.count(caller)
    known = [(view.id, count) for view, count in counted.views if count is not None]
    return ViewCounters(
        {str(view_id): count.number for view_id, count in known},
        [view_id for view_id, count in known if not count.is_exact],
    )


@routes.get("/v1/views/{view_id}", raises=(InvalidInput, NotFound))
def get_view(caller: User, views: ViewServices, view_id: int) -> ViewOut:
    """Get a saved view."""
    return _copy(views.views.get(caller.id, view_id))


@routes.put("/v1/views/{view_id}", scope=KeyScope.MANAGE, status=201, raises=(InvalidInput, NotFound))
def update_view(caller: User, views: ViewServices, view_id: int, body: LazyBody[ViewUpdate]) -> ViewOut:
    """Change a saved view. Members that are not sent keep their values."""
    views.views.get(caller.id, view_id)
    return _copy(views.views.update(caller.id, view_id, sent(body.read())))


@routes.delete("/v1/views/{view_id}", scope=KeyScope.MANAGE, status=204, raises=(InvalidInput, NotFound))
def delete_view(caller: User, views: ViewServices, view_id: int) -> None:
    """Delete a saved view. Its entries stay. A view that other queries refer to is not deleted."""
    views.views.delete(caller.id, view_id)


@routes.get(
    "/v1/views/{view_id}/entries",
    conditional=Conditional.EXCEPT_CHECKS,
    lists=EntryOut,
    raises=(InvalidInput, NotFound),
    responses={200: EntryList},
)
def list_view_entries(
    caller: User,
    services: Services,
    views: ViewServices,
    style: FeedStyle,
    fields: Fields,
    request: Request,
    view_id: int,
    query: EntriesQuery,
) -> Response:
    """List the entries of a view, in its order unless the request asks for another."""
    view = views.views.get(caller.id, view_id)
    page = query.page(order=Order(view.order), direction=Direction(view.direction))
    return filtered_list(
        caller, services, style, query, request=request, fields=fields, page=page, within=_query(caller, services, view)
    )


@routes.get("/v1/views/{view_id}/ids", conditional=Conditional.EXACT, raises=(InvalidInput, NotFound))
def list_view_entry_ids(
    caller: User, services: Services, views: ViewServices, view_id: int, query: IdsQuery
) -> EntryIds:
    """List ids of the entries of a view, newest first, at most 10,000 at a time."""
    view = views.views.get(caller.id, view_id)
    return entry_ids(caller, services, query, within=_query(caller, services, view))


@routes.put("/v1/views/{view_id}/mark-all-as-read", scope=KeyScope.WRITE, status=204, raises=(InvalidInput, NotFound))
def mark_view_read(caller: User, services: Services, views: ViewServices, view_id: int, query: MarkReadQuery) -> None:
    """Mark the entries of a view as read, up to a moment."""
    view = views.views.get(caller.id, view_id)
    if (query.before or 0) * SECOND > LATEST:
        raise InvalidInput(verbatim("before: Unix seconds up to the year 9999, please."), field="before")
    before = Instant(query.before * SECOND) if query.before else services.clock()
    entry_filter = EntryFilter(query=_query(caller, services, view))
    services.entries.read_marker.mark_stored_read(caller.id, entry_filter, before)


@routes.put("/v1/views/{view_id}/mark-as-read", scope=KeyScope.WRITE, raises=(InvalidInput, NotFound))
def mark_view_entries_read(
    caller: User,
    services: Services,
    views: ViewServices,
    view_id: int,
    query: EntriesQuery,
    body: LazyBody[MarkRead],
) -> MarkedRead:
    """Mark the entries of a view as read, or those above or below one of them, in its order.

    The parameters are those of the list of its entries.
    """
    view = views.views.get(caller.id, view_id)
    page = query.page(order=Order(view.order), direction=Direction(view.direction))
    return marked_list(caller, services, query, body.read(), page=page, within=_query(caller, services, view))


def _query(caller: User, services: Services, view: SavedView) -> DatedQuery:
    return services.entries.queries.of_view(caller, view)
