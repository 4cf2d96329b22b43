"""The feeds page: the state of each feed, and bulk changes."""

from __future__ import annotations

from collections.abc import Sequence
from urllib.parse import urlencode

from tidings.base.errors import InvalidInput, TidingsError
from tidings.base.messages import msg
from tidings.base.text import sort_key
from tidings.base.times import Instant
from tidings.domain.accounts.users import User
from tidings.domain.feeds.health import FeedHealth, FeedOrder
from tidings.engine.database import Read
from tidings.http.binding import Form, Query, parse_id
from tidings.http.endpoints import Routes
from tidings.services import Services
from tidings.services.feeds.feeds import owned_feed
from tidings.services.feeds.health import ChosenFeeds, choose
from tidings.storage.feeds import categories, further_categories, health
from tidings.web import security
from tidings.web.context import PageResponse, Redirect, RequestContext
from tidings.web.feed_rows import NAMES, feed_rows
from tidings.web.language import N_, _, ngettext
from tidings.web.message_translation import translated

routes = Routes()

ON_A_PAGE = 50
SORTS: dict[FeedOrder, str] = {
    FeedOrder.CARE: N_("Problems first"),
    FeedOrder.TITLE: N_("Title"),
    FeedOrder.NEWEST: N_("Newest entry first"),
    FeedOrder.OLDEST: N_("Longest silent first"),
    FeedOrder.SLOWEST: N_("Slowest answer first"),
    FeedOrder.NEXT: N_("Next check first"),
    FeedOrder.UNREAD: N_("Most unread first"),
}
INTERVALS = (0, 15, 60, 360, 1440, 10_080)


class FeedsQuery(Query, frozen=True):
    """The query of the list of feeds."""

    state: str = ""
    """As in `FeedHealth`; empty for all."""
    category: int | None = None
    q: str = ""
    """Words in the title or URL."""
    sort: str = ""
    page: int | None = None
    """Counted from 1."""


class BulkChangeForm(Form, frozen=True):
    """The form that changes several feeds."""

    feed: tuple[str, ...] = ()
    """Ids of the selected feeds."""
    whole: bool | None = None
    """Change all feeds that match state, category and q, on every page."""
    action: str = ""
    """One of the actions in `_apply`."""
    sure: bool | None = None
    """The deletion was confirmed."""
    state: str = ""
    category: int | None = None
    q: str = ""
    sort: str = ""


@routes.get("/feeds")
def show_feeds(context: RequestContext, caller: User, services: Services, query: FeedsQuery) -> PageResponse:
    return _page(context, caller, services, query)


@routes.post("/feeds/bulk")
def change_feeds(
    context: RequestContext, caller: User, services: Services, form: BulkChangeForm
) -> PageResponse | Redirect:
    """Apply one change to the ticked feeds."""
    query = FeedsQuery(form.state, form.category, form.q, form.sort)
    back = _back(query)
    ids = _ids(caller, services, form, query, context.now)
    if not ids:
        return Redirect(back, notice=_("Select at least one feed first."))
    if form.action == "delete" and not form.sure:
        return _confirmation(context, ids, query)
    try:
        return Redirect(back, notice=_apply(caller, services, form.action, ids))
    except TidingsError as error:
        return Redirect(back, notice=translated(error.text))


class MoveFeedForm(Form, frozen=True):
    """The menu of a feed's list that puts the feed into another category."""

    category_id: str = ""
    back: str = ""


@routes.post("/feeds/{feed_id}/move")
def move_feed(caller: User, services: Services, feed_id: int, form: MoveFeedForm) -> Redirect:
    """Put a feed into another category instead of its first one."""
    category_id = parse_id("category_id", form.category_id)
    services.feeds.bulk.move(caller.id, [feed_id], category_id)
    with services.reading() as db:
        owned_feed(db, caller.id, feed_id)
        path = categories.paths(db, caller.id)[category_id]
    return Redirect(security.local_path(form.back) or f"/feeds/{feed_id}", notice=_("Moved to %(title)s.", title=path))


class FeedsRefreshForm(Form, frozen=True):
    back: str = ""


@routes.post("/feeds/refresh")
def refresh_all(caller: User, services: Services, form: FeedsRefreshForm) -> Redirect:
    notice = _refresh_notice(services.polling.claims.refresh_all(caller.id))
    return Redirect(security.local_path(form.back) or "/feeds", notice=notice)


@routes.post("/categories/{category_id}/refresh")
def refresh_category(caller: User, services: Services, category_id: int, form: FeedsRefreshForm) -> Redirect:
    notice = _refresh_notice(services.polling.claims.refresh_category(caller.id, category_id))
    return Redirect(security.local_path(form.back) or f"/categories/{category_id}", notice=notice)


