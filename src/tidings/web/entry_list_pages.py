"""The lists of entries: which entries each contains, in which order, and the entries before and after one.

/unread   /starred   /history   /categories/3   /feeds/7   /search?query=rain&where=f7
/shared   /tagged?tag=rain   /labels/4                                               a list
/unread/5 …          /categories/3/entries/5   /feeds/7/entries/5   /search/5?query=   /tagged/5?tag=   an entry of it
                     /labels/4/entries/5
"""

from __future__ import annotations

from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from tidings.base.errors import NotFound
from tidings.base.messages import verbatim
from tidings.base.times import Instant
from tidings.domain.accounts.users import User
from tidings.domain.entries.entries import (
    TAG_LENGTH,
    Direction,
    Entry,
    EntryCursor,
    EntryFilter,
    EntryStatus,
    Order,
    PageRequest,
    tag_key,
)
from tidings.domain.entries.list_settings import ListSetting
from tidings.engine.database import Read
from tidings.http.binding import Query
from tidings.list_settings.store import setting_of
from tidings.query.model import Is, State, wanted
from tidings.services.entries.listing import EntryLists
from tidings.storage.feeds import feeds
from tidings.web.context import RequestContext
from tidings.web.language import _


class ListQuery(Query, frozen=True):
    """The query of a list page."""

    after: str = ""
    """Cursor of the previous page's last entry."""
    before: str = ""
    """Cursor of the following page's first entry; without `after`."""
    show: str = ""
    """"all", or empty for unread entries only."""
    query: str = ""
    """What is searched, in the query language."""
    q: str = ""
    """The words of a search in addresses made before pages had the query language: its signs mean nothing in them."""
    where: str = ""
    """The only feed (f7) or category (c3) to search in."""
    tag: str = ""
    """The tag whose entries are listed."""
    newest: int | None = None
    """The newest entry (`Shown`) when the first page of the list was built."""


class ListPage(Struct, frozen=True):
    """A list of entries, and how its page shows it."""

    name: str
    """unread, starred, history, shared, tagged, label, category, feed, search or view."""
    title: str
    path: str
    """Path of the list's page."""
    entry_filter: EntryFilter
    order: Order = Order.PUBLISHED_AT
    direction: Direction = Direction.DESC
    total: int | None = None
    """Number of entries; None when not counted."""
    is_total_exact: bool = True
    """False if there are more."""
    query: dict[str, str] = {}
    """Parameters that belong to the list, not to one page of it."""
    has_filter: bool = False
    """The list can show read entries as well."""
    feed_id: int | None = None
    category_id: int | None = None
    label_id: int | None = None
    view_id: int | None = None
    mark_path: str = ""
    """Where a form marks the list read, with the parameters of the list; "" for lists without unread entries."""
    own: ListSetting | None = None
    """The order and the layout that it has alone; None for a list that cannot have them."""
    usual_direction: str = ""
    """The order that it has without one of its own; "" for a view, which always has one."""
    usual_density: str = ""

    def entry_path(self, entry_id: int) -> str:
        has_own_address = self.name in ("category", "feed", "label", "view")
        return f"{self.path}/entries/{entry_id}" if has_own_address else f"{self.path}/{entry_id}"

    @property
    def asked(self) -> str:
        """What is searched, as written; "" for lists of other kinds."""
        return self.query.get("query") or self.query.get("q", "")

    @property
    def has_search(self) -> bool:
        """Whether words or a query choose its entries."""
        return bool(self.entry_filter.search or self.entry_filter.query)

    @property
    def asks_for_hidden(self) -> bool:
        """Whether its query finds entries that rules have hidden because they are hidden."""
        query = self.entry_filter.query
        return query is not None and Is(State.HIDDEN) in wanted(query.tree)

    @property
    def view_query(self) -> str:
        """The query that finds what a search found: what was asked, within its feed or category."""
        where = self.query.get("where", "")
        place = f"{where[0]}:{where[1:]} " if where else ""
        return f"{place}({self.asked})" if place else self.asked

    @property
    def where(self) -> str:
        """The `where` of a search in this list; "" unless it is the list of a feed or category."""
        return {"category": f"c{self.category_id}", "feed": f"f{self.feed_id}"}.get(self.name, "")

    @property
    def refresh_path(self) -> str:
        """Where a form refreshes the feeds of the list; "" for lists that a new entry does not get into immediately."""
        if self.name == "unread":
            return "/feeds/refresh"
        return f"{self.path}/refresh" if self.name in ("category", "feed") else ""

    def last_check(self, db: Read, user_id: int) -> Instant | None:
        """Return when a feed of the list was last checked; None if none was, and for lists that are not refreshed."""
        if not self.refresh_path:
            return None
        return feeds.last_check(db, user_id, feed_id=self.feed_id, category_id=self.category_id)

    @property
    def count_key(self) -> str:
        """The key of its total in /counts; "" when it is not there."""
        if self.view_id is not None:
            return f"v{self.view_id}"
        if self.query or self.name not in ("unread", "starred", "category", "feed"):
            return ""
        return self.where or self.name

    def cursor(self, entry: Entry) -> EntryCursor:
        moments = {
            Order.PUBLISHED_AT: entry.published_at,
            Order.CREATED_AT: entry.created_at,
            Order.CHANGED_AT: entry.changed_at,
        }
        return EntryCursor(moments[self.order], entry.id)

    def rows(
        self, lists: EntryLists, limit: int, cursor: EntryCursor | None, *, backwards: bool = False
    ) -> list[Entry]:
        """Return up to `limit` entries after a cursor. backwards: entries before it, the nearest first."""
        page = PageRequest(order=self.order, direction=self._order(backwards=backwards), limit=limit, cursor=cursor)
        return lists.rows(self.entry_filter, page)

    def page_from(self, entry: Entry, *, backwards: bool) -> PageRequest:
        """Return the request for the entries after an entry of this list, or before it."""
        return PageRequest(order=self.order, direction=self._order(backwards=backwards), cursor=self.cursor(entry))

    def _order(self, *, backwards: bool) -> Direction:
        if not backwards:
            return self.direction
        return Direction.ASC if self.direction is Direction.DESC else Direction.DESC


