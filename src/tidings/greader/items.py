"""Converts entries into items of the Google Reader API."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

import msgspec
from msgspec import Struct

from tidings.domain.entries.entries import Enclosure, Entry, EntryStatus
from tidings.domain.times import SECOND
from tidings.greader import item_ids
from tidings.greader.streams import LABEL, READ, READING_LIST, STARRED
from tidings.storage.engine.database import Read
from tidings.storage.entries.entry_lists import EntryPage
from tidings.storage.feeds import categories, feeds

# newsboat stores times in 32 bits.
_LATEST_S: Final = 2**31 - 1


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

    categories: states, the folder, and the publisher's tags.
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


class _FeedPart(Struct, frozen=True):
    """The members that all items of a feed share."""

    origin: Origin
    label: str


def _publisher_tags(entry: Entry) -> list[str]:
    """Returns the publisher's own tags, without those that an app would take for a state or a folder."""
    if entry.tags == "[]":
        return []
    tags = msgspec.json.decode(entry.tags.encode(), type=list[str])
    return [tag for tag in tags if "/state/" not in tag and "/label/" not in tag]


class ItemBuilder:
    """Builds items of one user in one view of the database."""

    def __init__(self, db: Read, user_id: int) -> None:
        self._db = db
        self._user_id = user_id
        self._titles = {category.id: category.title for category in categories.list_all(db, user_id)}
        self._feeds: dict[int, _FeedPart] = {}

    def items(self, page: EntryPage, *, newest_first: bool) -> list[Item]:
        rows = sorted(page.entries, key=lambda entry: entry.id, reverse=newest_first)
        self._look_up({entry.feed_id for entry in rows})
        # A feed may have been deleted since its entries were read.
        return [
            self._item(entry, page.contents.get(entry.id, ""), page.enclosures.get(entry.id, ()))
            for entry in rows
            if entry.feed_id in self._feeds
        ]

    def _look_up(self, feed_ids: set[int]) -> None:
        if missing := feed_ids - self._feeds.keys():
            for feed in feeds.get_many(self._db, self._user_id, missing):
                origin = Origin(f"feed/{feed.id}", feed.title, feed.site_url)
                self._feeds[feed.id] = _FeedPart(origin, LABEL + self._titles.get(feed.category_id, ""))

    def _item(self, entry: Entry, content: str, enclosures: Iterable[Enclosure]) -> Item:
        feed = self._feeds[entry.feed_id]
        published = max(0, min(entry.published_at // SECOND, _LATEST_S))
        states = [READING_LIST, feed.label]
        if entry.status == EntryStatus.READ:
            states.append(READ)
        if entry.starred:
            states.append(STARRED)
        states += _publisher_tags(entry)
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
            summary=Body(content),
            categories=states,
            origin=feed.origin,
            enclosure=[
                ItemEnclosure(enclosure.url, enclosure.url, enclosure.mime_type, enclosure.size)
                for enclosure in enclosures
            ],
        )
