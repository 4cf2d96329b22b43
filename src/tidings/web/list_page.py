"""The page of a list of entries, and marking what it shows read, for the handlers of the core and of slices."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import structs
from starlette.responses import Response

from tidings.domain.entries.entries import Direction, Entry, EntryStatus, Shown
from tidings.domain.feeds.feeds import is_fetched
from tidings.domain.feeds.health import FeedHealth, FeedHealthData
from tidings.engine.database import Read
from tidings.engine.statements import split_ids
from tidings.http.binding import Form, parse_id
from tidings.http.responses import json
from tidings.services.entries.entries import owned_entry
from tidings.services.entries.listing import needs_index
from tidings.services.entries.read_state import MarkReadResult
from tidings.services.polling.decide import SWITCHED_OFF
from tidings.storage.entries import entry_lists, search_index
from tidings.storage.feeds import health
from tidings.storage.feeds.sidebar import SidebarFeed
from tidings.web import entry_list_pages, security
from tidings.web.context import PageResponse, Redirect, RequestContext
from tidings.web.entry_list_pages import ListPage, ListQuery
from tidings.web.entry_rows import rows
from tidings.web.feed_rows import advice, trouble
from tidings.web.language import _, ngettext
from tidings.web.message_translation import translated


class ShownForm(Form, frozen=True):
    """What the page of the form has shown (`Shown`): entries that came later stay unread.

    Without `newest`, no entry came later.
    """

    newest: str = ""
    later: str = ""
    """Ids, separated by commas."""

    def shown(self) -> Shown | None:
        """Raise InvalidInput for what is not an id."""
        if not self.newest:
            return None
        newest_id = 0 if self.newest == "0" else parse_id("newest", self.newest)
        return Shown(newest_id, tuple(parse_id("later", one) for one in self.later.split(",") if self.later))


class MarkReadForm(ShownForm, frozen=True):
    """The entry above or below which entries are marked, that one excluded; without either, the whole list."""

    above: int | None = None
    below: int | None = None
    back: str = ""


# With the newest entry that a page has shown: how many unread ones came later is all that its script wants to know.
NEWER = "Tidings-Newer"
MAX_NEWER = 99


def show(
    context: RequestContext, listing: ListPage, query: ListQuery, *, max_rows: int | None = None
) -> PageResponse | Response:
    """Return a page of a list. max_rows: maximum number of rows, if less than the user's setting."""
    if NEWER in context.request.headers:
        newest = context.request.headers[NEWER]
        return _count_newer(context, listing, 0 if newest == "0" else parse_id(NEWER, newest))
    return list_page(context, listing, query, max_rows=max_rows)


def list_page(
    context: RequestContext, listing: ListPage, query: ListQuery, *, max_rows: int | None = None
) -> PageResponse:
    """Return a page of a list, whatever asks for it."""
    user, after = context.caller, entry_list_pages.parse_cursor(query.after)
    limit = min(user.entries_per_page, max_rows or user.entries_per_page)
    with context.services.entries.listing.of(user.id, listing.entry_filter) as lists:
        # Before the rows: an entry that is stored between the two statements is shown, but later than the newest.
        newest = _newest(lists.db, listing, user.id, query)
        is_asked = listing.name != "search" or listing.has_search
        found = listing.rows(lists, limit + 1, after) if is_asked else []
        shown = rows(lists.db, context, listing, found[:limit])
        checked_at = listing.last_check(lists.db, user.id)
        line = context.sidebar.feed(listing.feed_id) if listing.name == "feed" and listing.feed_id else None
        feed = _if_troubled(lists.db, context, line)
        asks_index = needs_index(listing.entry_filter.search, listing.entry_filter.query)
        is_indexing = asks_index and search_index.is_behind(lists.db, user.id)
    counts_results = listing.name == "search" and listing.has_search
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
            "trouble": trouble(feed) if feed else "",
            "advice": _advice(feed) if feed else "",
            "site_url": feed.site_url if feed and feed.health is FeedHealth.DEAD else "",
            "is_without_entries": line is not None and not line.unread + line.read,
            "is_indexing": is_indexing,
            "place": None,
            "found_text": found_text(len(found), limit) if counts_results and after is None else "",
        },
    )


def _count_newer(context: RequestContext, listing: ListPage, newest_id: int) -> Response:
    """Return in words how many unread entries of a list were stored after an entry, "" for none."""
    newer = structs.replace(listing.entry_filter, after_entry_id=newest_id, statuses=(EntryStatus.UNREAD,))
    with context.services.entries.listing.of(context.caller.id, newer) as lists:
        count = len(split_ids(lists.ids(newer, direction=Direction.DESC, limit=MAX_NEWER + 1)))
    words = _("%(count)s new", count=f"{MAX_NEWER}+" if count > MAX_NEWER else count) if count else ""
    return json({"text": words}, headers={"Cache-Control": "no-store", **security.SANDBOX_HEADERS})


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


def _if_troubled(db: Read, context: RequestContext, line: SidebarFeed | None) -> FeedHealthData | None:
    """Return the health of a list's feed if its last checks failed or it is switched off.

    line: the feed, None for lists of other kinds.
    """
    if line is None or not (line.error_count or line.disabled):
        return None
    feed = health.get(db, context.caller.id, line.id, context.now)
    # Newsletters and saved pages are disabled because they are never fetched: that is no trouble.
    return feed if feed and is_fetched(feed.feed_url) else None


def _advice(feed: FeedHealthData) -> str:
    return translated(SWITCHED_OFF) if feed.health is FeedHealth.OFF else advice(feed.health)


def found_text(count: int, limit: int) -> str:
    """Return how many results a search has, in words. limit: more are not counted."""
    if count > limit:
        return _("More than %(count)d results", count=limit)
    return ngettext("%(count)d result", "%(count)d results", count, count=count)


def mark_list_read(context: RequestContext, listing: ListPage, form: MarkReadForm) -> Redirect:
    """Mark the entries of a list read that a page has shown. Returns to the list, or to the page of the form."""
    user, page, entry_id = context.caller, None, form.above or form.below
    if entry_id:
        with context.services.reading() as db:
            page = listing.page_from(owned_entry(db, user.id, entry_id), backwards=form.above is not None)
    marked = context.services.entries.read_marker.mark_list_read(user.id, listing.entry_filter, page, form.shown())
    path = security.local_path(form.back) if entry_id else ""
    return mark_read_redirect(path or listing.path, marked)


def show_list_again(context: RequestContext, listing: ListPage) -> Redirect:
    """Show the entries of a list in the global lists again that a rule has hidden. Returns to the list."""
    count = context.services.entries.hidden.show_list(context.caller.id, listing.entry_filter)
    return Redirect(context.path_of(context.url(listing.path, **listing.query)), shown_again(count))


def shown_again(count: int) -> str:
    """Return the notice that says how many entries are shown in the global lists again."""
    return ngettext("%(count)d shown in Unread again", "%(count)d shown in Unread again", count, count=count)


def mark_read_redirect(path: str, marked: MarkReadResult) -> Redirect:
    """Redirect to a page whose notice says how many entries were marked, and offers to undo it."""
    count = marked.count
    if not count:
        return Redirect(path, _("Nothing was unread."))
    notice = ngettext("%(count)d marked read", "%(count)d marked read", count, count=count)
    return Redirect(path, notice, marked.moment)
