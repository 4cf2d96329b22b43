"""Lists of entries, and marking all of one read."""

from __future__ import annotations

from tidings.services.entries import owned
from tidings.web import listings, security
from tidings.web.calling import Form
from tidings.web.listings import Listing, ListQuery
from tidings.web.marks import told
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


class Part(Form, frozen=True):
    """What lies above or below an entry in the list, that one left out; without either, all of the list."""

    above: int | None = None
    below: int | None = None
    back: str = ""


@routes.post("/unread/mark-read")
def mark_unread_read(visit: Visit, form: Part) -> Redirect:
    return _mark(visit, listings.unread(visit, ListQuery()), form)


@routes.post("/categories/{category_id}/mark-read")
def mark_category_read(visit: Visit, form: Part, category_id: int) -> Redirect:
    return _mark(visit, listings.category(visit, ListQuery(), category_id), form)


@routes.post("/feeds/{feed_id}/mark-read")
def mark_feed_read(visit: Visit, form: Part, feed_id: int) -> Redirect:
    return _mark(visit, listings.feed(visit, ListQuery(), feed_id), form)


def _mark(visit: Visit, listing: Listing, form: Part) -> Redirect:
    user, beyond, edge = visit.caller, None, form.above or form.below
    if edge:
        with visit.services.reading() as db:
            beyond = listing.beyond(owned(db, user.id, edge), backwards=form.above is not None)
    marked = visit.services.marks.mark_list_read(user.id, listing.which, beyond)
    path = security.own_path(form.back) if edge else ""
    return told(path or listing.path, marked)
