"""Lists of entries, and marking all of one read."""

from __future__ import annotations

from tidings.http.binding import Form
from tidings.http.endpoints import Routes
from tidings.services.entries.entries import owned
from tidings.web import entry_list_pages, security
from tidings.web.context import PageResponse, Redirect, RequestContext
from tidings.web.entry_list_pages import ListPage, ListQuery
from tidings.web.entry_rows import rows
from tidings.web.pages.entry_actions import told

routes = Routes()


@routes.get("/unread")
def show_unread(visit: RequestContext, query: ListQuery) -> PageResponse:
    """Everything that was not read yet, but for what is hidden from the global lists."""
    return show(visit, entry_list_pages.unread(visit, query), query)


@routes.get("/starred")
def show_starred(visit: RequestContext, query: ListQuery) -> PageResponse:
    """The newest first."""
    return show(visit, entry_list_pages.starred(visit, query), query)


@routes.get("/history")
def show_history(visit: RequestContext, query: ListQuery) -> PageResponse:
    """What was read, the last one first."""
    return show(visit, entry_list_pages.history(visit, query), query)


@routes.get("/categories/{category_id}")
def show_category(visit: RequestContext, query: ListQuery, category_id: int) -> PageResponse:
    return show(visit, entry_list_pages.category(visit, query, category_id), query)


@routes.get("/feeds/{feed_id}")
def show_feed(visit: RequestContext, query: ListQuery, feed_id: int) -> PageResponse:
    return show(visit, entry_list_pages.feed(visit, query, feed_id), query)


@routes.get("/search")
def show_search(visit: RequestContext, query: ListQuery) -> PageResponse:
    """Words of title and content, "phrases", -without, begin*. Without words, the form alone."""
    return show(visit, entry_list_pages.search(visit, query), query)


def show(visit: RequestContext, listing: ListPage, query: ListQuery) -> PageResponse:
    user, beyond = visit.caller, entry_list_pages.place_of(query.after)
    limit = user.entries_per_page
    with visit.services.listing.of(user.id, listing.which) as lists:
        is_asked = listing.name != "search" or listing.which.search
        found = listing.rows(lists, limit + 1, beyond) if is_asked else []
        shown = rows(lists.db, visit, listing, found[:limit])
    more = entry_list_pages.text_of(listing.place(found[limit - 1])) if len(found) > limit else ""
    return PageResponse(
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
def mark_unread_read(visit: RequestContext, form: Part) -> Redirect:
    return _mark(visit, entry_list_pages.unread(visit, ListQuery()), form)


@routes.post("/categories/{category_id}/mark-read")
def mark_category_read(visit: RequestContext, form: Part, category_id: int) -> Redirect:
    return _mark(visit, entry_list_pages.category(visit, ListQuery(), category_id), form)


@routes.post("/feeds/{feed_id}/mark-read")
def mark_feed_read(visit: RequestContext, form: Part, feed_id: int) -> Redirect:
    return _mark(visit, entry_list_pages.feed(visit, ListQuery(), feed_id), form)


def _mark(visit: RequestContext, listing: ListPage, form: Part) -> Redirect:
    user, beyond, edge = visit.caller, None, form.above or form.below
    if edge:
        with visit.services.reading() as db:
            beyond = listing.beyond(owned(db, user.id, edge), backwards=form.above is not None)
    marked = visit.services.read_marker.mark_list_read(user.id, listing.which, beyond)
    path = security.own_path(form.back) if edge else ""
    return told(path or listing.path, marked)
