"""The page of an entry, within the list that it was opened from."""

from __future__ import annotations

from tidings.http.endpoints import Routes
from tidings.web import entry_list_pages
from tidings.web.article_page import entry_page, open_entry
from tidings.web.context import PageResponse, Redirect, RequestContext
from tidings.web.entry_list_pages import ListQuery

routes = Routes()


@routes.get("/unread/{entry_id}")
def read_unread(context: RequestContext, query: ListQuery, entry_id: int) -> PageResponse:
    entry = open_entry(context, entry_id)
    return entry_page(context, entry_list_pages.unread(context, query), entry)


@routes.get("/unread/entry/{entry_id}")
def follow_link_of_app(entry_id: int) -> Redirect:
    """Redirect from the address that an entry has in Miniflux: Flux News opens it in the browser."""
    return Redirect(f"/unread/{entry_id}")


@routes.get("/starred/{entry_id}")
def read_starred(context: RequestContext, query: ListQuery, entry_id: int) -> PageResponse:
    entry = open_entry(context, entry_id)
    return entry_page(context, entry_list_pages.starred(context, query), entry)


@routes.get("/history/{entry_id}")
def read_history(context: RequestContext, query: ListQuery, entry_id: int) -> PageResponse:
    entry = open_entry(context, entry_id)
    return entry_page(context, entry_list_pages.history(context, query), entry)


@routes.get("/shared/{entry_id}")
def read_shared(context: RequestContext, query: ListQuery, entry_id: int) -> PageResponse:
    entry = open_entry(context, entry_id)
    return entry_page(context, entry_list_pages.shared(context, query), entry)


@routes.get("/tagged/{entry_id}")
def read_tagged(context: RequestContext, query: ListQuery, entry_id: int) -> PageResponse:
    entry = open_entry(context, entry_id)
    return entry_page(context, entry_list_pages.tagged(context, query), entry)


@routes.get("/categories/{category_id}/entries/{entry_id}")
def read_in_category(context: RequestContext, query: ListQuery, category_id: int, entry_id: int) -> PageResponse:
    entry = open_entry(context, entry_id, category_id=category_id)
    return entry_page(context, entry_list_pages.category(context, query, category_id), entry)


@routes.get("/feeds/{feed_id}/entries/{entry_id}")
def read_in_feed(context: RequestContext, query: ListQuery, feed_id: int, entry_id: int) -> PageResponse:
    entry = open_entry(context, entry_id, feed_id=feed_id)
    return entry_page(context, entry_list_pages.feed(context, query, feed_id), entry)


@routes.get("/labels/{label_id}/entries/{entry_id}")
def read_labelled(context: RequestContext, query: ListQuery, label_id: int, entry_id: int) -> PageResponse:
    """Show an entry in the list of a label, even after the label was taken from it here."""
    entry = open_entry(context, entry_id)
    return entry_page(context, entry_list_pages.label(context, query, label_id), entry)


@routes.get("/search/{entry_id}")
def read_found(context: RequestContext, query: ListQuery, entry_id: int) -> PageResponse:
    entry = open_entry(context, entry_id)
    return entry_page(context, entry_list_pages.search(context, query), entry)


@routes.get("/entries/{entry_id}")
def read_entry(context: RequestContext, entry_id: int) -> PageResponse:
    """Show an entry in the list of all entries of its feed."""
    entry = open_entry(context, entry_id)
    return entry_page(context, entry_list_pages.feed(context, ListQuery(show="all"), entry.feed_id), entry)
