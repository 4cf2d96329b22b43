"""Lists as Atom feeds or JSON Feeds, and saved views as OPML. A secret token in the URL replaces the session.

/lists/<token>/unread   /starred   /categories/3   /feeds/7   /views/2   /views/2/opml
"""

from __future__ import annotations

import hashlib

from starlette.responses import Response

from tidings.base.errors import InvalidInput, NotFound
from tidings.base.messages import verbatim
from tidings.domain.accounts.users import User
from tidings.domain.entries import atom_feed, json_feed
from tidings.domain.entries.atom_feed import AtomItem
from tidings.domain.entries.entries import Direction, EntryFilter, EntryStatus, Order, PageRequest
from tidings.domain.entries.saved_views import SavedView
from tidings.domain.feeds import opml
from tidings.domain.feeds.opml import OpmlFeed
from tidings.http.binding import Query
from tidings.http.endpoints import Routes
from tidings.services import Services
from tidings.services.entries.entries import invalid_feed_id
from tidings.storage.entries import entry_lists
from tidings.storage.feeds import categories, feeds, sidebar
from tidings.storage.feeds.sidebar import SidebarFeed
from tidings.web.context import PageResponse, Redirect, RequestContext
from tidings.web.language import _
from tidings.web.security import SANDBOX_HEADERS

routes = Routes()

MAX_ENTRIES = 50
# Among these newest entries of a view its feeds are looked for.
MAX_OPML_ENTRIES = 1_000
ATOM = "application/atom+xml; charset=utf-8"
JSON_FEED = "application/feed+json"
OPML = "text/x-opml; charset=utf-8"
_HEADERS = {"Cache-Control": "private, max-age=60", "X-Robots-Tag": "noindex, nofollow", **SANDBOX_HEADERS}


class FormatQuery(Query, frozen=True):
    """format: json for a JSON Feed instead of Atom."""

    format: str = ""


@routes.get("/lists/{token}/unread", is_public=True)
def follow_unread(context: RequestContext, token: str, query: FormatQuery) -> Response:
    return _feed(context, token, query, "/unread", EntryFilter(statuses=(EntryStatus.UNREAD,), globally_visible=True))


@routes.get("/lists/{token}/starred", is_public=True)
def follow_starred(context: RequestContext, token: str, query: FormatQuery) -> Response:
    return _feed(context, token, query, "/starred", EntryFilter(starred=True))


@routes.get("/lists/{token}/categories/{category_id}", is_public=True)
def follow_category(context: RequestContext, token: str, query: FormatQuery, category_id: int) -> Response:
    return _feed(context, token, query, f"/categories/{category_id}", EntryFilter(category_id=category_id))


@routes.get("/lists/{token}/feeds/{feed_id}", is_public=True)
def follow_feed(context: RequestContext, token: str, query: FormatQuery, feed_id: int) -> Response:
    return _feed(context, token, query, f"/feeds/{feed_id}", EntryFilter(feed_id=feed_id))


@routes.get("/lists/{token}/views/{view_id}", is_public=True)
def follow_view(context: RequestContext, token: str, query: FormatQuery, view_id: int) -> Response:
    user, view, entry_filter = _view(context, token, view_id)
    return _feed_of(context, user, f"/lists/{token}", view.path, query, entry_filter, view.name, Order(view.order))


@routes.get("/lists/{token}/views/{view_id}/opml", is_public=True)
def follow_feeds_of_view(context: RequestContext, token: str, view_id: int) -> Response:
    """Return the feeds of the newest entries of a view as OPML, with no settings but their titles and addresses."""
    user, view, entry_filter = _view(context, token, view_id)
    try:
        with context.services.entries.listing.of(user.id, entry_filter) as lists:
            newest = lists.rows(entry_filter, PageRequest(direction=Direction.DESC, limit=MAX_OPML_ENTRIES))
            found = feeds.get_many(lists.db, user.id, sorted({row.feed_id for row in newest}))
    except InvalidInput as unknown:
        raise _no_list() from unknown
    listed = [
        OpmlFeed(feed.title, feed.feed_url, feed.site_url, "", ()) for feed in sorted(found, key=lambda one: one.title)
    ]
    body = opml.write([((view.name,), listed)], created_at=context.now)
    return Response(body, 200, _HEADERS, OPML)


