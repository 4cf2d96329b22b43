"""Turns the items in export files of other readers, which name the feed they come from, into feeds and entries."""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import datetime
from hashlib import sha256
from typing import Any

import msgspec
from msgspec import Struct

from tidings.archives.records import ArchivedCategory, ArchivedEntry, ArchivedFeed
from tidings.base.errors import InvalidInput
from tidings.base.text import normalize_for_search
from tidings.base.times import LATEST, Instant, to_datetime
from tidings.domain.feeds import feed_changes
from tidings.domain.feeds.feeds import EditedFeedField
from tidings.domain.feeds.opml import OpmlDocument

# Attributes of an outline that are columns of a feed, but not settings.
_DESCRIBING = frozenset({"feed_url", "site_url", "title", "description", "edited"})
# Kinds of outlines whose feed is a document; other readers extract entries from web pages as well.
_DOCUMENTS = frozenset({"", "rss", "rss1", "rss2", "atom", "rdf", "jsonfeed", "json", "link"})


class ItemFeed(Struct, frozen=True):
    """The feed of an item."""

    feed_url: str = ""
    """Empty if the file does not name it."""
    title: str = ""
    site_url: str = ""


class ListedItem(Struct, frozen=True):
    """An item of an export, as an entry of the archive."""

    origin: ItemFeed
    entry: ArchivedEntry
    """With 0 as the number of its feed."""
    labels: tuple[str, ...] = ()
    """Labels that the user gave; these may be names of the feed's folders."""


class FeedList:
    """The feeds of an export: the ones in its OPML file, and the ones that only items name.

    The latter are disabled: the user kept an entry of such a feed, but is not subscribed to it.
    """

    def __init__(self, application: str) -> None:
        self._application = application
        self._feeds: dict[str, ArchivedFeed] = {}
        self._folders: dict[str, set[str]] = {}
        self._paths: dict[str, list[str]] = {}

    def add_subscriptions(self, document: OpmlDocument) -> None:
        for subscription in document.subscriptions:
            values = subscription.values
            url = values["feed_url"]
            self._paths.setdefault(subscription.category, list(subscription.folders))
            self._folders.setdefault(url, set()).update(map(normalize_for_search, subscription.folders))
            if (known := self._feeds.get(url)) is not None:
                # In several folders.
                titles = dict.fromkeys([*known.further_categories, subscription.category])
                others = [title for title in titles if title and title != known.category]
                self._feeds[url] = msgspec.structs.replace(known, further_categories=others)
                continue
            settings = {name: value for name, value in values.items() if name not in _DESCRIBING}
            if subscription.kind not in _DOCUMENTS:
                settings["disabled"] = True
            self._feeds[url] = ArchivedFeed(
                number=len(self._feeds) + 1,
                category=subscription.category,
                feed_url=url,
                site_url=values["site_url"],
                title=values["title"],
                description=values.get("description", ""),
                edited=values["edited"],
                settings=settings,
            )

    def add_origin(self, origin: ItemFeed) -> None:
        if (url := _url_of(origin)) not in self._feeds:
            number = len(self._feeds) + 1
            self._feeds[url] = _unsubscribed(origin, number) if url else unnamed_feed(self._application, number)

    def categories(self) -> list[ArchivedCategory]:
        """Return the categories of the OPML files: folders in folders are a tree."""
        return [ArchivedCategory(title, path=path) for title, path in self._paths.items() if title]

    def feeds(self) -> list[ArchivedFeed]:
        return list(self._feeds.values())

    def entry_of(self, item: ListedItem) -> ArchivedEntry:
        """Return the entry of an item, with its labels. Its origin was added."""
        url = _url_of(item.origin)
        folders = self._folders.get(url, ())
        labels = [label for label in dict.fromkeys(item.labels) if normalize_for_search(label) not in folders]
        return msgspec.structs.replace(
            item.entry,
            feed=self._feeds[url].number,
            labels=labels,
        )


class NewItems:
    """Leaves out items that were there before: files of one export overlap. 8 bytes of a hash identify an item."""

    def __init__(self) -> None:
        self._known: set[int] = set()

    def take(self, entry: ArchivedEntry) -> Iterator[ArchivedEntry]:
        """Yield the entry if it is new."""
        key = int.from_bytes(sha256(f"{entry.feed} {entry.hash}".encode()).digest()[:8], "big")
        if key not in self._known:
            self._known.add(key)
            yield entry


def identity_of(*candidates: str) -> str:
    """Return the hash of an entry from its id at the publisher, else its URL, else whatever else identifies it."""
    identity = next((text for text in candidates if text), "")
    return sha256(identity.encode("utf-8", "replace")).hexdigest()


def moment(value: Any, unit: int) -> datetime | None:
    """Return a time after 1970, None for any other value. value: a number, or one as text. unit: in microseconds."""
    number = whole_number(value)
    if number is None or not 0 < number * unit <= LATEST:
        return None
    return to_datetime(Instant(number * unit))


def whole_number(value: Any) -> int | None:
    """Return a number, which may be a text of up to 20 digits; None for any other value."""
    if isinstance(value, str) and re.fullmatch("[0-9]{1,20}", value):
        return int(value)
    return value if isinstance(value, int) and not isinstance(value, bool) else None


def _url_of(origin: ItemFeed) -> str:
    """Return the URL of the feed as it is stored, "" if it does not have a usable one."""
    try:
        values = feed_changes.validate({"feed_url": feed_changes.normalize_scheme(origin.feed_url)})
    except InvalidInput:
        return ""
    return str(values["feed_url"])


def _unsubscribed(origin: ItemFeed, number: int) -> ArchivedFeed:
    return ArchivedFeed(
        number=number,
        category="",
        feed_url=origin.feed_url,
        site_url=origin.site_url,
        title=origin.title[: feed_changes.MAX_TEXT].strip(),
        settings={"disabled": True},
    )


def unnamed_feed(application: str, number: int) -> ArchivedFeed:
    """Return the feed of items that do not name one. It is never fetched, and its entries are kept."""
    name = application.lower().replace(" ", "-")
    return ArchivedFeed(
        number=number,
        category="",
        # A name that never exists (RFC 6761), should the user enable the feed.
        feed_url=f"https://{name}.invalid/saved",
        title=application,
        edited=EditedFeedField.TITLE,
        settings={"disabled": True, "keep_read_days": -1, "keep_unread_days": -1},
    )