def parse_cursor(text: str) -> EntryCursor | None:
    """Return the cursor that `format_cursor` wrote; None for any other text."""
    moment, _dot, entry_id = text.partition(".")
    is_cursor = moment.lstrip("-").isdecimal() and entry_id.isdecimal() and len(text) < 40 and text.isascii()
    # Values that do not fit their column do not occur in entries.
    if not is_cursor or not -(2**63) <= int(moment) < 2**63 or int(entry_id) >= 2**63:
        return None
    return EntryCursor(int(moment), int(entry_id))  # type: ignore[arg-type]


def format_cursor(cursor: EntryCursor) -> str:
    return f"{cursor.moment}.{cursor.entry_id}"


def unread(context: RequestContext, _query: ListQuery) -> ListPage:
    return ListPage(
        "unread",
        _("Unread"),
        "/unread",
        EntryFilter(statuses=(EntryStatus.UNREAD,), globally_visible=True),
        total=context.sidebar.unread,
        mark_path="/unread/mark-read",
        **_as_chosen(context, "unread"),
    )


def starred(context: RequestContext, _query: ListQuery) -> ListPage:
    return ListPage(
        "starred",
        _("Starred"),
        "/starred",
        EntryFilter(starred=True),
        total=context.sidebar.starred,
        mark_path="/starred/mark-read",
        **_as_chosen(context, "starred"),
    )


def history(context: RequestContext, _query: ListQuery) -> ListPage:
    """Return the list of read entries: the last one read comes first, unless the user wants the list the other way."""
    chosen = _as_chosen(context, "history")
    own: ListSetting = chosen["own"]
    return ListPage(
        "history",
        _("History"),
        "/history",
        EntryFilter(statuses=(EntryStatus.READ,)),
        total=context.sidebar.read,
        **chosen
        | {
            "order": Order.CHANGED_AT,
            "direction": Direction(own.direction or Direction.DESC),
            "usual_direction": Direction.DESC,
        },
    )


def shared(context: RequestContext, _query: ListQuery) -> ListPage:
    return ListPage(
        "shared",
        _("Shared by me"),
        "/shared",
        EntryFilter(shared=True),
        mark_path="/shared/mark-read",
        **_as_chosen(context, "shared"),
    )


def tagged(context: RequestContext, query: ListQuery) -> ListPage:
    tag = query.tag.strip()[:TAG_LENGTH]
    entry_filter = EntryFilter(tags=(tag_key(tag),))
    return ListPage(
        "tagged",
        f"#{tag}",
        "/tagged",
        entry_filter,
        query={"tag": tag},
        mark_path="/tagged/mark-read",
        **_user_order(context.caller),
    )


def label(context: RequestContext, _query: ListQuery, label_id: int) -> ListPage:
    found = next((label for label in context.sidebar.labels if label.id == label_id), None)
    if found is None:
        raise NotFound(verbatim(f"There is no label {label_id}."))
    return ListPage(
        "label",
        found.name,
        f"/labels/{label_id}",
        EntryFilter(label_ids=(label_id,)),
        label_id=label_id,
        mark_path=f"/labels/{label_id}/mark-read",
        **_as_chosen(context, f"l{label_id}"),
    )


