"""What stands beside a list until an entry is opened: where unread entries are, or the facts of the list's feed."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from msgspec import Struct

from tidings.engine.database import Read
from tidings.storage.feeds import health
from tidings.web.context import RequestContext
from tidings.web.entry_list_pages import ListPage
from tidings.web.feed_rows import FeedRow, feed_rows

# Maximum number of categories or feeds that are named.
MAX_PLACES = 6


class Place(Struct, frozen=True):
    """A category or feed with unread entries."""

    path: str
    name: str
    key: str
    """The key of its count in /counts."""
    unread: int


class Overview(Struct, frozen=True):
    """What is said of a list."""

    places: list[Place] = []
    """Those with the most unread entries, the most first."""
    feed: FeedRow | None = None


def overview(db: Read, context: RequestContext, listing: ListPage) -> Overview:
    """Return what is said of a list: of Unread its categories, of a category its feeds, of a feed its health."""
    sidebar = context.sidebar
    if listing.name == "feed" and listing.feed_id:
        found = health.get_many(db, context.caller.id, [listing.feed_id], context.now)
        rows = feed_rows(db, context.caller.id, found, {}, {}, context.now)
        return Overview(feed=next(iter(rows), None))
    if listing.name == "category" and listing.category_id:
        feeds = sidebar.feeds_of([listing.category_id])[listing.category_id]
        return Overview(_most(Place(f"/feeds/{one.id}", one.title, f"f{one.id}", one.unread) for one in feeds))
    if listing.name == "unread":
        lines = [(line.category, line.unread) for line in sidebar.categories if line.depth == 1]
        return Overview(_most(Place(f"/categories/{one.id}", one.name, f"c{one.id}", unread) for one, unread in lines))
    return Overview()


def next_unread(context: RequestContext, listing: ListPage) -> Place | None:
    """Return the next feed with unread entries after a feed without, the next category after a category; else None.

    In the order of the sidebar, which begins again after its end.
    """
    lines = context.sidebar.categories
    if listing.name == "category":
        places = [Place(f"/categories/{one.category.id}", one.path, f"c{one.category.id}", one.unread) for one in lines]
        return _next(places, f"c{listing.category_id}")
    if listing.name == "feed":
        order = {line.category.id: place for place, line in enumerate(lines)}
        feeds = sorted(context.sidebar.feeds, key=lambda feed: order.get(feed.category_id, len(order)))
        places = [Place(f"/feeds/{one.id}", one.title, f"f{one.id}", one.unread) for one in feeds]
        return _next(places, f"f{listing.feed_id}")
    return None


def _next(places: Sequence[Place], key: str) -> Place | None:
    at = next((number for number, place in enumerate(places) if place.key == key), 0)
    return next((place for place in (*places[at + 1 :], *places[:at]) if place.unread), None)


def _most(places: Iterable[Place]) -> list[Place]:
    unread = sorted((place for place in places if place.unread), key=lambda place: -place.unread)
    return unread[:MAX_PLACES]
