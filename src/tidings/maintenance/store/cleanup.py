"""Expired entries: found through an index, page by page, and removed in batches.

Entries under the user's general retention are found in the order of their last change, entries of a feed with its own
retention through the index of that feed.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence

from msgspec import Struct
from sqlalchemy import bindparam, false, select

from tidings.base.times import Instant
from tidings.domain.entries.entries import EntryStatus
from tidings.engine.database import Read, Write
from tidings.engine.full_text import without_index
from tidings.storage.entries import counters, labels, snoozed, tombstones
from tidings.storage.entries.tombstones import DeletedEntry
from tidings.storage.schema import entries, feeds, users


class ExpiredEntry(Struct, frozen=True):
    """An entry to remove."""

    id: int
    feed_id: int
    at: Instant
    """Its position in the search order, where the next page begins."""


class RetentionOverride(Struct, frozen=True):
    """A feed with its own retention, in days; None: the general retention."""

    feed_id: int
    keep_read_days: int | None
    keep_unread_days: int | None


_is_owned = entries.c.user_id == bindparam("user")
_is_removable = (
    # Without indexes: the ones of starred and shared entries, and by status, have another order.
    without_index(entries.c.starred) == false(),
    without_index(entries.c.share_code) == "",
    without_index(entries.c.status) == bindparam("status"),
    labels.is_unlabelled,
    snoozed.is_not_snoozed,
)
_unchanged_since = entries.c.changed_at < bindparam("before")
_select_expired = (
    select(entries.c.id, entries.c.feed_id, entries.c.changed_at.label("at"))
    .where(
        _is_owned,
        _unchanged_since,
        entries.c.changed_at >= bindparam("reached"),
        *_is_removable,
        without_index(entries.c.feed_id).not_in(bindparam("overridden", expanding=True)),
    )
    .order_by(entries.c.changed_at, entries.c.id)
    .limit(bindparam("limit"))
)
_select_expired_of_feed = (
    select(entries.c.id, entries.c.feed_id, entries.c.published_at.label("at"))
    .where(
        without_index(entries.c.user_id) == bindparam("user"),
        entries.c.feed_id == bindparam("feed"),
        entries.c.published_at >= bindparam("reached"),
        without_index(entries.c.changed_at) < bindparam("before"),
        *_is_removable,
    )
    .order_by(entries.c.published_at, entries.c.id)
    .limit(bindparam("limit"))
)
_select_still_expired = select(entries.c.id, entries.c.feed_id, entries.c.status).where(
    _is_owned,
    entries.c.id.in_(bindparam("ids", expanding=True, literal_execute=True)),
    entries.c.starred == false(),
    entries.c.share_code == "",
    labels.is_unlabelled,
    snoozed.is_not_snoozed,
    entries.c.status == bindparam("status"),
    _unchanged_since,
)
_select_user_ids = select(users.c.id).order_by(users.c.id)
_select_overrides = select(feeds.c.id.label("feed_id"), feeds.c.keep_read_days, feeds.c.keep_unread_days).where(
    feeds.c.user_id == bindparam("user"), feeds.c.keep_read_days.is_not(None) | feeds.c.keep_unread_days.is_not(None)
)


def user_ids(db: Read) -> list[int]:
    """Return the ids of all users."""
    return db.scalars(_select_user_ids)


def retention_overrides(db: Read, user_id: int) -> list[RetentionOverride]:
    """Return the user's feeds with their own retention."""
    return db.all(RetentionOverride, _select_overrides, user=user_id)


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
    """Return entries not changed since `before`, oldest change first, except entries of `overridden` feeds.

    from_position: `at` of the last entry found. Starred, shared, labelled and snoozed entries are left out.
    """
    parameters = {"user": user_id, "status": int(status), "before": before, "reached": from_position, "limit": limit}
    return db.all(ExpiredEntry, _select_expired, overridden=sorted(overridden), **parameters)


def find_expired_of_feed(
    db: Read, user_id: int, feed_id: int, status: EntryStatus, *, before: Instant, from_position: Instant, limit: int
) -> list[ExpiredEntry]:
    """Like `find_expired`, for one feed, by publishing time."""
    parameters = {"user": user_id, "status": int(status), "before": before, "reached": from_position, "limit": limit}
    return db.all(ExpiredEntry, _select_expired_of_feed, feed=feed_id, **parameters)


def remove_entries(
    db: Write, user_id: int, found: Sequence[ExpiredEntry], status: EntryStatus, *, before: Instant, now: Instant
) -> int:
    """Lock the feeds' counters and remove the entries that are still expired. Returns their number."""
    counters.lock(db, user_id, {entry.feed_id for entry in found})
    ids = [entry.id for entry in found]
    expired = db.all(DeletedEntry, _select_still_expired, user=user_id, ids=ids, status=int(status), before=before)
    tombstones.add(db, user_id, expired, now=now)
    return len(expired)
