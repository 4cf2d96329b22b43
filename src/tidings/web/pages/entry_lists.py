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
def show_unread(context: RequestContext, query: ListQuery) -> PageResponse:
    """Everything that was not read yet, but for what is hidden from the global lists."""
    return show(context, entry_list_pages.unread(context, query), query)


@routes.get("/starred")
def show_starred(context: RequestContext, query: ListQuery) -> PageResponse:
    """The newest first."""
    return show(context, entry_list_pages.starred(context, query), query)


@routes.get("/history")
def show_history(context: RequestContext, query: ListQuery) -> PageResponse:
    """What was read, the last one first."""
    return show(context, entry_list_pages.history(context, query), query)


@routes.get("/categories/{category_id}")
def show_category(context: RequestContext, query: ListQuery, category_id: int) -> PageResponse:
    return show(context, entry_list_pages.category(context, query, category_id), query)


@routes.get("/feeds/{feed_id}")
def show_feed(context: RequestContext, query: ListQuery, feed_id: int) -> PageResponse:
    return show(context, entry_list_pages.feed(context, query, feed_id), query)


@routes.get("/search")
def show_search(context: RequestContext, query: ListQuery) -> PageResponse:
    """Words of title and content, "phrases", -without, begin*. Without words, the form alone."""
    return show(context, entry_list_pages.search(context, query), query)


def show(context: RequestContext, listing: ListPage, query: ListQuery) -> PageResponse:
    user, beyond = context.caller, entry_list_pages.parse_cursor(query.after)
    limit = user.entries_per_page
    with context.services.listing.of(user.id, listing.entry_filter) as lists:
        is_asked = listing.name != "search" or listing.entry_filter.search
        found = listing.rows(lists, limit + 1, beyond) if is_asked else []
        shown = rows(lists.db, context, listing, found[:limit])
    more = entry_list_pages.format_cursor(listing.cursor(found[limit - 1])) if len(found) > limit else ""
    return PageResponse(
        "list.html",
        {
            "title": listing.title,
            "listing": listing,
            "rows": shown,
            "next_url": context.url(listing.path, after=more, **listing.query) if more else "",
            "is_first": beyond is None,
        },
    )


class Part(Form, frozen=True):
    """What lies above or below an entry in the list, that one left out; without either, all of the list."""

    above: int | None = None
    below: int | None = None
    back: str = ""


@routes.post("/unread/mark-read")
def mark_unread_read(context: RequestContext, form: Part) -> Redirect:
    return _mark(context, entry_list_pages.unread(context, ListQuery()), form)


@routes.post("/categories/{category_id}/mark-read")
def mark_category_read(context: RequestContext, form: Part, category_id: int) -> Redirect:
    return _mark(context, entry_list_pages.category(context, ListQuery(), category_id), form)


@routes.post("/feeds/{feed_id}/mark-read")
def mark_feed_read(context: RequestContext, form: Part, feed_id: int) -> Redirect:
    return _mark(context, entry_list_pages.feed(context, ListQuery(), feed_id), form)


def _mark(context: RequestContext, listing: ListPage, form: Part) -> Redirect:
    user, beyond, edge = context.caller, None, form.above or form.below
    if edge:
        with context.services.reading() as db:
            beyond = listing.beyond(owned(db, user.id, edge), backwards=form.above is not None)
    marked = context.services.read_marker.mark_list_read(user.id, listing.entry_filter, beyond)
    path = security.local_path(form.back) if edge else ""
    return told(path or listing.path, marked)
