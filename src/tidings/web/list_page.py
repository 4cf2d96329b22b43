"""The page of a list of entries, and marking what it shows read, for the handlers of the core and of slices."""

from __future__ import annotations

from collections.abc import Sequence
from urllib.parse import parse_qsl, urlencode

from msgspec import structs
from starlette.responses import Response

from tidings.base.errors import InvalidInput
from tidings.base.messages import msg
from tidings.base.times import DAY, Instant
from tidings.domain.entries.entries import Direction, Entry, EntryFilter, EntryStatus, Shown
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
from tidings.web.entry_rows import MAX_ROWS, rows, whole_articles
from tidings.web.feed_rows import advice, trouble
from tidings.web.language import _, ngettext
from tidings.web.message_translation import translated
from tidings.web.overview import Overview, next_unread, overview


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
    older: int | None = None
    """Only entries that are older than this, in days."""
    back: str = ""


class DisplayForm(Form, frozen=True):
    """The order or the layout of a list, as its menu offers them."""

    direction: str = ""
    """asc, desc, or EVERYWHERE; empty if it stays."""
    density: str = ""
    """The same of the layout."""
    back: str = ""

    @property
    def values(self) -> dict[str, str]:
        """What is set: "" as everywhere."""
        chosen = {"direction": self.direction, "density": self.density}
        return {name: "" if value == EVERYWHERE else value for name, value in chosen.items() if value}

    @property
    def first_page(self) -> str:
        """The page of the form, from its beginning: a place in one order is another place in the other."""
        path, _mark, query = security.local_path(self.back).partition("?")
        kept = urlencode([pair for pair in parse_qsl(query) if pair[0] not in ("after", "before", "newest")])
        return f"{path}?{kept}" if kept else path


# What the menu of a list sends to have it as all others.
EVERYWHERE = "everywhere"
# With the newest entry that a page has shown: how many unread ones came later is all that its script wants to know.
NEWER = "Tidings-Newer"
MAX_NEWER = 99
# The maximum age that can be asked for, in days: a hundred years.
MAX_DAYS = 36_500


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
    before = None if after else entry_list_pages.parse_cursor(query.before)
    limit = min(user.entries_per_page, max_rows or user.entries_per_page)
    with context.services.entries.listing.of(user.id, listing.entry_filter) as lists:
        # Before the rows: an entry that is stored between the two statements is shown, but later than the newest.
        newest = _newest(lists.db, listing, user.id, query)
        is_asked = listing.name != "search" or listing.has_search
        limit = min(limit, MAX_ROWS.get(context.device.density, limit))
        found = listing.rows(lists, limit + 1, after or before, backwards=before is not None) if is_asked else []
        articles = whole_articles(lists.db, user.id, found[:limit]) if context.device.is_stream else {}
        limit = len(articles) or limit
        has_further = len(found) > limit
        found = found[:limit] if before is None else found[:limit][::-1]
        shown = rows(lists.db, context, listing, found, after, articles)
        checked_at = listing.last_check(lists.db, user.id)
        line = context.sidebar.feed(listing.feed_id) if listing.name == "feed" and listing.feed_id else None
        feed = _if_troubled(lists.db, context, line)
        # On narrow screens and in parts of pages there is nothing beside the list.
        is_split = context.device.is_split and not context.is_part
        beside = overview(lists.db, context, listing) if is_split and not (after or before) else Overview()
        asks_index = needs_index(listing.entry_filter.search, listing.entry_filter.query)
        is_indexing = asks_index and search_index.is_behind(lists.db, user.id)
        is_all_read = not (after or before or any(one.status == EntryStatus.UNREAD for one in found))
        next_list = next_unread(lists.db, context, listing, has_rows=bool(shown)) if is_all_read else None
    counts_results = listing.name == "search" and listing.has_search
    # What a page comes after, or before, has entries on its other side.
    first = found[0] if found and (after or (before and has_further)) else None
    last = found[-1] if found and (before or has_further) else None
    return PageResponse(
        "list.html",
        {
            "title": listing.title,
            "listing": listing,
            "rows": shown,
            "previous_url": page_before(context, listing, first, newest) if first else "",
            "next_url": page_after(context, listing, last, newest) if last else "",
            "newest": newest,
            "later_ids": later_ids(found, newest),
            "is_first": not (after or before),
            "checked_at": checked_at,
            "trouble": trouble(feed) if feed else "",
            "advice": _advice(feed) if feed else "",
            "site_url": feed.site_url if feed and feed.health is FeedHealth.DEAD else "",
            "is_without_entries": line is not None and not line.unread + line.read,
            "is_indexing": is_indexing,
            "beside": beside,
            "next_list": next_list,
            "place": None,
            "found_text": found_text(len(found) + has_further, limit)
            if counts_results and not (after or before)
            else "",
        },
    )


