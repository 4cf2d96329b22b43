"""List pages, and marking a whole list read."""

from __future__ import annotations

from msgspec import structs
from starlette.responses import Response

from tidings.base.errors import InvalidInput
from tidings.base.times import Instant
from tidings.domain.accounts.users import User
from tidings.domain.entries.entries import OLD_ENTRY_AGE, EntryFilter, PageRequest, Total
from tidings.http.endpoints import Routes
from tidings.http.responses import json
from tidings.services import Services
from tidings.services.entries.listing import COUNTED
from tidings.web import entry_list_pages
from tidings.web.context import PageResponse, Redirect, RequestContext
from tidings.web.entry_list_pages import ListQuery
from tidings.web.field_errors import WrongPlace, field_error
from tidings.web.language import _
from tidings.web.list_page import (
    MarkReadForm,
    ShownForm,
    found_text,
    list_page,
    mark_list_read,
    mark_read_redirect,
    show,
    show_list_again,
)
from tidings.web.security import SANDBOX_HEADERS

routes = Routes()


@routes.get("/unread")
def show_unread(context: RequestContext, query: ListQuery) -> PageResponse | Response:
    """Unread entries, without those hidden from the global lists."""
    return show(context, entry_list_pages.unread(context, query), query)


@routes.get("/starred")
def show_starred(context: RequestContext, query: ListQuery) -> PageResponse | Response:
    """Starred entries, the newest first."""
    return show(context, entry_list_pages.starred(context, query), query)


@routes.get("/history")
def show_history(context: RequestContext, query: ListQuery) -> PageResponse | Response:
    """Read entries, the last one read first."""
    return show(context, entry_list_pages.history(context, query), query)


@routes.get("/shared")
def show_shared(context: RequestContext, query: ListQuery) -> PageResponse | Response:
    """Entries with a public link, the newest first."""
    return show(context, entry_list_pages.shared(context, query), query)


@routes.get("/tagged")
def show_tagged(context: RequestContext, query: ListQuery) -> PageResponse | Response:
    """Entries with a tag, from all feeds."""
    return show(context, entry_list_pages.tagged(context, query), query)


@routes.get("/history/delete")
def show_flush(context: RequestContext) -> PageResponse:
    """Ask first: deleted entries cannot be brought back."""
    return PageResponse("history_delete.html", {"title": _("Delete history"), "count": context.sidebar.read})


@routes.post("/history/delete")
def flush_history(caller: User, services: Services) -> Redirect:
    services.entries.changes.flush_history(caller.id)
    return Redirect("/history", _("History deleted. Starred, shared and labelled entries are kept."))


@routes.get("/categories/{category_id}")
def show_category(context: RequestContext, query: ListQuery, category_id: int) -> PageResponse | Response:
    return show(context, entry_list_pages.category(context, query, category_id), query)


@routes.get("/labels/{label_id}")
def show_label(context: RequestContext, query: ListQuery, label_id: int) -> PageResponse | Response:
    """Entries with a label, read and unread."""
    return show(context, entry_list_pages.label(context, query, label_id), query)


@routes.get("/feeds/{feed_id}")
def show_feed(context: RequestContext, query: ListQuery, feed_id: int) -> PageResponse | Response:
    return show(context, entry_list_pages.feed(context, query, feed_id), query)


@routes.get("/search/total")
def show_total(context: RequestContext, query: ListQuery) -> Response:
    """Return the number of results in words. Counting them may take longer than showing the first ones."""
    listing = entry_list_pages.search(context, query)
    request = PageRequest(limit=1, count_up_to=COUNTED if listing.entry_filter.query else None)
    with context.services.entries.listing.of(context.caller.id, listing.entry_filter) as lists:
        total = lists.page_ids(listing.entry_filter, request)[1] if listing.has_search else Total(0)
    text = found_text(total.number + (not total.is_exact), total.number)
    return json({"text": text}, headers={"Cache-Control": "no-store", **SANDBOX_HEADERS})


@routes.get("/search")
def show_search(context: RequestContext, query: ListQuery) -> PageResponse | Response:
    """Search with the query language. Without a query, show only the form; with a wrong one, where it is wrong."""
    try:
        return show(context, entry_list_pages.search(context, query), query)
    except InvalidInput as error:
        if error.field != "query":
            raise
        page = list_page(context, entry_list_pages.empty_search(context, query), query)
        values = page.values | {"place": WrongPlace.of(query.query.strip(), error)}
        return structs.replace(page, status=400, values=values, problem=field_error(error))


@routes.post("/search/show-hidden")
def show_found_again(context: RequestContext, query: ListQuery) -> Redirect:
    """Show the results of a search in Unread again that a rule has hidden from it."""
    return show_list_again(context, entry_list_pages.search(context, query))


@routes.post("/unread/mark-read")
def mark_unread_read(context: RequestContext, query: ListQuery, form: MarkReadForm) -> Redirect:
    return mark_list_read(context, entry_list_pages.unread(context, query), form)


@routes.post("/starred/mark-read")
def mark_starred_read(context: RequestContext, query: ListQuery, form: MarkReadForm) -> Redirect:
    return mark_list_read(context, entry_list_pages.starred(context, query), form)


@routes.post("/shared/mark-read")
def mark_shared_read(context: RequestContext, query: ListQuery, form: MarkReadForm) -> Redirect:
    return mark_list_read(context, entry_list_pages.shared(context, query), form)


@routes.post("/tagged/mark-read")
def mark_tagged_read(context: RequestContext, query: ListQuery, form: MarkReadForm) -> Redirect:
    return mark_list_read(context, entry_list_pages.tagged(context, query), form)


@routes.post("/search/mark-read")
def mark_found_read(context: RequestContext, query: ListQuery, form: MarkReadForm) -> Redirect:
    """Mark what a search has found as read. A search for nothing has found nothing."""
    return mark_list_read(context, entry_list_pages.search(context, query), form)


@routes.post("/categories/{category_id}/mark-read")
def mark_category_read(context: RequestContext, query: ListQuery, form: MarkReadForm, category_id: int) -> Redirect:
    return mark_list_read(context, entry_list_pages.category(context, query, category_id), form)


@routes.post("/feeds/{feed_id}/mark-read")
def mark_feed_read(context: RequestContext, query: ListQuery, form: MarkReadForm, feed_id: int) -> Redirect:
    return mark_list_read(context, entry_list_pages.feed(context, query, feed_id), form)


@routes.post("/labels/{label_id}/mark-read")
def mark_label_read(context: RequestContext, query: ListQuery, form: MarkReadForm, label_id: int) -> Redirect:
    return mark_list_read(context, entry_list_pages.label(context, query, label_id), form)


@routes.post("/unread/mark-old")
def mark_old_read(context: RequestContext, caller: User, form: ShownForm) -> Redirect:
    """Mark all entries read that are older than a week: after an import, feeds bring what they published long ago."""
    before = EntryFilter(published_before=Instant(context.now - OLD_ENTRY_AGE))
    return mark_read_redirect(
        "/unread", context.services.entries.read_marker.mark_list_read(caller.id, before, shown=form.shown())
    )
