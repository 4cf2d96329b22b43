"""Lists as feeds: for whoever knows the secret part of their address, without a session.

/lists/<token>/unread   /starred   /categories/3   /feeds/7
"""

from __future__ import annotations

import hashlib

from tidings.domain import atom
from tidings.domain.atom import Item
from tidings.domain.entries import Direction, EntryFilter, Status
from tidings.domain.entries import Page as EntryPage
from tidings.domain.errors import NotFound
from tidings.domain.users import User
from tidings.http.replies import Reply
from tidings.services import Services
from tidings.storage import categories, entry_lists, outline
from tidings.storage.outline import FeedLine
from tidings.web.language import _
from tidings.web.routes import Routes
from tidings.web.security import NOTHING_RUNS
from tidings.web.visits import Page, Redirect, Visit

routes = Routes()

MOST_ENTRIES = 50
ATOM = "application/atom+xml; charset=utf-8"
_HEADERS = (("Cache-Control", "private, max-age=60"), ("X-Robots-Tag", "noindex, nofollow"), *NOTHING_RUNS)


@routes.get("/lists/{token}/unread", is_open=True)
def follow_unread(visit: Visit, token: str) -> Reply:
    return _feed(visit, token, "/unread", EntryFilter(statuses=(Status.UNREAD,), globally_visible=True))


@routes.get("/lists/{token}/starred", is_open=True)
def follow_starred(visit: Visit, token: str) -> Reply:
    return _feed(visit, token, "/starred", EntryFilter(starred=True))


@routes.get("/lists/{token}/categories/{category_id}", is_open=True)
def follow_category(visit: Visit, token: str, category_id: int) -> Reply:
    return _feed(visit, token, f"/categories/{category_id}", EntryFilter(category_id=category_id))


@routes.get("/lists/{token}/feeds/{feed_id}", is_open=True)
def follow_feed(visit: Visit, token: str, feed_id: int) -> Reply:
    return _feed(visit, token, f"/feeds/{feed_id}", EntryFilter(feed_id=feed_id))


@routes.get("/list-links")
def show_links(visit: Visit, caller: User, services: Services) -> Page:
    token = services.list_links.token(caller.id)
    base = f"{visit.home.base_url}/lists/{token}" if token else ""
    return Page("list_links.html", {"title": _("Lists as feeds"), "base": base})


@routes.post("/list-links")
def renew_links(caller: User, services: Services) -> Redirect:
    services.list_links.renew(caller.id)
    return Redirect("/list-links", _("These addresses are new; earlier ones lead nowhere any more."))


@routes.post("/list-links/revoke")
def revoke_links(caller: User, services: Services) -> Redirect:
    services.list_links.revoke(caller.id)
    return Redirect("/list-links", _("Nobody can follow your lists any more."))


def _feed(visit: Visit, token: str, path: str, which: EntryFilter) -> Reply:
    """The newest entries. One answer for a wrong token and for what its owner does not have."""
    user = visit.services.list_links.owner(token)
    if user is None:
        raise NotFound("There is no list at this address.")
    with visit.services.reading() as db:
        lines = {line.id: line for line in outline.feed_lines(db, user.id)}
        name = _name(which, lines, {one.id: one.title for one in categories.listed(db, user.id)})
        rows = entry_lists.rows(db, user.id, which, EntryPage(direction=Direction.DESC, limit=MOST_ENTRIES))
        bodies = entry_lists.bodies(db, [row.id for row in rows])
    home = visit.home.base_url
    items = [
        Item(
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
    body = atom.written(title, f"{home}/lists/{token}{path}", items, home=home + path).encode("utf-8", "replace")
    etag = f'"{hashlib.sha256(body).hexdigest()[:20]}"'
    headers = (*_HEADERS, ("ETag", etag))
    if etag in visit.request.headers.get("if-none-match", ""):
        return Reply(304, headers=headers)
    return Reply(200, body, ATOM, headers)


def _name(which: EntryFilter, feeds: dict[int, FeedLine], titles: dict[int, str]) -> str:
    """NotFound for a feed or category that is not there."""
    if which.feed_id is not None and which.feed_id in feeds:
        return feeds[which.feed_id].title
    if which.category_id is not None and which.category_id in titles:
        return titles[which.category_id]
    if which.feed_id is not None or which.category_id is not None:
        raise NotFound("There is no list at this address.")
    return _("Starred") if which.starred else _("Unread")