def _count_newer(context: RequestContext, listing: ListPage, newest_id: int) -> Response:
    """Return in words how many unread entries of a list were stored after an entry, "" for none."""
    newer = structs.replace(listing.entry_filter, after_entry_id=newest_id, statuses=(EntryStatus.UNREAD,))
    with context.services.entries.listing.of(context.caller.id, newer) as lists:
        count = len(split_ids(lists.ids(newer, direction=Direction.DESC, limit=MAX_NEWER + 1)))
    words = _("%(count)s new", count=f"{MAX_NEWER}+" if count > MAX_NEWER else count) if count else ""
    return json({"text": words}, headers={"Cache-Control": "no-store", **security.SANDBOX_HEADERS})


def page_after(context: RequestContext, listing: ListPage, last: Entry, newest: int | None) -> str:
    """Return the URL of the page after an entry. It goes on to say what the first page has shown."""
    return _page_at(context, listing, {"after": _place(listing, last)}, newest)


def page_before(context: RequestContext, listing: ListPage, first: Entry, newest: int | None) -> str:
    """Return the URL of the page before an entry, which goes on to say the same."""
    return _page_at(context, listing, {"before": _place(listing, first)}, newest)


def _place(listing: ListPage, entry: Entry) -> str:
    return entry_list_pages.format_cursor(listing.cursor(entry))


def _page_at(context: RequestContext, listing: ListPage, place: dict[str, str], newest: int | None) -> str:
    known = {} if newest is None else {"newest": newest}
    return context.url(listing.path, **place, **listing.query, **known)


def later_ids(found: Sequence[Entry], newest: int | None) -> list[int]:
    """Return the shown entries that were stored after the newest one."""
    return [entry.id for entry in found if newest is not None and entry.id > newest]


def _newest(db: Read, listing: ListPage, user_id: int, query: ListQuery) -> int | None:
    """Return up to which entry the list can be marked read: the newest one when its first page was built."""
    if not listing.mark_path:
        return None
    is_later_page = query.newest is not None and (query.after or query.before)
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
    if not listing.mark_path:
        return Redirect(listing.path, _("Nothing was unread."))
    user, page, entry_id = context.caller, None, form.above or form.below
    entry_filter = _older_than(listing.entry_filter, form.older, context.now)
    if entry_id:
        with context.services.reading() as db:
            page = listing.page_from(owned_entry(db, user.id, entry_id), backwards=form.above is not None)
    marked = context.services.entries.read_marker.mark_list_read(user.id, entry_filter, page, form.shown())
    path = security.local_path(form.back) if entry_id else ""
    return mark_read_redirect(path or context.path_of(context.url(listing.path, **listing.query)), marked)


def _older_than(entry_filter: EntryFilter, days: int | None, now: Instant) -> EntryFilter:
    """Return the filter for entries older than some days; itself without days."""
    if days is None:
        return entry_filter
    if not 0 < days <= MAX_DAYS:
        raise InvalidInput(msg("Choose a number of days from 1 to {most:,}.", most=MAX_DAYS), field="older")
    return structs.replace(entry_filter, published_before=Instant(now - days * DAY))


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
