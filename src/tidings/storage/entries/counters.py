"""Stored counts of entries per feed, so that lists and totals need not count the archive.

A transaction that changes entries of a feed first locks the feed's counters (`lock`). On PostgreSQL changes to one feed
therefore wait for each other, and counts are still right when they are written. SQLite has one writer anyway.
"""

from __future__ import annotations

import secrets
from collections import defaultdict
from collections.abc import Iterable
from typing import Final

from msgspec import Struct
from sqlalchemy import ColumnElement, Update, and_, bindparam, insert, select, update

from tidings.domain.entries.entries import UNLISTED, EntryStatus
from tidings.engine import statements
from tidings.engine.database import Read, Write, columns
from tidings.engine.statements import in_list
from tidings.storage.ownership import of_same_user
from tidings.storage.schema import feed_counters, feeds

counted_feeds = feeds.join(
    feed_counters, and_(feed_counters.c.feed_id == feeds.c.id, of_same_user(feed_counters, feeds))
)
"""Feeds with their counters.

Joins name the user, so that they stay on one node of a database that is distributed by user.
"""


# How many feeds have the same changes, on average, where one statement for them is worth while.
MIN_EQUAL: Final = 3


class FeedCounters(Struct, frozen=True):
    feed_id: int
    unread: int
    read: int
    starred_unread: int
    starred_read: int


def new_version() -> int:
    """Return a random version.

    A sequential number could be issued again, for other content, after a backup is restored.
    """
    return secrets.randbits(53)


class CounterDelta:
    """Changes of the feeds' counters, added up in memory and written once."""

    def __init__(self) -> None:
        # By the id of the feed and of its user.
        self._by_feed: dict[tuple[int, int], list[int]] = {}

    def add(self, user_id: int, feed_id: int, status: EntryStatus | int, *, starred: bool, times: int = 1) -> None:
        """Count entries of a feed of the user. times: how many were added, or removed if negative."""
        if status in UNLISTED:
            return
        counts = self._by_feed.setdefault((feed_id, user_id), [0, 0, 0, 0])
        column = int(status)
        counts[column] += times
        if starred:
            counts[column + 2] += times

    def write(self, db: Write) -> None:
        """Write the changes. The caller has locked the counters, or two transactions could wait for each other.

        A feed gets a new version also where its counts are the same, since its entries are not. Feeds with equal
        changes, as the subscribers of a source have them, are written by one statement.
        """
        version = new_version()
        owned_of: defaultdict[tuple[int, ...], list[tuple[int, int]]] = defaultdict(list)
        for one, delta in sorted(self._by_feed.items()):
            owned_of[tuple(delta)].append(one)
        if len(owned_of) * MIN_EQUAL <= len(self._by_feed):
            for (u, r, su, sr), pairs in owned_of.items():
                owned = {"users": sorted({user for _, user in pairs}), "feeds": [feed for feed, _ in pairs]}
                db.run(_add_equal_delta, **owned, u=u, r=r, su=su, sr=sr, new_version=version)
        else:
            changes = [
                {"user": user, "feed": feed, "u": u, "r": r, "su": su, "sr": sr, "new_version": version}
                for (u, r, su, sr), pairs in owned_of.items()
                for feed, user in pairs
            ]
            db.run_many(_add_delta, changes)


_select_by_user = select(*columns(feed_counters, FeedCounters)).where(feed_counters.c.user_id == bindparam("user"))
_lock_all = (
    select(feed_counters.c.feed_id)
    .where(feed_counters.c.user_id == bindparam("user"))
    .order_by(feed_counters.c.feed_id)
    .with_for_update()
)
_lock_listed = _lock_all.where(in_list(feed_counters.c.feed_id, "feeds"))
_lock_pairs = (
    select(feed_counters.c.user_id, feed_counters.c.feed_id)
    .where(
        in_list(feed_counters.c.user_id, "users"),
        in_list(feed_counters.c.feed_id, "feeds"),
    )
    .order_by(feed_counters.c.feed_id)
    .with_for_update()
)


def _adding(condition: ColumnElement[bool]) -> Update:
    return (
        update(feed_counters)
        .where(condition)
        .values(
            unread=feed_counters.c.unread + bindparam("u"),
            read=feed_counters.c.read + bindparam("r"),
            starred_unread=feed_counters.c.starred_unread + bindparam("su"),
            starred_read=feed_counters.c.starred_read + bindparam("sr"),
            version=bindparam("new_version"),
        )
    )


_add_delta = _adding(and_(feed_counters.c.feed_id == bindparam("feed"), feed_counters.c.user_id == bindparam("user")))
_add_equal_delta = _adding(and_(in_list(feed_counters.c.user_id, "users"), in_list(feed_counters.c.feed_id, "feeds")))


def list_all(db: Read, user_id: int) -> list[FeedCounters]:
    """Return the counters of the user's feeds."""
    return db.all(FeedCounters, _select_by_user, user=user_id)


def lock(db: Write, user_id: int, feed_ids: Iterable[int]) -> list[int]:
    """Lock the counters of the user's feeds among `feed_ids` until the transaction ends. Returns the feed ids."""
    return db.scalars(_lock_listed, user=user_id, feeds=sorted(set(feed_ids)))


def lock_each(db: Write, owned: Iterable[tuple[int, int]]) -> set[tuple[int, int]]:
    """Like `lock`, for feeds of several users. owned: pairs of user id and feed id. Returns the pairs that exist."""
    wanted = set(owned)
    users, feeds = ({pair[index] for pair in wanted} for index in (0, 1))
    locked = [
        row
        for some in statements.lockable_together(db, users)
        for row in db.rows(_lock_pairs, users=some, feeds=sorted(feeds))
    ]
    return wanted.intersection((row["user_id"], row["feed_id"]) for row in locked)


def lock_all(db: Write, user_id: int) -> list[int]:
    """Lock the counters of all feeds of the user. Returns the feed ids."""
    return db.scalars(_lock_all, user=user_id)


def add(db: Write, user_id: int, feed_id: int) -> None:
    """Add counters for a new feed without entries."""
    db.run(insert(feed_counters).values(feed_id=feed_id, user_id=user_id))


def add_many(db: Write, user_id: int, feed_ids: Iterable[int]) -> None:
    statements.insert_rows(db, feed_counters, [{"feed_id": feed_id, "user_id": user_id} for feed_id in feed_ids])