def _apply(caller: User, services: Services, action: str, ids: Sequence[int]) -> str:
    """Apply an action. Returns the notice.

    action: refresh, on, off, delete, every:<minutes>, also:<category>, move:<category> or move:<category>:<from>, where
    the feeds leave the category that is named instead of their first.
    """
    name, _colon, value = action.partition(":")
    value, _colon, left = value.partition(":")
    is_number, number = _number(value)
    if name == "refresh":
        return _refresh_notice(services.polling.claims.refresh_feeds(caller.id, ids))
    if name == "move":
        count = services.feeds.bulk.move(caller.id, ids, number, left_id=_number(left)[1] or None)
        return ngettext("%(count)d feed moved.", "%(count)d feeds moved.", count, count=count)
    if name == "also":
        count = services.feeds.bulk.add_to(caller.id, ids, number)
    elif name == "every":
        if not is_number:
            raise InvalidInput(msg("Choose what to do with these feeds."))
        count = services.feeds.bulk.set_interval(caller.id, ids, number)
    elif name == "on":
        count = services.feeds.bulk.enable(caller.id, ids)
        return ngettext("%(count)d feed switched on.", "%(count)d feeds switched on.", count, count=count)
    elif name == "off":
        count = services.feeds.bulk.disable(caller.id, ids)
        return ngettext("%(count)d feed switched off.", "%(count)d feeds switched off.", count, count=count)
    elif name == "delete":
        count = services.feeds.bulk.delete(caller.id, ids)
        return ngettext("%(count)d feed deleted.", "%(count)d feeds deleted.", count, count=count)
    else:
        raise InvalidInput(msg("Choose what to do with these feeds."))
    return ngettext("%(count)d feed changed.", "%(count)d feeds changed.", count, count=count)


def _number(text: str) -> tuple[bool, int]:
    """Return whether a text is a number, and the number; 0 if it is none."""
    is_number = text.isascii() and text.isdecimal() and len(text) < 10
    return is_number, int(text) if is_number else 0


def _refresh_notice(count: int) -> str:
    if not count:
        return _("Nothing to check: these feeds were checked just now, or are switched off.")
    return ngettext("%(count)d feed is being checked.", "%(count)d feeds are being checked.", count, count=count)


def _ids(caller: User, services: Services, form: BulkChangeForm, query: FeedsQuery, now: Instant) -> list[int]:
    if form.whole:
        with services.reading() as db:
            return _chosen(db, caller, query, now).ids
    return [int(id_) for id_ in form.feed if id_.isascii() and id_.isdecimal() and len(id_) < 19]


def _page(context: RequestContext, caller: User, services: Services, query: FeedsQuery) -> PageResponse:
    now = context.now
    with services.reading() as db:
        named = categories.paths(db, caller.id)
        chosen = _chosen(db, caller, query, now)
        pages = max(1, -(-len(chosen.ids) // ON_A_PAGE))
        page = min(max(query.page or 1, 1), pages)
        shown = health.get_many(db, caller.id, chosen.ids[(page - 1) * ON_A_PAGE : page * ON_A_PAGE], now)
        further = further_categories.of_feeds(db, caller.id, [feed.id for feed in shown])
        rows = feed_rows(db, caller.id, shown, named, further, now)
    return PageResponse(
        "feeds.html",
        {
            "title": _("Feeds"),
            "place": "feeds",
            "rows": rows,
            "found": len(chosen.ids),
            "has_any": chosen.of_user > 0,
            "filters": _filters(chosen),
            "query": query,
            "sorts": [(name, _(label)) for name, label in SORTS.items()],
            "categories": sorted(named.items(), key=lambda category: sort_key(category[1])),
            "intervals": INTERVALS[1:],
            "page": page,
            "pages": pages,
            "now_path": "/feeds",
        },
    )


def _filters(chosen: ChosenFeeds) -> list[tuple[str, str, int]]:
    """Return value, label and count of each state that has feeds."""
    filters = [(state.value, _(NAMES[state]), chosen.counts[state]) for state in FeedHealth if chosen.counts[state]]
    return [("", _("All feeds"), chosen.total), *filters]


def _chosen(db: Read, caller: User, query: FeedsQuery, now: Instant) -> ChosenFeeds:
    order = FeedOrder(query.sort) if query.sort in SORTS else FeedOrder.CARE
    return choose(db, caller.id, now, state=query.state, category_id=query.category, search=query.q, order=order)


def _confirmation(context: RequestContext, ids: Sequence[int], query: FeedsQuery) -> PageResponse:
    """Return the page that shows what would be deleted, which cannot be undone."""
    known = context.sidebar.feeds_by_id(ids)
    lines = [known[id_] for id_ in ids if id_ in known]
    values = {
        "title": _("Delete feeds"),
        "place": "feeds",
        "lines": lines,
        "entries": sum(line.unread + line.read for line in lines),
        "starred": sum(line.starred for line in lines),
        "uses": context.services.entries.queries.uses(context.caller.id, {line.id: line.title for line in lines}, {}),
        "query": query,
        "back_path": _back(query),
    }
    return PageResponse("feeds_delete.html", values)


def _back(query: FeedsQuery) -> str:
    parameters = {name: value for name in ("state", "category", "q", "sort") if (value := getattr(query, name))}
    return f"/feeds?{urlencode(parameters)}" if parameters else "/feeds"