def category(context: RequestContext, query: ListQuery, category_id: int) -> ListPage:
    line = context.sidebar.category(category_id)
    if line is None:
        raise NotFound(verbatim(f"There is no category {category_id}."))
    shows_all = query.show == "all"
    total = line.unread + line.counts.read if shows_all else line.unread
    return ListPage(
        "category",
        line.category.name,
        f"/categories/{category_id}",
        EntryFilter(statuses=_statuses(shows_all), category_id=category_id),
        total=total,
        query={"show": "all"} if shows_all else {},
        has_filter=True,
        category_id=category_id,
        mark_path=f"/categories/{category_id}/mark-read",
        **_as_chosen(context, f"c{category_id}"),
    )


def feed(context: RequestContext, query: ListQuery, feed_id: int) -> ListPage:
    line = context.sidebar.feed(feed_id)
    if line is None:
        raise NotFound(verbatim(f"There is no feed {feed_id}."))
    shows_all = query.show == "all"
    return ListPage(
        "feed",
        line.title,
        f"/feeds/{feed_id}",
        EntryFilter(statuses=_statuses(shows_all), feed_id=feed_id),
        total=line.unread + line.read if shows_all else line.unread,
        query={"show": "all"} if shows_all else {},
        has_filter=True,
        feed_id=feed_id,
        category_id=line.category_id,
        mark_path=f"/feeds/{feed_id}/mark-read",
        **_as_chosen(context, f"f{feed_id}"),
    )


def search(context: RequestContext, query: ListQuery) -> ListPage:
    """Return the list of what is found. Raises InvalidInput, with query as its field, for a query without meaning."""
    text = query.query.strip()
    asked = context.services.entries.queries.dated(context.caller, text)
    words = "" if text else query.q.strip()[:500]
    listing = empty_search(context, query)
    found = replace(listing, entry_filter=replace(listing.entry_filter, query=asked, search=words))
    return replace(found, mark_path="/search/mark-read" if found.has_search else "")


def empty_search(context: RequestContext, query: ListQuery) -> ListPage:
    """Return a search that finds nothing, with what was asked and where."""
    text, where = query.query.strip(), _search_scope(context, query.where)
    asked = {"query": text} if text or not query.q else {"q": query.q.strip()[:500]}
    return ListPage(
        "search",
        _("Search"),
        "/search",
        EntryFilter(feed_id=where.get("feed_id"), category_id=where.get("category_id")),
        query={**asked, **({"where": query.where} if where else {})},
    )


def _search_scope(context: RequestContext, where: str) -> dict[str, int]:
    """Return the feed or category to search in; {} for everywhere. Raises NotFound unless the user owns it."""
    kind, number = where[:1], where[1:]
    if kind not in ("f", "c") or not number.isascii() or not number.isdigit() or len(number) > 18:
        return {}
    if kind == "f":
        if context.sidebar.feed(int(number)) is None:
            raise NotFound(verbatim(f"There is no feed {number}."))
        return {"feed_id": int(number)}
    if context.sidebar.category(int(number)) is None:
        raise NotFound(verbatim(f"There is no category {number}."))
    return {"category_id": int(number)}


def _statuses(shows_all: bool) -> tuple[EntryStatus, ...]:
    return () if shows_all else (EntryStatus.UNREAD,)


def _user_order(user: User) -> dict[str, Any]:
    return {"order": Order(user.entry_sorting_order), "direction": Direction(user.entry_sorting_direction)}


def _as_chosen(context: RequestContext, name: str) -> dict[str, Any]:
    """Return the order of a list, and have the page shown in its layout. name: as in `ListSetting.list`."""
    user = context.caller
    with context.services.reading() as db:
        own = setting_of(db, user.id, name)
    usual = _user_order(user)
    return {
        "order": usual["order"],
        "direction": Direction(own.direction or usual["direction"]),
        "own": own,
        "usual_direction": usual["direction"],
        "usual_density": show_as(context, own.density),
    }


def show_as(context: RequestContext, density: str) -> str:
    """Have the page shown in a layout, "" for the device's. Returns the device's."""
    usual = context.device.density
    shown = density or usual
    # A copy for reading offline has up to a hundred rows, and each article on a page of its own.
    shown = "comfortable" if context.is_copy and shown in ("magazine", "stream") else shown
    context.device = replace(context.device, density=shown)
    return usual
