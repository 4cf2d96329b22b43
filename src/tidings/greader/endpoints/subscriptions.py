"""Endpoints for subscriptions, unread counts and OPML."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from itertools import zip_longest
from typing import Final

from msgspec import UNSET, Struct, UnsetType, field
from starlette.responses import Response

from tidings.base.errors import InvalidInput, NotFound, TidingsError
from tidings.base.messages import verbatim
from tidings.base.text import normalize_for_search
from tidings.domain.accounts.users import User
from tidings.domain.entries.labels import LabelCounts
from tidings.domain.feeds import feed_changes
from tidings.domain.feeds.categories import Category, CategoryTree
from tidings.domain.feeds.feeds import Feed
from tidings.greader import streams
from tidings.greader.credentials import PublicUrl
from tidings.greader.streams import FEED, LABEL, READING_LIST, Stream
from tidings.http.binding import QueryOrForm
from tidings.http.endpoints import Conditional, Media, Routes
from tidings.http.requests import Request
from tidings.services import Services
from tidings.services.feeds.categories import check_title
from tidings.services.feeds.feeds import SubscriptionExists
from tidings.services.feeds.typed_urls import complete_url, reach
from tidings.storage.entries import entry_lists, folded, labels
from tidings.storage.feeds import categories, feeds, further_categories

# Maximum number of entries among which each feed's newest is searched.
_NEWEST: Final = 1_000
# Feeds to subscribe to in one request, each of which is looked for and fetched. Apps send one.
MAX_NEW: Final = 20
# Each title is written on its own. Apps send one.
MAX_TITLES: Final = 1_000

routes = Routes("Subscriptions")


class FolderOut(Struct, frozen=True):
    id: str
    label: str


class Subscription(Struct, frozen=True):
    """icon_url: "" while no icon is known: NewsFlash reads no list where it is absent.

    firstitemmsec: when the user subscribed.

    priority: main, or category for a feed that is hidden in lists of all feeds. The names are FreshRSS's.
    """

    id: str
    title: str
    categories: list[FolderOut]
    url: str
    html_url: str = field(name="htmlUrl")
    sortid: str
    firstitemmsec: str
    priority: str = field(name="frss:priority")
    icon_url: str = field(name="iconUrl")


class Subscriptions(Struct, frozen=True):
    subscriptions: list[Subscription]


class UnreadCount(Struct, frozen=True, rename="camel"):
    """newest_item_timestamp_usec: when the newest entry was stored, about the time if that is long ago."""

    id: str
    count: int
    newest_item_timestamp_usec: str


class UnreadCounts(Struct, frozen=True):
    max: int
    unreadcounts: list[UnreadCount]


class Edit(QueryOrForm, frozen=True):
    """ac: subscribe, unsubscribe or edit. s: feeds. t: titles, in the order of s. a, r: a label to add, to remove."""

    ac: str = ""
    s: tuple[str, ...] = ()
    t: tuple[str, ...] = ()
    a: str = ""
    r: str = ""


class QuickAdd(QueryOrForm, frozen=True):
    quickadd: str = ""


class AddedOut(Struct, frozen=True, rename="camel"):
    """The result of adding a URL. num_results: the number of new subscriptions, 0 or 1."""

    num_results: int
    query: str
    stream_id: str | UnsetType = UNSET
    stream_name: str | UnsetType = UNSET
    error: str | UnsetType = UNSET


@routes.get("/reader/api/0/subscription/list", conditional=Conditional.EXACT)
def list_subscriptions(caller: User, services: Services, site: PublicUrl) -> Subscriptions:
    """List all feeds with their folders."""
    with services.reading() as db:
        mine = feeds.list_all(db, caller.id)
        folders = categories.list_all(db, caller.id)
        further = further_categories.of_user(db, caller.id)
        icons = feeds.icon_names(db, caller.id)
    tree = CategoryTree(folders)
    hidden = {folder.id for folder in folders if tree.is_hidden(folder.id)}
    listed = []
    for feed in mine:
        # One that was deleted since the feed was read is left out.
        places = [place for one in _places(feed, further) if (place := tree.get(one)) is not None]
        is_hidden = hidden.issuperset(place.id for place in places)
        listed.append(_subscription(feed, places, is_hidden, icons.get(feed.id), site))
    return Subscriptions(listed)


def _places(feed: Feed, further: Mapping[int, Sequence[int]]) -> tuple[int, ...]:
    """Return the categories of a feed, the first one first. further: the others, by feed id."""
    return (feed.category_id, *further.get(feed.id, ()))


def _subscription(
    feed: Feed, folders: Sequence[Category], is_hidden: bool, icon: str | None, site: PublicUrl
) -> Subscription:
    """is_hidden: whether all folders are, by themselves or by ones above them."""
    return Subscription(
        id=f"{FEED}{feed.id}",
        title=feed.title,
        categories=[FolderOut(id=LABEL + folder.title, label=folder.title) for folder in folders],
        url=feed.feed_url,
        html_url=feed.site_url,
        sortid=f"{feed.id:08X}",
        firstitemmsec=str(feed.created_at // 1000),
        priority="category" if feed.hide_globally or is_hidden else "main",
        icon_url=f"{site.text}/feed-icon/{icon}" if icon else "",
    )


@routes.get("/reader/api/0/unread-count", conditional=Conditional.EXACT)
def count_unread(caller: User, services: Services) -> UnreadCounts:
    """Count the unread entries of each feed, folder, label and view, and in total.

    Clients poll it to find new entries.
    """
    counted = services.entries.view_counter.count(caller, in_apps=True).views
    with services.reading() as db:
        unread = {feed.feed_id: feed.unread for feed in folded.counters_for_apps(db, caller)}
        mine = feeds.list_all(db, caller.id)
        tree = CategoryTree(categories.list_all(db, caller.id))
        further = further_categories.of_user(db, caller.id)
        own = streams.visible_labels(db, caller.id)
        of_labels = labels.counts(db, caller.id, [label.id for label in own])
        views = streams.visible_views(db, caller.id, [view for view, _ in counted])
        newest = entry_lists.newest_by_feed(db, caller.id, _NEWEST)
    parts: dict[str, tuple[int, int]] = {}
    for feed in mine:
        # Exact for feeds with recent entries. For others an approximate time of the last entry is enough.
        at = newest.get(feed.id) or max(feed.news_at or 0, feed.created_at)
        # Each once, even if several are below it.
        folders = {LABEL + folder.title: True for one in _places(feed, further) for folder in tree.line(one)}
        for stream in (f"{FEED}{feed.id}", *folders, READING_LIST):
            count, latest = parts.get(stream, (0, 0))
            parts[stream] = count + unread.get(feed.id, 0), max(latest, at)
    parts.setdefault(READING_LIST, (0, 0))
    newest_of_all = parts[READING_LIST][1]
    for label in own:
        parts[LABEL + label.name] = of_labels.get(label.id, LabelCounts()).unread, newest_of_all
    for view, number in counted:
        if view in views:
            parts[LABEL + view.name] = number.number if number else 0, newest_of_all
    counts = [
        UnreadCount(id=stream, count=count, newest_item_timestamp_usec=str(at)) for stream, (count, at) in parts.items()
    ]
    return UnreadCounts(max=parts[READING_LIST][0], unreadcounts=counts)


@routes.post("/reader/api/0/subscription/edit")
async def edit_subscription(caller: User, services: Services, query: Edit) -> str:
    """Subscribe, unsubscribe, rename, or move to a folder. Subscribing again is not an error.

    With a, a feed moves from the folder r, or else from its first one, and stays in others. With r alone it is taken
    out of that folder; if it is in no other one, it goes to the first of all.

    What is sent is checked before the first change, so that a mistake changes nothing. Without a feed, edit makes the
    folder that is to be added: Twine does that.
    """
    if query.ac not in ("subscribe", "unsubscribe", "edit"):
        raise InvalidInput(verbatim("ac: send subscribe, unsubscribe or edit."), field="ac")
    named = await asyncio.to_thread(_named_feeds, services, caller.id, query)
    added = {(await _subscribe(caller, services, address))[0]: title for address, title in named.new.items()}
    await asyncio.to_thread(_apply, services, caller.id, query, named.known | added)
    return "OK"


class NamedFeeds(Struct, frozen=True):
    """The feeds of a request with their new titles, "" to keep one: known ones by id, others by their address."""

    known: dict[int, str]
    new: dict[str, str]


def _named_feeds(services: Services, user_id: int, query: Edit) -> NamedFeeds:
    """Return the feeds of a request. Of several titles of a feed the last wins.

    Raises InvalidInput and NotFound for anything in the request that cannot be carried out.
    """
    titles = _titles(query)
    makes_folder = query.ac == "edit" and query.a != ""
    if not titles and not makes_folder:
        raise InvalidInput(verbatim("s: send a feed."), field="s")
    with services.reading() as db:
        if query.a:
            check_title(db, user_id, streams.label_name(query.a))
        elif query.r:
            streams.label_name(query.r)
        ids = streams.feed_ids(db, user_id, list(titles))
    known = {feed_id: titles[stream] for stream, feed_id in ids.items() if feed_id is not None}
    missing = [stream for stream, feed_id in ids.items() if feed_id is None]
    if any(query.ac != "subscribe" or stream.name.isdigit() for stream in missing):
        raise NotFound(verbatim("There is no such feed."))
    if len(missing) > MAX_NEW:
        raise InvalidInput(
            verbatim(f"s: subscribe to {MAX_NEW} feeds at most in one request, or import an OPML document."), field="s"
        )
    return NamedFeeds(known, {stream.name: titles[stream] for stream in missing})


def _titles(query: Edit) -> dict[Stream, str]:
    """Return the feeds that are named with their new titles, "" to keep one. Raises InvalidInput."""
    titles: dict[Stream, str] = {}
    for text, title in zip_longest(query.s, query.t[: len(query.s)], fillvalue=""):
        if not text.strip():
            continue
        stream = streams.parse(text)
        if stream.kind != "feed":
            raise InvalidInput(verbatim("s: send a feed, as feed/ with its number or address."), field="s")
        titles[stream] = title.strip() or titles.get(stream, "")
    for title in filter(None, titles.values()):
        feed_changes.validate({"title": title})
    if sum(map(bool, titles.values())) > MAX_TITLES:
        raise InvalidInput(verbatim(f"t: send {MAX_TITLES:,} titles at most in one request."), field="t")
    return titles


def _apply(services: Services, user_id: int, query: Edit, titles: dict[int, str]) -> None:
    """Unsubscribe from feeds, or change them. titles: by feed id, "" to keep it."""
    if query.ac == "unsubscribe":
        services.feeds.bulk.delete(user_id, list(titles))
        return
    moves = _moves(services, user_id, query, list(titles))
    for feed_id, title in titles.items():
        if title:
            move = {"category_ids": moves[feed_id]} if feed_id in moves else {}
            services.feeds.subscriptions.update(user_id, feed_id, {"title": title} | move)
    services.feeds.bulk.set_categories(user_id, {feed_id: ids for feed_id, ids in moves.items() if not titles[feed_id]})


def _moves(services: Services, user_id: int, query: Edit, feed_ids: list[int]) -> dict[int, list[int]]:
    """Return the categories of the feeds that move, by feed id, the first one first.

    A feed that is removed from its only folder goes to the first, because each feed must be in one. It stays if it is
    not in that folder, which may be gone: an app repeats a request whose answer it did not get.
    """
    if not query.a and not query.r:
        return {}
    to = services.feeds.categories.ensure(user_id, streams.label_name(query.a)) if query.a else None
    with services.reading() as db:
        key = normalize_for_search(streams.label_name(query.r)) if query.r else None
        left = None if key is None else categories.by_key(db, user_id, key)
        fallback = to or categories.first(db, user_id)
        further = further_categories.of_feeds(db, user_id, feed_ids)
        mine = {feed.id: _places(feed, further) for feed in feeds.get_many(db, user_id, feed_ids)}
    if fallback is None:
        return {}
    to_id, left_id = (None if one is None else one.id for one in (to, left))
    moved = {feed_id: _moved(list(places), to_id, left_id) or [fallback.id] for feed_id, places in mine.items()}
    return {feed_id: ids for feed_id, ids in moved.items() if tuple(ids) != mine[feed_id]}


def _moved(places: list[int], to: int | None, left: int | None) -> list[int]:
    """Return the categories of a feed after it was moved. to: where; None for out of the other alone.

    left: where from. Unless the feed is in that one it leaves its first, which apps with one folder for each feed show.
    """
    if to is None:
        return [one for one in places if one != left]
    if to in places and left is not None:
        return [one for one in places if one != left or one == to]
    at = places.index(left) if left in places else 0
    return list(dict.fromkeys([*places[:at], to, *places[at + 1 :]]))


@routes.post("/reader/api/0/subscription/quickadd")
async def add_quickly(caller: User, services: Services, query: QuickAdd) -> AddedOut:
    """Subscribe to a feed, or to the first feed of a page. `error` says why that failed."""
    typed = query.quickadd.strip()
    try:
        feed_id, is_new = await _subscribe(caller, services, typed.removeprefix(FEED))
    except TidingsError as error:
        return AddedOut(num_results=0, query=typed, error=error.message)
    feed = await asyncio.to_thread(_feed, services, caller.id, feed_id)
    if feed is None:
        return AddedOut(num_results=0, query=typed, error="The feed was removed at this moment.")
    if not is_new:
        # Capy Reader and NetNewsWire search for these words.
        return AddedOut(num_results=0, query=typed, error=f"Already subscribed! {feed.feed_url}")
    return AddedOut(num_results=1, query=typed, stream_id=f"{FEED}{feed.id}", stream_name=feed.title)


async def _subscribe(caller: User, services: Services, address: str) -> tuple[int, bool]:
    """Return the id of the feed, and whether it is new. Raises InvalidInput, NotFound or FetchError."""
    known = await asyncio.to_thread(_known, services, caller.id, complete_url(address))
    if known is not None:
        return known, False

    async def find_and_create(url: str) -> tuple[int, bool]:
        try:
            found = await services.feeds.discovery.find_main(caller.id, url)
            return await services.feeds.subscriptions.create(caller, {"feed_url": found.url}), True
        except SubscriptionExists as error:
            return error.feed_id, False

    return await reach(address, find_and_create)


def _feed(services: Services, user_id: int, feed_id: int) -> Feed | None:
    with services.reading() as db:
        return feeds.get(db, user_id, feed_id)


def _known(services: Services, user_id: int, url: str) -> int | None:
    with services.reading() as db:
        return feeds.id_by_url(db, user_id, url)


@routes.get("/reader/api/0/subscription/export", conditional=Conditional.EXACT)
def export_subscriptions(caller: User, services: Services) -> Response:
    """Export all feeds as OPML."""
    attached = {"Content-Disposition": 'attachment; filename="subscriptions.opml"'}
    return Response(services.feeds.opml.export(caller.id), 200, attached, "text/xml; charset=utf-8")


@routes.post("/reader/api/0/subscription/import", request_bodies=(Media("text/xml"),))
def import_subscriptions(caller: User, services: Services, request: Request) -> str:
    """Subscribe to the feeds of an OPML document, which is the body."""
    return f"OK: {services.feeds.opml.import_(caller.id, request.content).message}"
