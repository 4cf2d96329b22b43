"""Entries: lists, single ones, and their state (spec/behaviour.md, section 8)."""

from __future__ import annotations

from typing import Annotated

import msgspec
from msgspec import Struct

from tidings.api.bodies import Int64
from tidings.api.enclosures import EnclosureOut, enclosure_out
from tidings.api.entry_queries import EntriesQuery, IdsQuery
from tidings.api.facts import Moment, Needed, one_of
from tidings.api.feeds import FeedOut, FeedShower
from tidings.api.mirror import Mirror
from tidings.api.moments import Zone, zone
from tidings.api.routes import Routes
from tidings.domain.entries import STATUS_BY_WORD, Enclosure, Entry, Status
from tidings.domain.errors import InvalidInput, NotFound
from tidings.domain.users import User
from tidings.services import Services
from tidings.services.entries import owned
from tidings.storage import categories, entry_lists, feeds
from tidings.storage.database import Read
from tidings.storage.entry_lists import EntryPage

routes = Routes("Entries")


class EntryOut(Struct, frozen=True):
    """content: cleaned HTML. reading_time: minutes. Moments are in the zone of the owner."""

    id: int
    user_id: int
    feed_id: int
    title: str
    url: str
    comments_url: str
    author: str
    language: str
    share_code: str
    starred: bool
    reading_time: int
    status: Annotated[str, one_of(STATUS_BY_WORD)]
    hash: str
    published_at: Moment
    created_at: Moment
    changed_at: Moment
    content: str
    tags: list[str]
    enclosures: list[EnclosureOut]
    feed: FeedOut


class EntryList(Struct, frozen=True):
    """total: of all matches, whatever the page."""

    total: int
    entries: list[EntryOut]


class EntryIds(Struct, frozen=True):
    total: int
    entry_ids: list[int]


class EntriesUpdate(Struct, frozen=True):
    """At least one of status and starred."""

    entry_ids: Needed[list[Int64]] = None
    status: Annotated[str | None, one_of(STATUS_BY_WORD)] = None
    starred: bool | None = None


_entry = Mirror(EntryOut, own=9)


def show_page(db: Read, caller: User, page: EntryPage) -> list[EntryOut]:
    embedded = FeedShower(db, caller).encoded(feeds.some(db, caller.id, {entry.feed_id for entry in page.entries}))
    clock = zone(caller.timezone)
    return [
        _show(
            entry,
            page.contents.get(entry.id, ""),
            page.enclosures.get(entry.id, []),
            embedded[entry.feed_id],
            clock,
        )
        for entry in page.entries
    ]


def _show(entry: Entry, content: str, attached: list[Enclosure], feed: msgspec.Raw, clock: Zone) -> EntryOut:
    return _entry(
        entry,
        Status(entry.status).word,
        entry.hash.hex(),
        clock.show(entry.published_at),
        clock.show(entry.created_at),
        clock.show(entry.changed_at),
        content,
        # Stored as JSON, shown as JSON: nobody has to look inside.
        msgspec.Raw(entry.tags.encode()),
        [enclosure_out(one) for one in attached],
        feed,
    )


def show_one(db: Read, caller: User, entry: Entry) -> EntryOut:
    return show_page(db, caller, entry_lists.with_bodies(db, [entry]))[0]


@routes.get("/v1/entries", raises=(InvalidInput,))
def list_entries(caller: User, services: Services, query: EntriesQuery) -> EntryList:
    """Entries of all feeds."""
    return _list(caller, services, query)


@routes.get("/v1/feeds/{feed_id}/entries", raises=(InvalidInput,))
def list_feed_entries(caller: User, services: Services, feed_id: int, query: EntriesQuery) -> EntryList:
    """Entries of one feed."""
    return _list(caller, services, query, feed_id=feed_id)


@routes.get("/v1/categories/{category_id}/entries", raises=(InvalidInput,))
def list_category_entries(caller: User, services: Services, category_id: int, query: EntriesQuery) -> EntryList:
    """Entries of the feeds of one category."""
    return _list(caller, services, query, category_id=category_id)


