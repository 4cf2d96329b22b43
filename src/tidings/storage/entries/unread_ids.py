"""Reads the ids of unread entries feed by feed, each feed with the version under which they can be kept."""

from __future__ import annotations

from collections.abc import Iterable

from msgspec import Struct
from sqlalchemy import bindparam, literal_column, select, true

from tidings.engine.database import Read
from tidings.engine.statements import if_distributed, in_list, joined
from tidings.storage.schema import entries, feed_counters


class UnreadFeed(Struct, frozen=True):
    """A feed with unread entries."""

    feed_id: int
    version: int
    """A different number after each change of the ids."""
    unread: int
    read: int


class UnreadIds(Struct, frozen=True):
    """The ids of the unread entries of a feed, at one version of the feed's entries."""

    feed_id: int
    version: int
    joined: str | None
    """The ids, separated by commas, in no order; None if there are none."""


_counts = feed_counters.c
_select_feeds = select(_counts.feed_id, _counts.version, _counts.unread, _counts.read).where(
    _counts.user_id == bindparam("user"), _counts.unread > 0
)
# A subquery for each feed, which reads its index alone. With its version: both are of the same state.
# The user is not in the index, and only says on which node the entries are.
_joined = (
    select(joined(entries.c.id))
    .where(
        entries.c.feed_id == _counts.feed_id,
        literal_column("entries.status = 0"),
        if_distributed(entries.c.user_id == bindparam("user"), true()),
    )
    .scalar_subquery()
)
_select_ids = select(_counts.feed_id, _counts.version, _joined.label("joined")).where(
    _counts.user_id == bindparam("user"), in_list(_counts.feed_id, "feeds")
)


def feeds_with_unread(db: Read, user_id: int) -> list[UnreadFeed]:
    return db.all(UnreadFeed, _select_feeds, user=user_id)


def of_feeds(db: Read, user_id: int, feed_ids: Iterable[int]) -> list[UnreadIds]:
    """Return the ids for the feeds that belong to the user. Reads all entries of these feeds in an index."""
    return db.all(UnreadIds, _select_ids, user=user_id, feeds=list(feed_ids))
