"""Converts entries into items of the Google Reader API."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import lru_cache
from typing import Final

import msgspec
from msgspec import UNSET, Struct, UnsetType, structs

from tidings.base.times import SECOND
from tidings.domain.entries.entries import Enclosure, EntryStatus, Folded
from tidings.engine.database import Read
from tidings.greader import item_ids, streams
from tidings.greader.streams import LABEL, READ, READING_LIST, STARRED
from tidings.storage.entries import entry_lists, labels
from tidings.storage.entries.entry_lists import AppEntry
from tidings.storage.feeds import feeds
from tidings.storage.feeds.feeds import FeedOrigin

# newsboat stores times in 32 bits.
_LATEST_S: Final = 2**31 - 1
# Liferea reads the state of an entry from its first category only, and compares it with this.
_LIFEREA_READ: Final = r"user/-/state\/com.google\/read"


class ItemLink(Struct, frozen=True):
    href: str


class TypedLink(Struct, frozen=True):
    href: str
    type: str


class ItemEnclosure(Struct, frozen=True):
    """url: the same as href, as Miniflux names it. length: bytes, 0 when unknown."""

    href: str
    url: str
    type: str
    length: int


class Body(Struct, frozen=True):
    content: str


class Origin(Struct, frozen=True, rename="camel"):
    stream_id: str
    title: str
    html_url: str


class Item(Struct, frozen=True, rename="camel"):
    """crawl_time_msec, timestamp_usec: when it was stored. published, updated: Unix seconds within 32 bits.

    categories: states, the folders, labels, and the publisher's tags. marked: whether it is starred, for Liferea only.
    """

    id: str
    crawl_time_msec: str
    timestamp_usec: str
    published: int
    updated: int
    title: str
    author: str
    canonical: list[ItemLink]
    alternate: list[TypedLink]
    summary: Body
    categories: list[str]
    origin: Origin
    enclosure: list[ItemEnclosure]
    marked: bool | UnsetType = UNSET


@lru_cache(maxsize=256)
def _publisher_tags(tags: str) -> list[str]:
    """Return the publisher's own tags, except tags that an app would take for a state or a folder.

    tags: JSON. Entries of a feed often have the same ones.
    """
    own = msgspec.json.decode(tags, type=list[str])
    return [tag for tag in own if "/state/" not in tag and "/label/" not in tag]


def read(
    db: Read,
    user_id: int,
    entry_ids: Sequence[int],
    *,
    newest_first: bool,
    for_liferea: bool = False,
    folded_as: Folded = Folded.ALL,
) -> list[Item]:
    """Return the entries that belong to the user as items, sorted by id.

    for_liferea: include what Liferea 1 needs to take over what was read and starred elsewhere. folded_as: whether
    folded entries have the status of the entry that represents them, or are read.
    """
    entries = entry_lists.for_apps(db, user_id, entry_ids, folded_as=folded_as)
    entries.sort(key=lambda entry: entry.id, reverse=newest_first)
    with_enclosures = [entry.id for entry in entries if entry.has_enclosures]
    enclosures = entry_lists.enclosures_of(db, [user_id], with_enclosures) if with_enclosures else {}
    origins = feeds.origins(db, user_id, {entry.feed_id for entry in entries})
    labelled = _visible_labels(db, user_id, [entry.id for entry in entries if entry.has_labels])
    # A feed may have been deleted since its entries were read.
    items = [
        _item(entry, origin, enclosures.get(entry.id, ()), labelled.get(entry.id, ()))
        for entry in entries
        if (origin := origins.get(entry.feed_id)) is not None
    ]
    return [_for_liferea(item) for item in items] if for_liferea else items


def _for_liferea(item: Item) -> Item:
    read = [_LIFEREA_READ] if READ in item.categories else []
    return structs.replace(item, categories=[*read, *item.categories], marked=STARRED in item.categories)


def _visible_labels(db: Read, user_id: int, entry_ids: Sequence[int]) -> dict[int, list[str]]:
    """Return the names of labels by entry id, except labels that a folder hides."""
    given = labels.of_entries(db, user_id, entry_ids) if entry_ids else {}
    # The folders need not be read for entries without labels.
    visible = {label.id for label in streams.visible_labels(db, user_id)} if given else set()
    return {entry_id: [label.name for label in own if label.id in visible] for entry_id, own in given.items()}


def _item(entry: AppEntry, origin: FeedOrigin, enclosures: Iterable[Enclosure], label_names: Iterable[str]) -> Item:
    published = max(0, min(entry.published_at // SECOND, _LATEST_S))
    states = [READING_LIST, *(LABEL + title for title in (origin.category_title, *origin.further_titles))]
    if entry.status == EntryStatus.READ:
        states.append(READ)
    if entry.starred:
        states.append(STARRED)
    states += [LABEL + name for name in label_names]
    states += _publisher_tags(entry.tags)
    return Item(
        id=item_ids.long_form(entry.id),
        crawl_time_msec=str(entry.created_at // 1000),
        timestamp_usec=str(entry.created_at),
        published=published,
        updated=published,
        title=entry.title,
        author=entry.author,
        canonical=[ItemLink(entry.url)],
        alternate=[TypedLink(entry.url, "text/html")],
        summary=Body(entry.content or ""),
        categories=states,
        origin=Origin(f"feed/{entry.feed_id}", origin.title, origin.site_url),
        enclosure=[
            ItemEnclosure(enclosure.url, enclosure.url, enclosure.mime_type, enclosure.size) for enclosure in enclosures
        ],
    )