@routes.get("/list-links")
def show_links(context: RequestContext, caller: User, services: Services) -> PageResponse:
    token = services.entries.feed_links.token(caller.id)
    base = f"{context.site.base_url}/lists/{token}" if token else ""
    return PageResponse("list_links.html", {"title": _("Lists as feeds"), "base": base}, has_secret=bool(token))


@routes.post("/list-links")
def renew_links(caller: User, services: Services) -> Redirect:
    had_links = bool(services.entries.feed_links.token(caller.id))
    services.entries.feed_links.renew(caller.id)
    notice = _("These addresses are new; the earlier ones no longer work.") if had_links else ""
    return Redirect("/list-links", notice)


@routes.post("/list-links/revoke")
def revoke_links(caller: User, services: Services) -> Redirect:
    services.entries.feed_links.revoke(caller.id)
    return Redirect("/list-links", _("Your lists can no longer be followed."))


def _no_list() -> NotFound:
    """Return the error for a wrong token and for a list that its owner does not have."""
    return NotFound(verbatim("There is no list at this address."))


def _owner(context: RequestContext, token: str) -> User:
    user = context.services.entries.feed_links.owner(token)
    if user is None:
        raise _no_list()
    return user


def _view(context: RequestContext, token: str, view_id: int) -> tuple[User, SavedView, EntryFilter]:
    user, queries = _owner(context, token), context.services.entries.queries
    with context.services.reading() as db:
        view = next((one for one in queries.views(db, user.id) if one.id == view_id), None)
    if view is None:
        raise _no_list()
    try:
        return user, view, EntryFilter(query=queries.of_view(user, view))
    except InvalidInput as unreadable:
        raise _no_list() from unreadable


def _feed(context: RequestContext, token: str, query: FormatQuery, path: str, entry_filter: EntryFilter) -> Response:
    return _feed_of(context, _owner(context, token), f"/lists/{token}", path, query, entry_filter)


def _feed_of(
    context: RequestContext,
    user: User,
    base: str,
    path: str,
    query: FormatQuery,
    entry_filter: EntryFilter,
    name: str = "",
    order: Order = Order.PUBLISHED_AT,
) -> Response:
    """Return the newest entries of a list. base: the path before the list's. name: the list's, if it is a view.

    order: by which of their times they are the newest.
    """
    try:
        with context.services.entries.listing.of(user.id, entry_filter) as lists:
            lines = {line.id: line for line in sidebar.list_feeds(lists.db, user.id)}
            name = name or _name(
                entry_filter,
                lines,
                {category.id: category.title for category in categories.list_all(lists.db, user.id)},
            )
            rows = lists.rows(entry_filter, PageRequest(order=order, direction=Direction.DESC, limit=MAX_ENTRIES))
            bodies = entry_lists.bodies(lists.db, [user.id], [row.id for row in rows])
    except InvalidInput as unknown:
        raise _no_list() from unknown
    home = context.site.base_url
    items = [
        AtomItem(
            id=f"{home}/entries/{row.id}",
            title=row.title,
            url=row.url,
            author=row.author,
            content=bodies.get(row.id, ""),
            source=lines[row.feed_id].title if row.feed_id in lines else "",
            published_at=row.published_at,
        )
        for row in rows
    ]
    title = _("%(username)s: %(list)s", username=user.username, list=name)
    address, html_url = home + base + path, home + path
    if query.format == "json":
        body, media_type = json_feed.render(title, f"{address}?format=json", items, html_url=html_url), JSON_FEED
    else:
        body, media_type = atom_feed.render(title, address, items, html_url=html_url).encode("utf-8", "replace"), ATOM
    etag = f'"{hashlib.sha256(body).hexdigest()[:20]}"'
    headers = {**_HEADERS, "ETag": etag}
    if etag in context.request.headers.get("if-none-match", ""):
        return Response(status_code=304, headers=headers)
    return Response(body, 200, headers, media_type)


def _name(entry_filter: EntryFilter, lines: dict[int, SidebarFeed], titles: dict[int, str]) -> str:
    if entry_filter.feed_id is not None:
        # It may have been deleted since the list was opened.
        if entry_filter.feed_id not in lines:
            raise invalid_feed_id(entry_filter.feed_id)
        return lines[entry_filter.feed_id].title
    if entry_filter.category_id is not None:
        return titles.get(entry_filter.category_id, "")
    return _("Starred") if entry_filter.starred else _("Unread")
