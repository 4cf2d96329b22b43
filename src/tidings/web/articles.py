"""An entry to be read, in the list that it was found in."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec
from markupsafe import Markup
from msgspec import Struct

from tidings.domain.entries import Enclosure, Entry, Status
from tidings.domain.errors import NotFound
from tidings.domain.integrations import SAVE_TARGETS
from tidings.services.entries import owned
from tidings.storage import entry_lists, feeds, integrations
from tidings.storage.database import Read
from tidings.web import embeds, listings
from tidings.web.devices import CHOICES
from tidings.web.language import _
from tidings.web.listings import Listing, ListQuery
from tidings.web.routes import Routes
from tidings.web.rows import rows
from tidings.web.visits import Page, Visit

routes = Routes()

# Beside the article: so many before it in the list, and after it.
BEFORE, AFTER = 8, 30


class Attached(Struct, frozen=True):
    """kind: audio, video, image or file. name: the end of its address."""

    enclosure: Enclosure
    kind: str
    name: str


@routes.get("/unread/{entry_id}")
def read_unread(visit: Visit, query: ListQuery, entry_id: int) -> Page:
    entry = opened(visit, entry_id)
    return read(visit, listings.unread(visit, query), entry)


@routes.get("/starred/{entry_id}")
def read_starred(visit: Visit, query: ListQuery, entry_id: int) -> Page:
    entry = opened(visit, entry_id)
    return read(visit, listings.starred(visit, query), entry)


@routes.get("/history/{entry_id}")
def read_history(visit: Visit, query: ListQuery, entry_id: int) -> Page:
    entry = opened(visit, entry_id)
    return read(visit, listings.history(visit, query), entry)


@routes.get("/categories/{category_id}/entries/{entry_id}")
def read_in_category(visit: Visit, query: ListQuery, category_id: int, entry_id: int) -> Page:
    entry = opened(visit, entry_id, category_id=category_id)
    return read(visit, listings.category(visit, query, category_id), entry)


@routes.get("/feeds/{feed_id}/entries/{entry_id}")
def read_in_feed(visit: Visit, query: ListQuery, feed_id: int, entry_id: int) -> Page:
    entry = opened(visit, entry_id, feed_id=feed_id)
    return read(visit, listings.feed(visit, query, feed_id), entry)


@routes.get("/search/{entry_id}")
def read_found(visit: Visit, query: ListQuery, entry_id: int) -> Page:
    entry = opened(visit, entry_id)
    return read(visit, listings.search(visit, query), entry)


@routes.get("/entries/{entry_id}")
def read_entry(visit: Visit, entry_id: int) -> Page:
    """From wherever: it is shown in the list of its feed, all of it."""
    entry = opened(visit, entry_id)
    return read(visit, listings.feed(visit, ListQuery(show="all"), entry.feed_id), entry)


def opened(visit: Visit, entry_id: int, *, feed_id: int | None = None, category_id: int | None = None) -> Entry:
    """The entry, marked read if the user wants that and the browser does not merely look ahead.

    feed_id, category_id: where it has to be. NotFound. Counts are asked for after this.
    """
    user, services = visit.caller, visit.services
    with services.reading() as db:
        entry = owned(db, user.id, entry_id)
    if entry.feed_id != (feed_id or entry.feed_id) or entry.category_id != (category_id or entry.category_id):
        raise NotFound(f"Entry {entry_id} is somewhere else.")
    if entry.status != Status.UNREAD or not user.mark_read_on_view or _looks_ahead(visit):
        return entry
    services.entries.update(user.id, [entry.id], status=Status.READ)
    # In the order of changes its place is where it was opened, too.
    return msgspec.structs.replace(entry, status=int(Status.READ))


def read(visit: Visit, listing: Listing, entry: Entry) -> Page:
    with visit.services.reading() as db:
        return _page(db, visit, listing, entry)


def _page(db: Read, visit: Visit, listing: Listing, entry: Entry) -> Page:
    user = visit.caller
    whole = entry_lists.with_bodies(db, [entry])
    # What is put in place of another entry comes without the list that stands there already.
    is_split = visit.device.columns == "split" and not visit.is_part
    place = listing.place(entry)
    before = list(reversed(listing.rows(db, user, BEFORE if is_split else 1, place, backwards=True)))
    after = listing.rows(db, user, AFTER if is_split else 1, place)
    around = [*before, entry, *after] if is_split else []
    feed = visit.sidebar.feeds.get(entry.feed_id)
    return Page(
        "article.html",
        {
            "title": entry.title,
            "listing": listing,
            "entry": entry,
            "feed": feed,
            # Cleaned when it was stored: the only place where HTML of others is written as it is.
            "content": Markup(embeds.behind_a_click(whole.contents.get(entry.id, ""))),  # noqa: S704
            "attached": _all_attached(db, entry, whole.enclosures.get(entry.id, [])),
            "tags": msgspec.json.decode(entry.tags.encode(), type=list[str]),
            "rows": rows(db, visit, listing, around),
            "before": _url(visit, listing, before[-1] if before else None),
            "after": _url(visit, listing, after[0] if after else None),
            "can_save": bool(integrations.enabled(db, user.id, SAVE_TARGETS)),
            "is_read": entry.status == Status.READ,
            "more_url": _more_url(visit, listing, after) if len(after) == AFTER else "",
            "share_url": f"{visit.home.base_url}/share/{entry.share_code}" if entry.share_code else "",
            "choices": CHOICES,
        },
    )


def _more_url(visit: Visit, listing: Listing, after: list[Entry]) -> str:
    return visit.url(listing.path, after=listings.text_of(listing.place(after[-1])), **listing.query)


def _url(visit: Visit, listing: Listing, entry: Entry | None) -> str:
    return visit.url(listing.entry_path(entry.id), **listing.query) if entry else ""


def _looks_ahead(visit: Visit) -> bool:
    headers = visit.request.headers
    return visit.request.method == "HEAD" or "prefetch" in headers.get("sec-purpose", headers.get("purpose", ""))


def _all_attached(db: Read, entry: Entry, enclosures: Sequence[Enclosure]) -> list[Attached]:
    feed = feeds.get(db, entry.user_id, entry.feed_id) if enclosures else None
    shown = ("image",) if feed and feed.no_media_player else ("audio", "video", "image")
    return [_attached(one, shown) for one in enclosures]


def _attached(enclosure: Enclosure, shown: Sequence[str]) -> Attached:
    """shown: kinds that are more than a link."""
    kind = enclosure.mime_type.partition("/")[0]
    path = enclosure.url.partition("?")[0].rstrip("/")
    known = kind if kind in shown else "file"
    return Attached(enclosure, known, path.rpartition("/")[2] or _("Attachment"))
