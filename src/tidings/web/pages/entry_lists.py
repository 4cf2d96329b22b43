"""List pages, and marking a whole list read."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import structs
from starlette.responses import Response

from tidings.base.errors import InvalidInput
from tidings.base.times import Instant
from tidings.domain.accounts.users import User
from tidings.domain.entries.entries import OLD_ENTRY_AGE, Entry, EntryFilter, PageRequest
from tidings.engine.database import Read
from tidings.http.endpoints import Routes
from tidings.http.responses import json
from tidings.services import Services
from tidings.services.entries.entries import owned_entry
from tidings.services.entries.listing import needs_index
from tidings.storage.entries import entry_lists, search_index
from tidings.storage.feeds import health
from tidings.web import entry_list_pages, security
from tidings.web.context import PageResponse, Redirect, RequestContext
from tidings.web.entry_list_pages import ListPage, ListQuery
from tidings.web.entry_rows import rows
from tidings.web.feed_rows import trouble
from tidings.web.field_errors import WrongPlace, field_error
from tidings.web.language import _, ngettext
from tidings.web.pages.entry_actions import ShownForm, mark_read_redirect
from tidings.web.security import SANDBOX_HEADERS

routes = Routes()


@routes.get("/unread")
def show_unread(context: RequestContext, query: ListQuery) -> PageResponse:
    """Unread entries, without those hidden from the global lists."""
    return show(context, entry_list_pages.unread(context, query), query)


@routes.get("/starred")
def show_starred(context: RequestContext, query: ListQuery) -> PageResponse:
    """Starred entries, the newest first."""
    return show(context, entry_list_pages.starred(context, query), query)


@routes.get("/history")
def show_history(context: RequestContext, query: ListQuery) -> PageResponse:
    """Read entries, the last one read first."""
    return show(context, entry_list_pages.history(context, query), query)


@routes.get("/shared")
def show_shared(context: RequestContext, query: ListQuery) -> PageResponse:
    """Entries with a public link, the newest first."""
    return show(context, entry_list_pages.shared(context, query), query)


@routes.get("/tagged")
def show_tagged(context: RequestContext, query: ListQuery) -> PageResponse:
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
def show_category(context: RequestContext, query: ListQuery, category_id: int) -> PageResponse:
    return show(context, entry_list_pages.category(context, query, category_id), query)


@routes.get("/labels/{label_id}")
def show_label(context: RequestContext, query: ListQuery, label_id: int) -> PageResponse:
    """Entries with a label, read and unread."""
    return show(context, entry_list_pages.label(context, query, label_id), query)


@routes.get("/feeds/{feed_id}")
def show_feed(context: RequestContext, query: ListQuery, feed_id: int) -> PageResponse:
    return show(context, entry_list_pages.feed(context, query, feed_id), query)


@routes.get("/search/total")
def show_total(context: RequestContext, query: ListQuery) -> Response:
    """Return the number of results in words. Counting all of them may take longer than showing the first ones."""
    listing = entry_list_pages.search(context, query)
    request = PageRequest(limit=1)
    with context.services.entries.listing.of(context.caller.id, listing.entry_filter) as lists:
        total = lists.page_ids(listing.entry_filter, request)[1] if listing.has_search else 0
    return json({"text": _found_text(total, total)}, headers={"Cache-Control": "no-store", **SANDBOX_HEADERS})


@routes.get("/search")
def show_search(context: RequestContext, query: ListQuery) -> PageResponse:
    """Search with the query language. Without a query, show only the form; with a wrong one, where it is wrong."""
    try:
        return show(context, entry_list_pages.search(context, query), query)
    except InvalidInput as error:
        if error.field != "query":
            raise
        page = show(context, entry_list_pages.empty_search(context, query), query)
        values = page.values | {"place": WrongPlace.of(query.query.strip(), error)}
        return structs.replace(page, status=400, values=values, problem=field_error(error))


def show(context: RequestContext, listing: ListPage, query: ListQuery, *, max_rows: int | None = None) -> PageResponse:
    """Return a page of a list. max_rows: maximum number of rows, if less than the user's setting."""
    user, after = context.caller, entry_list_pages.parse_cursor(query.after)
    limit = min(user.entries_per_page, max_rows or user.entries_per_page)
    with context.services.entries.listing.of(user.id, listing.entry_filter) as lists:
        # Before the rows: an entry that is stored between the two statements is shown, but later than the newest.
        newest = _newest(lists.db, listing, user.id, query)
        is_asked = listing.name != "search" or listing.has_search
        found = listing.rows(lists, limit + 1, after) if is_asked else []
        shown = rows(lists.db, context, listing, found[:limit])
        checked_at = listing.last_check(lists.db, user.id)
        trouble = _trouble(lists.db, context, listing)
        asks_index = needs_index(listing.entry_filter.search, listing.entry_filter.query)
        is_indexing = asks_index and search_index.is_behind(lists.db, user.id)
    more = entry_list_pages.format_cursor(listing.cursor(found[limit - 1])) if len(found) > limit else ""
    return PageResponse(
        "list.html",
        {
            "title": listing.title,
            "listing": listing,
            "rows": shown,
            "next_url": next_page(context, listing, more, newest) if more else "",
            "newest": newest,
            "later_ids": later_ids(found[:limit], newest),
            "is_first": after is None,
            "checked_at": checked_at,
            "trouble": trouble,
            "is_indexing": is_indexing,
            "place": None,
            "found_text": _found_text(len(found), limit) if listing.has_search and after is None else "",
        },
    )


