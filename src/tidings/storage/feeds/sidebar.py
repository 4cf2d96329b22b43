"""The feeds of a user with their counts, for the sidebar of every page; one statement."""

from __future__ import annotations

from msgspec import Struct
from sqlalchemy import bindparam, select

from tidings.storage.engine.database import Read
from tidings.storage.schema import feed_counters, feeds


class SidebarFeed(Struct, frozen=True):
    """A feed in the sidebar. error_count: of failed checks in a row that were caused by the feed or its server."""

    id: int
    category_id: int
    title: str
    icon_id: int | None
    hide_globally: bool
    disabled: bool
    error_count: int
    unread: int
    read: int
    starred: int


_select = (
    select(
        feeds.c.id,
        feeds.c.category_id,
        feeds.c.title,
        feeds.c.icon_id,
        feeds.c.hide_globally,
        feeds.c.disabled,
        feeds.c.parsing_error_count.label("error_count"),
        feed_counters.c.unread,
        feed_counters.c.read,
        (feed_counters.c.starred_unread + feed_counters.c.starred_read).label("starred"),
    )
    .select_from(feeds.join(feed_counters, feed_counters.c.feed_id == feeds.c.id))
    .where(feeds.c.user_id == bindparam("user"))
    .order_by(feeds.c.title_key, feeds.c.id)
)


def list_feeds(db: Read, user_id: int) -> list[SidebarFeed]:
    """Returns the user's feeds by title, without case."""
    return db.all(SidebarFeed, _select, user=user_id)
