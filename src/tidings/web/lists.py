"""Lists of entries, and marking all of one read."""

from __future__ import annotations

from tidings.domain.users import User
from tidings.services import Services
from tidings.web import listings
from tidings.web.language import _, ngettext
from tidings.web.listings import Listing, ListQuery
from tidings.web.routes import Routes
from tidings.web.rows import rows
from tidings.web.visits import Page, Redirect, Visit

routes = Routes()


@routes.get("/unread")
def show_unread(visit: Visit, query: ListQuery) -> Page:
    """Everything that was not read yet, but for what is hidden from the global lists."""
    return show(visit, listings.unread(visit, query), query)


@routes.get("/starred")
def show_starred(visit: Visit, query: ListQuery) -> Page:
    """The newest first."""
    return show(visit, listings.starred(visit, query), query)


@routes.get("/history")
def show_history(visit: Visit, query: ListQuery) -> Page:
    """What was read, the last one first."""
    return show(visit, listings.history(visit, query), query)


@routes.get("/categories/{category_id}")
def show_category(visit: Visit, query: ListQuery, category_id: int) -> Page:
    return show(visit, listings.category(visit, query, category_id), query)


@routes.get("/feeds/{feed_id}")
def show_feed(visit: Visit, query: ListQuery, feed_id: int) -> Page:
    return show(visit, listings.feed(visit, query, feed_id), query)


@routes.get("/search")
def show_search(visit: Visit, query: ListQuery) -> Page:
    """Words of title and content, "phrases", -without, begin*. Without words, the form alone."""
    return show(visit, listings.search(visit, query), query)


def show(visit: Visit, listing: Listing, query: ListQuery) -> Page:
    user, beyond = visit.caller, listings.place_of(query.after)
    limit = user.entries_per_page
    with visit.services.reading() as db:
        is_asked = listing.name != "search" or listing.which.search
        found = listing.rows(db, user, limit + 1, beyond) if is_asked else []
        shown = rows(db, visit, listing, found[:limit])
    more = listings.text_of(listing.place(found[limit - 1])) if len(found) > limit else ""
    return Page(
        "list.html",
        {
            "title": listing.title,
            "listing": listing,
            "rows": shown,
            "next_url": visit.url(listing.path, after=more, **listing.query) if more else "",
            "is_first": beyond is None,
        },
    )


@routes.post("/unread/mark-read")
def mark_unread_read(caller: User, services: Services) -> Redirect:
    return _marked("/unread", services.entries.mark_visible_read(caller.id))


@routes.post("/categories/{category_id}/mark-read")
def mark_category_read(caller: User, services: Services, category_id: int) -> Redirect:
    return _marked(f"/categories/{category_id}", services.categories.mark_read(caller.id, category_id))


@routes.post("/feeds/{feed_id}/mark-read")
def mark_feed_read(caller: User, services: Services, feed_id: int) -> Redirect:
    return _marked(f"/feeds/{feed_id}", services.feeds.mark_read(caller.id, feed_id))


def _marked(path: str, count: int) -> Redirect:
    if not count:
        return Redirect(path, notice=_("Nothing was unread."))
    return Redirect(path, notice=ngettext("%(count)d marked read", "%(count)d marked read", count, count=count))
