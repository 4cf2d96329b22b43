"""Translates lists of entries in the JSON of Google Reader, which Google Takeout, Inoreader and FreshRSS write.

A stream is the document of one state or label. docs/moving.md says where the format was verified.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from datetime import datetime, timedelta
from typing import Any, Final

from msgspec import Struct, field

from tidings.archives.formats.json_items import JsonItems
from tidings.archives.formats.listed_items import ItemFeed, ListedItem, identity_of, moment, whole_number
from tidings.archives.records import ArchivedEnclosure, ArchivedEntry
from tidings.base.text import plain_line
from tidings.base.times import SECOND

# Google Reader and Inoreader show older entries as read, whether the user read them or not.
READ_AFTER: Final = timedelta(days=30)
# A category of an entry that the user or the reader gave; the others are tags of the publisher.
_OWN: Final = re.compile(r"user/[^/]*/(state|label|source)/(.+)", re.DOTALL)
_UNREAD: Final = frozenset({"com.google/unread", "com.google/kept-unread", "com.google/tracking-kept-unread"})
# What users of Google Reader did with an entry apart from reading and starring.
_DEEDS: Final = {"com.google/broadcast": "Shared", "com.google/like": "Liked", "com.google/created": "Note"}
_MAX_SIZE: Final = 2**63 - 1


class _Link(Struct):
    href: str = ""
    type: str | None = ""
    length: Any = 0


class _Text(Struct):
    content: str | None = ""


class _Origin(Struct, rename="camel"):
    stream_id: str | None = ""
    title: str | None = ""
    html_url: str | None = ""
    feed_url: str | None = ""


class _Item(Struct, rename="camel"):
    """An item as Google Reader and its successors export it. Times may be texts."""

    id: str = ""
    guid: str | None = ""
    """Sent by FreshRSS only."""
    title: str | None = ""
    author: str | None = ""
    published: Any = None
    updated: Any = None
    crawl_time_msec: Any = None
    timestamp_usec: Any = None
    categories: list[str] = []
    alternate: list[_Link] = []
    canonical: list[_Link] = []
    enclosure: list[_Link] = []
    content: _Text | None = None
    summary: _Text | None = None
    origin: _Origin = field(default_factory=_Origin)


class ReaderStreams:
    """The format of Google Reader's item files.

    now: entries that are neither read nor unread are read if they are old.
    """

    def __init__(self, now: datetime) -> None:
        self._now = now

    def items(self, chunks: Iterable[bytes]) -> Iterator[ListedItem] | None:
        """Return the items of a document, None if it is not a list of entries. Raises InvalidInput with the line."""
        document = JsonItems(chunks, "items")
        found = document.items_if_present(_Item)
        return None if found is None else (self._listed_item(item, document.header.get("id", "")) for item in found)

    def _listed_item(self, item: _Item, stream: str) -> ListedItem:
        states, labels, tags = _sorted((*item.categories, stream))
        url = next((link.href for link in (*item.alternate, *item.canonical) if link.href), "")
        added_at = moment(item.timestamp_usec, 1) or moment(item.crawl_time_msec, 1000)
        published_at = moment(item.published, SECOND) or moment(item.updated, SECOND) or added_at or self._now
        text = item.content or item.summary or _Text()
        entry = ArchivedEntry(
            feed=0,
            hash=identity_of(item.guid or "", url, item.id, item.title or ""),
            status="unread" if self._is_unread(states, added_at or published_at) else "read",
            starred="com.google/starred" in states,
            published_at=published_at,
            created_at=added_at,
            title=plain_line(item.title or "") or url,
            url=url,
            author=item.author or "",
            tags=tags,
            enclosures=[_enclosure(link) for link in item.enclosure if link.href],
            content=text.content or "",
        )
        deeds = (name for state, name in _DEEDS.items() if state in states)
        return ListedItem(_origin(item.origin), entry, (*labels, *deeds))

    def _is_unread(self, states: set[str], added_at: datetime) -> bool:
        if states & _UNREAD:
            return True
        return "com.google/read" not in states and added_at > self._now - READ_AFTER


def _sorted(categories: Iterable[str]) -> tuple[set[str], list[str], list[str]]:
    """Return states, labels and the publisher's tags."""
    states: set[str] = set()
    labels: list[str] = []
    tags: list[str] = []
    for category in categories:
        if found := _OWN.fullmatch(category):
            if found[1] == "label":
                labels.append(found[2].strip())
            else:
                states.add(found[2])
        elif category.strip() and not category.startswith(("user/", "feed/", "splice/")):
            tags.append(category.strip())
    return states, [label for label in labels if label], tags


def _origin(origin: _Origin) -> ItemFeed:
    stream = origin.stream_id or ""
    feed_url = origin.feed_url or (stream.removeprefix("feed/") if stream.startswith("feed/") else "")
    return ItemFeed(feed_url, plain_line(origin.title or ""), origin.html_url or "")


def _enclosure(link: _Link) -> ArchivedEnclosure:
    return ArchivedEnclosure(link.href, link.type or "", min(max(0, whole_number(link.length) or 0), _MAX_SIZE))