def _list(
    caller: User, services: Services, query: EntriesQuery, *, feed_id: int = 0, category_id: int = 0
) -> EntryList:
    """The place in the path and the one in the query must both hold; an unknown one is a 400 here by contract."""
    if query.search:
        services.search.catch_up(caller.id)
    with services.reading() as db:
        wanted_feeds = {one for one in (feed_id, query.feed_id or 0) if one}
        wanted_categories = {one for one in (category_id, query.category_id or 0) if one}
        _ensure_known(db, caller.id, wanted_feeds, wanted_categories)
        which, page = query.filter(), query.page()
        if len(wanted_feeds) > 1 or len(wanted_categories) > 1:
            return EntryList(0, [])
        which = msgspec.structs.replace(
            which, feed_id=next(iter(wanted_feeds), None), category_id=next(iter(wanted_categories), None)
        )
        found = entry_lists.page(db, caller.id, which, page)
        return EntryList(found.total, show_page(db, caller, found))


def _ensure_known(db: Read, user_id: int, feed_ids: set[int], category_ids: set[int]) -> None:
    for feed_id in feed_ids:
        if feeds.get(db, user_id, feed_id) is None:
            raise InvalidInput(f"There is no feed {feed_id}.", field="feed_id")
    for category_id in category_ids:
        if categories.get(db, user_id, category_id) is None:
            raise InvalidInput(f"There is no category {category_id}.", field="category_id")


@routes.get("/v1/entries/ids", raises=(InvalidInput,))
def list_entry_ids(caller: User, services: Services, query: IdsQuery) -> EntryIds:
    """Ids only, newest first; at most 10,000 at a time."""
    which, limit, offset = query.filter(), query.page_size(), query.offset or 0
    with services.reading() as db:
        return EntryIds(*entry_lists.ids(db, caller.id, which, limit=limit, offset=offset))


@routes.get("/v1/entries/{entry_id}", raises=(InvalidInput, NotFound))
def get_entry(caller: User, services: Services, entry_id: int) -> EntryOut:
    """One entry. Reading it does not mark it as read."""
    with services.reading() as db:
        return show_one(db, caller, owned(db, caller.id, entry_id))


@routes.get("/v1/feeds/{feed_id}/entries/{entry_id}", raises=(InvalidInput, NotFound))
def get_feed_entry(caller: User, services: Services, feed_id: int, entry_id: int) -> EntryOut:
    """One entry, if it is of that feed."""
    with services.reading() as db:
        entry = owned(db, caller.id, entry_id)
        if entry.feed_id != feed_id:
            raise NotFound(f"There is no entry {entry_id} in feed {feed_id}.")
        return show_one(db, caller, entry)


@routes.get("/v1/categories/{category_id}/entries/{entry_id}", raises=(InvalidInput, NotFound))
def get_category_entry(caller: User, services: Services, category_id: int, entry_id: int) -> EntryOut:
    """One entry, if it is of a feed in that category."""
    with services.reading() as db:
        entry = owned(db, caller.id, entry_id)
        if entry.category_id != category_id:
            raise NotFound(f"There is no entry {entry_id} in category {category_id}.")
        return show_one(db, caller, entry)


@routes.put("/v1/entries", status=204, raises=(InvalidInput,))
def update_entries(caller: User, services: Services, body: EntriesUpdate) -> None:
    """Set the status or the star of several entries at once. Ids that are not yours are passed over."""
    if not body.entry_ids:
        raise InvalidInput("entry_ids: at least one entry id is needed.", field="entry_ids")
    status = None
    if body.status:
        status = STATUS_BY_WORD.get(body.status)
        if status is None:
            raise InvalidInput(f"status: {body.status[:40]!r} is not read, unread or removed.", field="status")
    if status is None and body.starred is None:
        raise InvalidInput("Nothing to change: send status, starred, or both.", field="status")
    services.entries.update(caller.id, body.entry_ids, status=status, starred=body.starred)


@routes.put("/v1/entries/{entry_id}/bookmark", status=204, raises=(InvalidInput, NotFound))
@routes.put("/v1/entries/{entry_id}/star", status=204, raises=(InvalidInput, NotFound))
def toggle_star(caller: User, services: Services, entry_id: int) -> None:
    """Star an entry, or take its star away."""
    services.entries.toggle_star(caller.id, entry_id)
