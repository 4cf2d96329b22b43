"""Kept counts of entries per feed, so that no list or total counts the archive.

Whoever changes entries of a feed first holds the feed's counters (`hold`): on PostgreSQL that makes changes to one feed
wait for each other, so that what was counted is still true when it is written. SQLite has one writer anyway.
"""

from __future__ import annotations

from collections.abc import Iterable

from msgspec import Struct
from sqlalchemy import bindparam, insert, select, update

from tidings.domain.entries.entries import EntryStatus
from tidings.storage.engine.database import Read, Write, columns
from tidings.storage.engine.id_list import in_list
from tidings.storage.schema import feed_counters


class FeedCounters(Struct, frozen=True):
    feed_id: int
    unread: int
    read: int
    starred_unread: int
    starred_read: int


class CounterDelta:
    """By how much the counters of some feeds move; added up first, written once."""

    def __init__(self) -> None:
        self._by_feed: dict[int, list[int]] = {}

    def add(self, feed_id: int, status: EntryStatus | int, *, starred: bool, times: int = 1) -> None:
        """times: how many such entries came (or, when negative, went)."""
        if status == EntryStatus.REMOVED:
            return
        counts = self._by_feed.setdefault(feed_id, [0, 0, 0, 0])
        column = int(status)
        counts[column] += times
        if starred:
            counts[column + 2] += times

    def write(self, db: Write) -> None:
        """In feed order: two transactions never wait for each other crosswise."""
        moves = [
            {"feed": feed, "u": u, "r": r, "su": su, "sr": sr}
            for feed, (u, r, su, sr) in sorted(self._by_feed.items())
            if u or r or su or sr
        ]
        db.run_many(_shift, moves)


_mine = select(*columns(feed_counters, FeedCounters)).where(feed_counters.c.user_id == bindparam("user"))
_hold = (
    select(feed_counters.c.feed_id)
    .where(feed_counters.c.user_id == bindparam("user"))
    .order_by(feed_counters.c.feed_id)
    .with_for_update()
)
_hold_some = _hold.where(in_list(feed_counters.c.feed_id, "feeds"))
_hold_each = (
    select(feed_counters.c.user_id, feed_counters.c.feed_id)
    .where(
        in_list(feed_counters.c.user_id, "users"),
        in_list(feed_counters.c.feed_id, "feeds"),
    )
    .order_by(feed_counters.c.feed_id)
    .with_for_update()
)
_shift = (
    update(feed_counters)
    .where(feed_counters.c.feed_id == bindparam("feed"))
    .values(
        unread=feed_counters.c.unread + bindparam("u"),
        read=feed_counters.c.read + bindparam("r"),
        starred_unread=feed_counters.c.starred_unread + bindparam("su"),
        starred_read=feed_counters.c.starred_read + bindparam("sr"),
    )
)


def list_all(db: Read, user_id: int) -> list[FeedCounters]:
    return db.all(FeedCounters, _mine, user=user_id)


def lock(db: Write, user_id: int, feed_ids: Iterable[int]) -> list[int]:
    """Those of the feeds that are the user's, held until the transaction ends."""
    return db.scalars(_hold_some, user=user_id, feeds=sorted(set(feed_ids)))


def lock_each(db: Write, owned: Iterable[tuple[int, int]]) -> set[tuple[int, int]]:
    """As `hold`, for feeds of several users. owned: users with feeds of theirs."""
    wanted = set(owned)
    users, feeds = ({pair[place] for pair in wanted} for place in (0, 1))
    held = db.tuples(_hold_each, users=sorted(users), feeds=sorted(feeds))
    return wanted.intersection((user_id, feed_id) for user_id, feed_id in held)


def lock_all(db: Write, user_id: int) -> list[int]:
    return db.scalars(_hold, user=user_id)


def start(db: Write, user_id: int, feed_id: int) -> None:
    db.run(insert(feed_counters).values(feed_id=feed_id, user_id=user_id))


def start_many(db: Write, user_id: int, feed_ids: Iterable[int]) -> None:
    db.run_many(insert(feed_counters), [{"feed_id": feed_id, "user_id": user_id} for feed_id in feed_ids])
