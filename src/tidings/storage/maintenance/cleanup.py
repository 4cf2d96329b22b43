"""Expired entries: found through an index, a page at a time, and removed in batches.

Entries under the user's general retention are found in the order of their last change, entries of a feed with its own
retention through the index of that feed.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence

from msgspec import Struct
from sqlalchemy import bindparam, false, select

from tidings.domain.entries.entries import EntryStatus
from tidings.domain.times import Instant
from tidings.storage.engine.database import Read, Write
from tidings.storage.engine.full_text import off_index
from tidings.storage.entries import counters, tombstones
from tidings.storage.entries.tombstones import DeletedEntry
from tidings.storage.schema import entries, feeds, users


class ExpiredEntry(Struct, frozen=True):
    """An entry to remove. at: its position in the search order, where the next page begins."""

    id: int
    feed_id: int
    at: Instant


class RetentionOverride(Struct, frozen=True):
    """A feed with its own retention; None: the general one."""

    feed_id: int
    keep_read_days: int | None
    keep_unread_days: int | None


_mine = entries.c.user_id == bindparam("user")
_may_go = (
    # Short lists of their own, and those by status, are in another order.
    off_index(entries.c.starred) == false(),
    off_index(entries.c.share_code) == "",
    off_index(entries.c.status) == bindparam("status"),
)
_unchanged_since = entries.c.changed_at < bindparam("before")
_old = (
    select(entries.c.id, entries.c.feed_id, entries.c.changed_at.label("at"))
    .where(
        _mine,
        _unchanged_since,
        entries.c.changed_at >= bindparam("reached"),
        *_may_go,
        off_index(entries.c.feed_id).not_in(bindparam("overridden", expanding=True)),
    )
    .order_by(entries.c.changed_at, entries.c.id)
    .limit(bindparam("limit"))
)
_old_of_feed = (
    select(entries.c.id, entries.c.feed_id, entries.c.published_at.label("at"))
    .where(
        off_index(entries.c.user_id) == bindparam("user"),
        entries.c.feed_id == bindparam("feed"),
        entries.c.published_at >= bindparam("reached"),
        off_index(entries.c.changed_at) < bindparam("before"),
        *_may_go,
    )
    .order_by(entries.c.published_at, entries.c.id)
    .limit(bindparam("limit"))
)
_still_old = select(entries.c.id, entries.c.feed_id, entries.c.status).where(
    _mine,
    entries.c.id.in_(bindparam("ids", expanding=True, literal_execute=True)),
    entries.c.starred == false(),
    entries.c.share_code == "",
    entries.c.status == bindparam("status"),
    _unchanged_since,
)
_users = select(users.c.id).order_by(users.c.id)
_overrides = select(feeds.c.id.label("feed_id"), feeds.c.keep_read_days, feeds.c.keep_unread_days).where(
    feeds.c.user_id == bindparam("user"), feeds.c.keep_read_days.is_not(None) | feeds.c.keep_unread_days.is_not(None)
)


def user_ids(db: Read) -> list[int]:
    return db.scalars(_users)


def retention_overrides(db: Read, user_id: int) -> list[RetentionOverride]:
    """Return the user's feeds with their own retention."""
    return db.all(RetentionOverride, _overrides, user=user_id)


def find_expired(
    db: Read,
    user_id: int,
    status: EntryStatus,
    *,
    before: Instant,
    from_position: Instant,
    limit: int,
    overridden: Collection[int] = (),
) -> list[ExpiredEntry]:
    """Return entries not changed since `before`, oldest change first, without those of `overridden` feeds.

    from_position: `at` of the last entry found. Starred and shared ones are left out.
    """
    given = {"user": user_id, "status": int(status), "before": before, "reached": from_position, "limit": limit}
    return db.all(ExpiredEntry, _old, overridden=sorted(overridden), **given)


def find_expired_of_feed(
    db: Read, user_id: int, feed_id: int, status: EntryStatus, *, before: Instant, from_position: Instant, limit: int
) -> list[ExpiredEntry]:
    """As `find_expired`, of one feed, by publishing time."""
    given = {"user": user_id, "status": int(status), "before": before, "reached": from_position, "limit": limit}
    return db.all(ExpiredEntry, _old_of_feed, feed=feed_id, **given)


def remove_entries(
    db: Write, user_id: int, found: Sequence[ExpiredEntry], status: EntryStatus, *, before: Instant, now: Instant
) -> int:
    """Lock the feeds' counters and remove the entries that are still expired. Returns their number."""
    counters.lock(db, user_id, {entry.feed_id for entry in found})
    ids = [entry.id for entry in found]
    doomed = db.all(DeletedEntry, _still_old, user=user_id, ids=ids, status=int(status), before=before)
    tombstones.add(db, user_id, doomed, now=now)
    return len(doomed)