def next_page(context: RequestContext, listing: ListPage, after: str, newest: int | None) -> str:
    """Return the URL of the page after a cursor. It goes on to say what the first page has shown."""
    known = {} if newest is None else {"newest": newest}
    return context.url(listing.path, after=after, **listing.query, **known)


def later_ids(found: Sequence[Entry], newest: int | None) -> list[int]:
    """Return the shown entries that were stored after the newest one."""
    return [entry.id for entry in found if newest is not None and entry.id > newest]


def _newest(db: Read, listing: ListPage, user_id: int, query: ListQuery) -> int | None:
    """Return up to which entry the list can be marked read: the newest one when its first page was built."""
    if not listing.mark_path:
        return None
    is_later_page = query.newest is not None and query.after
    return query.newest if is_later_page else entry_lists.newest_id(db, user_id)


def _trouble(db: Read, context: RequestContext, listing: ListPage) -> str:
    """Return why the last checks of the list's feed failed; "" for lists of other kinds."""
    line = context.sidebar.feed(listing.feed_id) if listing.feed_id else None
    if listing.name != "feed" or line is None or not line.error_count:
        return ""
    feed = health.get(db, context.caller.id, line.id, context.now)
    return trouble(feed) if feed else ""


def _found_text(count: int, limit: int) -> str:
    if count > limit:
        return _("More than %(count)d results", count=limit)
    return ngettext("%(count)d result", "%(count)d results", count, count=count)


class MarkReadForm(ShownForm, frozen=True):
    """The entry above or below which entries are marked, that one excluded; without either, the whole list."""

    above: int | None = None
    below: int | None = None
    back: str = ""


@routes.post("/unread/mark-read")
def mark_unread_read(context: RequestContext, form: MarkReadForm) -> Redirect:
    return _mark(context, entry_list_pages.unread(context, ListQuery()), form)


@routes.post("/categories/{category_id}/mark-read")
def mark_category_read(context: RequestContext, form: MarkReadForm, category_id: int) -> Redirect:
    return _mark(context, entry_list_pages.category(context, ListQuery(), category_id), form)


@routes.post("/feeds/{feed_id}/mark-read")
def mark_feed_read(context: RequestContext, form: MarkReadForm, feed_id: int) -> Redirect:
    return _mark(context, entry_list_pages.feed(context, ListQuery(), feed_id), form)


@routes.post("/labels/{label_id}/mark-read")
def mark_label_read(context: RequestContext, form: MarkReadForm, label_id: int) -> Redirect:
    return _mark(context, entry_list_pages.label(context, ListQuery(), label_id), form)


@routes.post("/unread/mark-old")
def mark_old_read(context: RequestContext, caller: User, form: ShownForm) -> Redirect:
    """Mark all entries read that are older than a week: after an import, feeds bring what they published long ago."""
    before = EntryFilter(published_before=Instant(context.now - OLD_ENTRY_AGE))
    return mark_read_redirect(
        "/unread", context.services.entries.read_marker.mark_list_read(caller.id, before, shown=form.shown())
    )


def _mark(context: RequestContext, listing: ListPage, form: MarkReadForm) -> Redirect:
    user, page, entry_id = context.caller, None, form.above or form.below
    if entry_id:
        with context.services.reading() as db:
            page = listing.page_from(owned_entry(db, user.id, entry_id), backwards=form.above is not None)
    marked = context.services.entries.read_marker.mark_list_read(user.id, listing.entry_filter, page, form.shown())
    path = security.local_path(form.back) if entry_id else ""
    return mark_read_redirect(path or listing.path, marked)
