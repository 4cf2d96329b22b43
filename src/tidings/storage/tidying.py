"""What is old or unused: found through an index, a page at a time, and removed a batch at a time.

Entries that are old by what holds for all feeds of a user are found in the order of their last change; those of a feed
that says otherwise, through the index of that feed.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence

from msgspec import Struct
from sqlalchemy import bindparam, false, select

from tidings.domain.entries import Status
from tidings.domain.times import Instant
from tidings.storage import counters, tombstones
from tidings.storage.database import Read, Write
from tidings.storage.dialect import off_index
from tidings.storage.schema import entries, feeds, users
from tidings.storage.tombstones import Doomed


class Old(Struct, frozen=True):
    """An entry that may go. at: its place in the order in which it was found, from where the search goes on."""

    id: int
    feed_id: int
    at: Instant


class Override(Struct, frozen=True):
    """A feed that keeps its entries longer or shorter; None: as all do."""

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
    select(entries.c.id, entries.c.feed_id, entries.c.changed_at)
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
    select(entries.c.id, entries.c.feed_id, entries.c.published_at)
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
_overrides = select(feeds.c.id, feeds.c.keep_read_days, feeds.c.keep_unread_days).where(
    feeds.c.user_id == bindparam("user"), feeds.c.keep_read_days.is_not(None) | feeds.c.keep_unread_days.is_not(None)
)


def user_ids(db: Read) -> list[int]:
    return db.scalars(_users)


def overrides(db: Read, user_id: int) -> list[Override]:
    """Feeds of the user that have something to say of their own."""
    return db.all(Override, _overrides, user=user_id)


def old(
    db: Read,
    user_id: int,
    status: Status,
    *,
    before: Instant,
    reached: Instant,
    limit: int,
    overridden: Collection[int] = (),
) -> list[Old]:
    """Entries that did not change since `before`, oldest change first, but for those of some feeds.

    reached: the place of the last one found, 0 at first. Starred and shared ones are left out.
    """
    given = {"user": user_id, "status": int(status), "before": before, "reached": reached, "limit": limit}
    return db.all(Old, _old, overridden=sorted(overridden), **given)


def old_of_feed(
    db: Read, user_id: int, feed_id: int, status: Status, *, before: Instant, reached: Instant, limit: int
) -> list[Old]:
    """As `old`, of one feed, by publishing time."""
    given = {"user": user_id, "status": int(status), "before": before, "reached": reached, "limit": limit}
    return db.all(Old, _old_of_feed, feed=feed_id, **given)


def remove_entries(
    db: Write, user_id: int, found: Sequence[Old], status: Status, *, before: Instant, now: Instant
) -> int:
    """Those that are still old, now that nobody can change them; how many."""
    counters.hold(db, user_id, {entry.feed_id for entry in found})
    ids = [entry.id for entry in found]
    doomed = db.all(Doomed, _still_old, user=user_id, ids=ids, status=int(status), before=before)
    tombstones.bury(db, user_id, doomed, now=now)
    return len(doomed)
