"""The feeds of a user with their counts, and the counts of categories, for the sidebar of every page."""

from __future__ import annotations

from collections.abc import Collection

from msgspec import Struct
from sqlalchemy import bindparam, case, func, literal_column, select

from tidings.engine import full_text
from tidings.engine.database import Read
from tidings.engine.statements import in_list
from tidings.storage.entries.counters import counted_feeds
from tidings.storage.feeds.further_categories import select_feeds_in
from tidings.storage.schema import entries, feed_counters, feeds


class SidebarFeed(Struct, frozen=True):
    """A feed in the sidebar."""

    id: int
    category_id: int
    title: str
    icon_id: int | None
    hide_globally: bool
    disabled: bool
    error_count: int
    """Failed checks in a row that were caused by the feed or its server."""
    unread: int
    read: int
    starred: int


class SidebarCounts(Struct, frozen=True):
    """The numbers that the sidebar shows next to a category.

    unread, visible_unread, read and starred are numbers of entries.
    """

    category_id: int
    feeds: int = 0
    """Number of feeds."""
    unread_feeds: int = 0
    """Number of feeds with unread entries."""
    unread: int = 0
    visible_unread: int = 0
    """Unread entries that are not hidden, of feeds that are not; only of those for which it is the first category."""
    read: int = 0
    starred: int = 0

    def with_feed(self, feed: SidebarFeed) -> SidebarCounts:
        """Return the counts with those of one more feed."""
        return SidebarCounts(
            self.category_id,
            self.feeds + 1,
            self.unread_feeds + (feed.unread > 0),
            self.unread + feed.unread,
            self.visible_unread,
            self.read + feed.read,
            self.starred + feed.starred,
        )


_starred = feed_counters.c.starred_unread + feed_counters.c.starred_read
_of_user = feeds.c.user_id == bindparam("user")
_columns = (
    feeds.c.id,
    feeds.c.category_id,
    feeds.c.title,
    feeds.c.icon_id,
    feeds.c.hide_globally,
    feeds.c.disabled,
    feeds.c.parsing_error_count.label("error_count"),
    feed_counters.c.unread,
    feed_counters.c.read,
    _starred.label("starred"),
)
_select = select(*_columns).select_from(counted_feeds).where(_of_user).order_by(feeds.c.title_key, feeds.c.id)
_in_first = feeds.alias("in_first")
_with_first = select(_in_first.c.id).where(
    _in_first.c.user_id == bindparam("user"), in_list(_in_first.c.category_id, "categories")
)
# SQLite would look at all feeds of the user instead of those of a few categories.
_select_in_categories = (
    select(*_columns)
    .select_from(counted_feeds)
    .where(
        full_text.without_index(feeds.c.user_id) == bindparam("user"),
        feeds.c.id.in_(_with_first.union_all(select_feeds_in("categories"))),
    )
    .order_by(feeds.c.title_key, feeds.c.id)
)
_select_listed = _select.where(in_list(feeds.c.id, "ids"))
_select_most_read = (
    _select.where(feed_counters.c.read > 0)
    .order_by(None)
    .order_by(feed_counters.c.read.desc(), feeds.c.title_key, feeds.c.id)
    .limit(bindparam("limit"))
)
# A group for each feed, of an index that has these entries alone.
_hidden = (
    select(entries.c.feed_id, func.count().label("unread"))
    .where(entries.c.user_id == bindparam("user"), literal_column("entries.hidden = true AND entries.status = 0"))
    .group_by(entries.c.feed_id)
    .subquery("hidden_entries")
)
_select_hidden = select(_hidden.c.feed_id, _hidden.c.unread)
_visible_unread = feed_counters.c.unread - func.coalesce(_hidden.c.unread, 0)
_count = (
    select(
        feeds.c.category_id,
        func.count().label("feeds"),
        func.sum(case((feed_counters.c.unread > 0, 1), else_=0)).label("unread_feeds"),
        func.sum(feed_counters.c.unread).label("unread"),
        func.sum(case((feeds.c.hide_globally, 0), else_=_visible_unread)).label("visible_unread"),
        func.sum(feed_counters.c.read).label("read"),
        func.sum(_starred).label("starred"),
    )
    .select_from(counted_feeds.outerjoin(_hidden, _hidden.c.feed_id == feeds.c.id))
    .where(_of_user)
    .group_by(feeds.c.category_id)
)


def list_feeds(db: Read, user_id: int) -> list[SidebarFeed]:
    """Return the user's feeds by title, without case."""
    return db.all(SidebarFeed, _select, user=user_id)


def list_feeds_of(db: Read, user_id: int, category_ids: Collection[int]) -> list[SidebarFeed]:
    """Like `list_feeds`, for some categories, which need not be the first of a feed."""
    return db.all(SidebarFeed, _select_in_categories, user=user_id, categories=category_ids)


def get_many(db: Read, user_id: int, feed_ids: Collection[int]) -> dict[int, SidebarFeed]:
    """Return the feeds with these ids that belong to the user, by id."""
    return {feed.id: feed for feed in db.all(SidebarFeed, _select_listed, user=user_id, ids=feed_ids)}


def most_read(db: Read, user_id: int, limit: int) -> list[SidebarFeed]:
    """Return the user's feeds with most read entries, equal ones by title."""
    return db.all(SidebarFeed, _select_most_read, user=user_id, limit=limit)


def count_by_category(db: Read, user_id: int) -> dict[int, SidebarCounts]:
    """Return the counts of the categories that are the first of feeds, by id: in a fifth of the feeds' time."""
    return {counts.category_id: counts for counts in db.all(SidebarCounts, _count, user=user_id)}


def hidden_by_feed(db: Read, user_id: int) -> dict[int, int]:
    """Return how many unread entries are hidden themselves, by feed; feeds without any are missing."""
    return dict(db.tuples(_select_hidden, user=user_id))
