"""Lists as Atom feeds. A secret token in the URL replaces the session.

/lists/<token>/unread   /starred   /categories/3   /feeds/7
"""

from __future__ import annotations

import hashlib

from starlette.responses import Response

from tidings.base.errors import InvalidInput, NotFound
from tidings.base.messages import verbatim
from tidings.domain.accounts.users import User
from tidings.domain.entries import atom_feed
from tidings.domain.entries.atom_feed import AtomItem
from tidings.domain.entries.entries import Direction, EntryFilter, EntryStatus, PageRequest
from tidings.http.endpoints import Routes
from tidings.services import Services
from tidings.services.entries.entries import invalid_feed_id
from tidings.storage.entries import entry_lists
from tidings.storage.feeds import categories, sidebar
from tidings.storage.feeds.sidebar import SidebarFeed
from tidings.web.context import PageResponse, Redirect, RequestContext
from tidings.web.language import _
from tidings.web.security import SANDBOX_HEADERS

routes = Routes()

MAX_ENTRIES = 50
ATOM = "application/atom+xml; charset=utf-8"
_HEADERS = {"Cache-Control": "private, max-age=60", "X-Robots-Tag": "noindex, nofollow", **SANDBOX_HEADERS}


@routes.get("/lists/{token}/unread", is_public=True)
def follow_unread(context: RequestContext, token: str) -> Response:
    return _feed(context, token, "/unread", EntryFilter(statuses=(EntryStatus.UNREAD,), globally_visible=True))


@routes.get("/lists/{token}/starred", is_public=True)
def follow_starred(context: RequestContext, token: str) -> Response:
    return _feed(context, token, "/starred", EntryFilter(starred=True))


@routes.get("/lists/{token}/categories/{category_id}", is_public=True)
def follow_category(context: RequestContext, token: str, category_id: int) -> Response:
    return _feed(context, token, f"/categories/{category_id}", EntryFilter(category_id=category_id))


@routes.get("/lists/{token}/feeds/{feed_id}", is_public=True)
def follow_feed(context: RequestContext, token: str, feed_id: int) -> Response:
    return _feed(context, token, f"/feeds/{feed_id}", EntryFilter(feed_id=feed_id))


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


def _feed(context: RequestContext, token: str, path: str, entry_filter: EntryFilter) -> Response:
    """Return the newest entries as Atom. A wrong token and a list that its owner does not have get the same 404."""
    user = context.services.entries.feed_links.owner(token)
    if user is None:
        raise NotFound(verbatim("There is no list at this address."))
    try:
        with context.services.entries.listing.of(user.id, entry_filter) as lists:
            lines = {line.id: line for line in sidebar.list_feeds(lists.db, user.id)}
            name = _name(
                entry_filter,
                lines,
                {category.id: category.title for category in categories.list_all(lists.db, user.id)},
            )
            rows = lists.rows(entry_filter, PageRequest(direction=Direction.DESC, limit=MAX_ENTRIES))
            bodies = entry_lists.bodies(lists.db, [user.id], [row.id for row in rows])
    except InvalidInput as unknown:
        raise NotFound(verbatim("There is no list at this address.")) from unknown
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
    body = atom_feed.render(title, f"{home}/lists/{token}{path}", items, html_url=home + path).encode(
        "utf-8", "replace"
    )
    etag = f'"{hashlib.sha256(body).hexdigest()[:20]}"'
    headers = {**_HEADERS, "ETag": etag}
    if etag in context.request.headers.get("if-none-match", ""):
        return Response(status_code=304, headers=headers)
    return Response(body, 200, headers, ATOM)


def _name(entry_filter: EntryFilter, feeds: dict[int, SidebarFeed], titles: dict[int, str]) -> str:
    if entry_filter.feed_id is not None:
        # It may have been deleted since the list was opened.
        if entry_filter.feed_id not in feeds:
            raise invalid_feed_id(entry_filter.feed_id)
        return feeds[entry_filter.feed_id].title
    if entry_filter.category_id is not None:
        return titles.get(entry_filter.category_id, "")
    return _("Starred") if entry_filter.starred else _("Unread")
