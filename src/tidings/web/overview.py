"""What stands beside a list until an entry is opened: where unread entries are, or the facts of the list's feed."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from msgspec import Struct

from tidings.engine.database import Read
from tidings.storage.entries import labels
from tidings.storage.feeds import health
from tidings.web.context import RequestContext
from tidings.web.entry_list_pages import ListPage
from tidings.web.feed_rows import FeedRow, feed_rows
from tidings.web.language import _

# Maximum number of categories or feeds that are named.
MAX_PLACES = 6


class Place(Struct, frozen=True):
    """A list with unread entries."""

    path: str
    name: str
    key: str
    """The key of its count in /counts; "" for a label, which has none."""
    unread: int
    """Of a label 1 if it has any."""


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


def next_unread(db: Read, context: RequestContext, listing: ListPage, *, has_rows: bool) -> Place | None:
    """Return where to go on after a list without unread entries; None if it has some, or if nothing else has.

    This is the next list of its kind, in the order of the sidebar, which begins again after its end; after Unread, the
    first view, label or category. After an empty list that is the only one of its kind with something to read, it is
    Unread.
    has_rows: whether the list shows entries. Of lists that do, only those of feeds, categories, labels and views lead
    on: the others are kept to find things again.
    """
    sidebar = context.sidebar
    match listing.name:
        case "unread":
            places = [*_views(context), *_labels(db, context), *_categories(context)]
        case "view":
            places = _views(context)
        case "label":
            places = _labels(db, context)
        case "category":
            places = _categories(context)
        case "feed":
            order = {line.category.id: place for place, line in enumerate(sidebar.categories)}
            feeds = sorted(sidebar.feeds, key=lambda feed: order.get(feed.category_id, len(order)))
            places = [Place(f"/feeds/{one.id}", one.title, f"f{one.id}", one.unread) for one in feeds]
        case _:
            places = []
    found = _next(places, listing.path)
    if found or has_rows or listing.name == "unread" or not sidebar.unread:
        return found
    return Place("/unread", _("Unread"), "unread", sidebar.unread)


def _views(context: RequestContext) -> list[Place]:
    counted = context.sidebar.views
    if counted.is_old:
        counted = context.services.entries.view_counter.count(context.caller)
    return [Place(view.path, view.name, view.key, unread.number if unread else 0) for view, unread in counted.views]


def _labels(db: Read, context: RequestContext) -> list[Place]:
    unread = labels.with_unread(db, context.caller.id) if context.sidebar.labels else ()
    return [Place(f"/labels/{one.id}", one.name, "", int(one.id in unread)) for one in context.sidebar.labels]


def _categories(context: RequestContext) -> list[Place]:
    lines = context.sidebar.categories
    return [Place(f"/categories/{one.category.id}", one.path, f"c{one.category.id}", one.unread) for one in lines]


def _next(places: Sequence[Place], path: str) -> Place | None:
    """Return the first place with unread entries after the one with a path; None if that has some itself."""
    at = next((number for number, place in enumerate(places) if place.path == path), -1)
    if at >= 0 and places[at].unread:
        return None
    return next((place for place in (*places[at + 1 :], *places[: max(at, 0)]) if place.unread), None)


def _most(places: Iterable[Place]) -> list[Place]:
    unread = sorted((place for place in places if place.unread), key=lambda place: -place.unread)
    return unread[:MAX_PLACES]
