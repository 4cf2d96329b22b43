"""Queries of the Fever API: each adds its members to the response."""

from __future__ import annotations

import base64
import heapq
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from itertools import islice
from typing import Any

from msgspec import structs

from tidings.base.times import SECOND, Instant
from tidings.domain.accounts.users import User
from tidings.domain.entries.entries import Direction, EntryFilter, EntryStatus, Folded
from tidings.domain.feeds.categories import CategoryTree
from tidings.domain.feeds.feeds import Feed
from tidings.engine.database import Read
from tidings.engine.statements import split_ids
from tidings.fever.parameters import Parameters
from tidings.fever.wire import Favicon, FeedsOfGroup, FeverFeed, FeverGroup, FeverItem, FeverResponse
from tidings.services import Services
from tidings.storage.entries import entry_lists, folded
from tidings.storage.entries.entry_lists import AppEntry
from tidings.storage.feeds import categories, feeds, further_categories, icons

# Clients repeat a query until its page is empty; all of them expect this size.
PAGE_SIZE = 50
MAX_IDS = 1_000
# Maximum number of merged lists of feeds or groups; known clients do not send more than one.
MAX_LISTS = 100
# Clients store times in 32 bits.
_LATEST_S = 2**31 - 1


def answer(parameters: Parameters, user: User, services: Services) -> FeverResponse:
    """Return the response with the members of every query. Raises InvalidInput if a parameter is not a number."""
    with services.reading() as db:
        found = _found(parameters, db, user, services)
        last_check = feeds.last_check(db, user.id)
    return FeverResponse(auth=1, last_refreshed_on_time=_seconds(last_check or Instant(0)), **found)


def _found(parameters: Parameters, db: Read, user: User, services: Services) -> dict[str, Any]:
    found: dict[str, Any] = {}
    user_id, folded_as = user.id, Folded.for_apps(user)
    folders = categories.list_all(db, user_id) if "groups" in parameters or "feeds" in parameters else []
    if "groups" in parameters:
        found["groups"] = [FeverGroup(id=category.id, title=category.title) for category in folders]
    if "groups" in parameters or "feeds" in parameters:
        subscriptions = feeds.list_all(db, user_id)
        further = further_categories.of_user(db, user_id)
        found["feeds_groups"] = _feeds_of_groups(subscriptions, CategoryTree(folders), further)
        if "feeds" in parameters:
            found["feeds"] = [_feed(feed) for feed in sorted(subscriptions, key=lambda feed: feed.id)]
    if "favicons" in parameters:
        found["favicons"] = [
            Favicon(id=icon.id, data=f"{icon.mime_type};base64,{base64.b64encode(icon.content).decode()}")
            for icon in icons.list_all(db, user_id)
        ]
    if "items" in parameters:
        page_entries = _entries_of(parameters, db, user_id, folded_as)
        found["items"] = [_item(entry) for entry in page_entries]
        found["total_items"] = entry_lists.total(db, user_id, EntryFilter(folded=folded_as))
    if "links" in parameters:
        found["links"] = []
    if "unread_item_ids" in parameters:
        also = folded.joined_unread_ids(db, user_id) if folded_as is Folded.ALL else ""
        found["unread_item_ids"] = ",".join(filter(None, (services.entries.unread_ids.joined(db, user_id), also)))
    if "saved_item_ids" in parameters:
        found["saved_item_ids"] = entry_lists.joined_ids(db, user_id, EntryFilter(starred=True))
    return found


def _entries_of(parameters: Parameters, db: Read, user_id: int, folded_as: Folded) -> list[AppEntry]:
    """Return the entries of `with_ids`, or a page: below max_id descending, otherwise above since_id ascending."""
    direction, ids = Direction.DESC, parameters.ids("with_ids", MAX_IDS)
    if "with_ids" not in parameters or _are_next(ids):
        since_id, max_id = (ids[0] - 1, None) if ids else (parameters.number("since_id"), parameters.number("max_id"))
        direction = Direction.ASC if max_id is None else Direction.DESC
        entry_filter = EntryFilter(
            after_entry_id=since_id if since_id and since_id > 0 else None,
            # 0 means from the newest on.
            before_entry_id=max_id if max_id and max_id > 0 else None,
            folded=folded_as,
        )
        pages = [
            split_ids(entry_lists.id_page(db, user_id, filter_, direction=direction, limit=PAGE_SIZE))
            for filter_ in _filters(parameters, entry_filter)
        ]
        # An entry may be in several groups: one may be below another.
        merged = dict.fromkeys(heapq.merge(*pages, reverse=direction is Direction.DESC))
        ids = list(islice(merged, PAGE_SIZE))
    listed = entry_lists.for_apps(db, user_id, ids, folded_as=folded_as)
    return sorted(listed, key=lambda entry: entry.id, reverse=direction is Direction.DESC)


def _are_next(ids: Sequence[int]) -> bool:
    """Return whether a client asks for the next entries: as many numbers as a page has, one after the other.

    elfeed-protocol does so from its highest id on, and never asks for later ones if none of them is an
    entry of the user. Others may have that many in between.
    """
    return len(ids) == PAGE_SIZE and all(number == ids[0] + place for place, number in enumerate(ids))


def _filters(parameters: Parameters, entry_filter: EntryFilter) -> list[EntryFilter]:
    """Return a filter for each list to merge: one, unless the request names feeds or groups."""
    if "feed_ids" in parameters:
        return [structs.replace(entry_filter, feed_id=feed_id) for feed_id in _unique(parameters, "feed_ids")]
    if "group_ids" in parameters:
        # Group 0 stands for all feeds.
        return [
            structs.replace(entry_filter, category_id=category_id) if category_id else entry_filter
            for category_id in _unique(parameters, "group_ids")
        ]
    return [entry_filter]


def _unique(parameters: Parameters, name: str) -> list[int]:
    found = sorted(set(parameters.ids(name, MAX_LISTS)))
    return [0] if name == "group_ids" and 0 in found else found


def _feeds_of_groups(
    subscriptions: Iterable[Feed], tree: CategoryTree, further: Mapping[int, Sequence[int]]
) -> list[FeedsOfGroup]:
    """Return the feeds of each category, with those of the categories below it. further: categories by feed id."""
    groups: defaultdict[int, list[int]] = defaultdict(list)
    for feed in subscriptions:
        for category_id in tree.with_above((feed.category_id, *further.get(feed.id, ()))):
            groups[category_id].append(feed.id)
    return [
        FeedsOfGroup(group_id=group, feed_ids=",".join(map(str, sorted(ids)))) for group, ids in sorted(groups.items())
    ]


def _feed(feed: Feed) -> FeverFeed:
    return FeverFeed(
        id=feed.id,
        favicon_id=feed.icon_id or 0,
        title=feed.title,
        url=feed.feed_url,
        site_url=feed.site_url,
        last_updated_on_time=_seconds(feed.checked_at),
    )


def _item(entry: AppEntry) -> FeverItem:
    return FeverItem(
        id=entry.id,
        feed_id=entry.feed_id,
        title=entry.title,
        author=entry.author,
        html=entry.content or "",
        url=entry.url,
        is_saved=int(entry.starred),
        is_read=int(entry.status == EntryStatus.READ),
        created_on_time=_seconds(entry.published_at),
    )


def _seconds(moment: Instant) -> int:
    return max(0, min(moment // SECOND, _LATEST_S))
