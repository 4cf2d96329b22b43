"""The lists that entries are read in: which entries, in which order, and what leads from one to the next.

/unread   /starred   /history   /categories/3   /feeds/7   /search?q=rain&where=f7  a list
/unread/5 …          /categories/3/entries/5   /feeds/7/entries/5   /search/5?q=   an entry of it
"""

from __future__ import annotations

from typing import Any

from msgspec import Struct

from tidings.domain.accounts.users import User
from tidings.domain.entries.entries import Direction, Entry, EntryCursor, EntryFilter, EntryStatus, Order, PageRequest
from tidings.domain.errors import NotFound
from tidings.domain.messages import verbatim
from tidings.http.queries import Query
from tidings.services.entries.listing import EntryLists
from tidings.web.context import RequestContext
from tidings.web.language import _


class ListQuery(Query, frozen=True):
    """after: the place of the last entry of the page before. show: all, or what is unread. q: what is searched for.

    where: in which feed (f7) or category (c3) alone.
    """

    after: str = ""
    show: str = ""
    q: str = ""
    where: str = ""


class ListPage(Struct, frozen=True):
    """path: of the list. name: unread, starred, history, category, feed, search. total: None when nobody counted.

    query: what belongs to the list and not to the page of it. has_filter: read entries may be shown as well.
    """

    name: str
    title: str
    path: str
    which: EntryFilter
    order: Order = Order.PUBLISHED_AT
    direction: Direction = Direction.DESC
    total: int | None = None
    query: dict[str, str] = {}
    has_filter: bool = False
    feed_id: int | None = None
    category_id: int | None = None
    mark_path: str = ""

    def entry_path(self, entry_id: int) -> str:
        return f"{self.path}/entries/{entry_id}" if self.name in ("category", "feed") else f"{self.path}/{entry_id}"

    @property
    def where(self) -> str:
        """What a search has to say to be in this list alone; "" for lists that are none of a feed or category."""
        return {"category": f"c{self.category_id}", "feed": f"f{self.feed_id}"}.get(self.name, "")

    @property
    def counted(self) -> str:
        """Which of the live counts its total is; "" when it is none of them."""
        if self.query or self.name not in ("unread", "starred", "category", "feed"):
            return ""
        return self.where or self.name

    def place(self, entry: Entry) -> EntryCursor:
        moments = {
            Order.PUBLISHED_AT: entry.published_at,
            Order.CREATED_AT: entry.created_at,
            Order.CHANGED_AT: entry.changed_at,
        }
        return EntryCursor(moments[self.order], entry.id)

    def rows(
        self, lists: EntryLists, limit: int, beyond: EntryCursor | None, *, backwards: bool = False
    ) -> list[Entry]:
        """backwards: the nearest first, towards the beginning of the list."""
        page = PageRequest(order=self.order, direction=self._towards(backwards=backwards), limit=limit, cursor=beyond)
        return lists.rows(self.which, page)

    def beyond(self, entry: Entry, *, backwards: bool) -> PageRequest:
        """What follows an entry in this list, or comes before it."""
        return PageRequest(order=self.order, direction=self._towards(backwards=backwards), cursor=self.place(entry))

    def _towards(self, *, backwards: bool) -> Direction:
        if not backwards:
            return self.direction
        return Direction.ASC if self.direction is Direction.DESC else Direction.DESC


def place_of(text: str) -> EntryCursor | None:
    """As `text_of` writes it; None for anything else."""
    moment, _dot, entry_id = text.partition(".")
    is_place = moment.lstrip("-").isdecimal() and entry_id.isdecimal() and len(text) < 40 and text.isascii()
    # Beyond what a column holds there is nothing.
    if not is_place or not -(2**63) <= int(moment) < 2**63 or int(entry_id) >= 2**63:
        return None
    return EntryCursor(int(moment), int(entry_id))  # type: ignore[arg-type]


def text_of(place: EntryCursor) -> str:
    return f"{place.moment}.{place.entry_id}"


def unread(visit: RequestContext, _query: ListQuery) -> ListPage:
    return ListPage(
        "unread",
        _("Unread"),
        "/unread",
        EntryFilter(statuses=(EntryStatus.UNREAD,), globally_visible=True),
        total=visit.sidebar.unread,
        mark_path="/unread/mark-read",
        **_as_sorted(visit.caller),
    )


def starred(visit: RequestContext, _query: ListQuery) -> ListPage:
    return ListPage("starred", _("Starred"), "/starred", EntryFilter(starred=True), total=visit.sidebar.starred)


def history(visit: RequestContext, _query: ListQuery) -> ListPage:
    which = EntryFilter(statuses=(EntryStatus.READ,))
    return ListPage("history", _("History"), "/history", which, order=Order.CHANGED_AT, total=visit.sidebar.read)


def category(visit: RequestContext, query: ListQuery, category_id: int) -> ListPage:
    line = visit.sidebar.category(category_id)
    if line is None:
        raise NotFound(verbatim(f"There is no category {category_id}."))
    shows_all = query.show == "all"
    total = sum(feed.unread + feed.read for feed in line.feeds) if shows_all else line.unread
    return ListPage(
        "category",
        line.category.title,
        f"/categories/{category_id}",
        EntryFilter(statuses=_statuses(shows_all), category_id=category_id),
        total=total,
        query={"show": "all"} if shows_all else {},
        has_filter=True,
        category_id=category_id,
        mark_path=f"/categories/{category_id}/mark-read",
        **_as_sorted(visit.caller),
    )


def feed(visit: RequestContext, query: ListQuery, feed_id: int) -> ListPage:
    line = visit.sidebar.feeds.get(feed_id)
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
        **_as_sorted(visit.caller),
    )


def search(visit: RequestContext, query: ListQuery) -> ListPage:
    words = query.q.strip()[:500]
    where = _place_to_search(visit, query.where)
    return ListPage(
        "search",
        _("Search"),
        "/search",
        EntryFilter(search=words, feed_id=where.get("feed_id"), category_id=where.get("category_id")),
        query={"q": words, **({"where": query.where} if where else {})},
    )


def _place_to_search(visit: RequestContext, where: str) -> dict[str, int]:
    """Empty for everywhere. NotFound for what is nobody's, or somebody else's."""
    kind, number = where[:1], where[1:]
    if kind not in ("f", "c") or not number.isascii() or not number.isdigit() or len(number) > 18:
        return {}
    if kind == "f":
        if int(number) not in visit.sidebar.feeds:
            raise NotFound(verbatim(f"There is no feed {number}."))
        return {"feed_id": int(number)}
    if visit.sidebar.category(int(number)) is None:
        raise NotFound(verbatim(f"There is no category {number}."))
    return {"category_id": int(number)}


def _statuses(shows_all: bool) -> tuple[EntryStatus, ...]:
    return () if shows_all else (EntryStatus.UNREAD,)


def _as_sorted(user: User) -> dict[str, Any]:
    return {"order": Order(user.entry_sorting_order), "direction": Direction(user.entry_sorting_direction)}
