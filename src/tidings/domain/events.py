"""What is told to others when something happened: bodies of webhooks (spec/behaviour.md, section 17.3)."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import msgspec
from msgspec import Struct

from tidings.domain.categories import Category
from tidings.domain.entries import Enclosure, Entry, Status
from tidings.domain.feeds import Feed
from tidings.domain.times import Instant

SAVE_ENTRY = "save_entry"

Show = Callable[[Instant], str]


class CategoryTold(Struct, frozen=True):
    id: int
    title: str


class FeedTold(Struct, frozen=True):
    """The few facts about a feed that concern a receiver: no credentials, no rules."""

    id: int
    user_id: int
    category_id: int
    category: CategoryTold
    feed_url: str
    site_url: str
    title: str
    checked_at: str


class EntryTold(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """feed: left out where the event has one for all its entries."""

    id: int
    user_id: int
    feed_id: int
    status: str
    hash: str
    title: str
    url: str
    comments_url: str
    published_at: str
    created_at: str
    changed_at: str
    content: str
    author: str
    share_code: str
    starred: bool
    reading_time: int
    enclosures: list[Enclosure]
    tags: msgspec.Raw
    feed: FeedTold | None = None


class SaveEntry(Struct, frozen=True):
    event_type: str
    entry: EntryTold


def save_entry(
    entry: Entry, content: str, enclosures: Sequence[Enclosure], feed: Feed, category: Category, *, show: Show
) -> bytes:
    """Somebody wants to keep this entry elsewhere.

    show: writes an instant in the zone of the user.
    """
    told = entry_told(entry, content, enclosures, feed_told(feed, category, show=show), show=show)
    return msgspec.json.encode(SaveEntry(SAVE_ENTRY, told))


def entry_told(
    entry: Entry, content: str, enclosures: Sequence[Enclosure], feed: FeedTold | None, *, show: Show
) -> EntryTold:
    return EntryTold(
        id=entry.id,
        user_id=entry.user_id,
        feed_id=entry.feed_id,
        status=Status(entry.status).word,
        hash=entry.hash.hex(),
        title=entry.title,
        url=entry.url,
        comments_url=entry.comments_url,
        published_at=show(entry.published_at),
        created_at=show(entry.created_at),
        changed_at=show(entry.changed_at),
        content=content,
        author=entry.author,
        share_code=entry.share_code,
        starred=bool(entry.starred),
        reading_time=entry.reading_time,
        enclosures=list(enclosures),
        tags=msgspec.Raw(entry.tags.encode()),
        feed=feed,
    )


def feed_told(feed: Feed, category: Category, *, show: Show) -> FeedTold:
    return FeedTold(
        id=feed.id,
        user_id=feed.user_id,
        category_id=category.id,
        category=CategoryTold(category.id, category.title),
        feed_url=feed.feed_url,
        site_url=feed.site_url,
        title=feed.title,
        checked_at=show(feed.checked_at),
    )
