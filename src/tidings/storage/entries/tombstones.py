"""Deletes entries and remembers their hashes (tombstones), so that polling does not add them again.

A tombstone is deleted when its entry has been absent from the feed's document for months (`domain.entries.retention`).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from msgspec import Struct
from sqlalchemy import and_, bindparam, delete, exists, insert, select, tuple_

from tidings.base.times import Instant
from tidings.engine.database import Read, Write
from tidings.engine.statements import references_planned_once
from tidings.storage.accounts import change_log
from tidings.storage.accounts.change_log import Kind
from tidings.storage.entries import counters, duplicates
from tidings.storage.ownership import of_same_user
from tidings.storage.schema import entries, feeds, tombstones

# Tombstones per page.
PAGE = 2_000

_is_owned = entries.c.user_id == bindparam("user")
_is_listed = entries.c.id.in_(bindparam("ids", expanding=True, literal_execute=True))
_exists = exists().where(
    of_same_user(tombstones, entries),
    tombstones.c.feed_id == entries.c.feed_id,
    tombstones.c.hash == entries.c.hash,
)
_insert = insert(tombstones).from_select(
    ["user_id", "feed_id", "hash", "seen_at"],
    select(
        entries.c.user_id,
        entries.c.feed_id,
        entries.c.hash,
        bindparam("moment", type_=tombstones.c.seen_at.type),
    ).where(_is_owned, _is_listed, ~_exists),
)
_delete_entries = delete(entries).where(_is_owned, _is_listed)

_of_feed = and_(tombstones.c.user_id == bindparam("user"), tombstones.c.feed_id == bindparam("feed"))
_position = tuple_(tombstones.c.feed_id, tombstones.c.hash)
_select_page = (
    select(tombstones.c.user_id, tombstones.c.feed_id, tombstones.c.hash, tombstones.c.seen_at, feeds.c.parsed_at)
    .join_from(tombstones, feeds, and_(of_same_user(feeds, tombstones), feeds.c.id == tombstones.c.feed_id))
    .where(_position > tuple_(bindparam("feed"), bindparam("hash")))
    .order_by(tombstones.c.feed_id, tombstones.c.hash)
    .limit(PAGE)
)
_delete = delete(tombstones).where(
    _of_feed, tombstones.c.hash == bindparam("old_hash"), tombstones.c.seen_at == bindparam("seen")
)
_forget = delete(tombstones).where(_of_feed, tombstones.c.hash == bindparam("old_hash"))


class DeletedEntry(Struct, frozen=True):
    """An entry to delete; it is neither starred, shared, labelled nor snoozed."""

    id: int
    feed_id: int
    status: int


class Tombstone(Struct, frozen=True):
    """A deleted entry."""

    user_id: int
    feed_id: int
    hash: bytes
    seen_at: Instant
    """When it was last in the feed's document."""
    parsed_at: Instant | None
    """When the feed's document was last parsed."""


def add(db: Write, user_id: int, deleted: Sequence[DeletedEntry], *, now: Instant) -> None:
    """Delete entries, with those that are folded under them, and remember their hashes.

    The caller has locked the counters of their feeds.
    """
    ids = [entry.id for entry in deleted]
    if not ids:
        return
    ids += duplicates.forget_originals(db, user_id, ids)
    db.run(_insert, user=user_id, ids=ids, moment=now)
    with references_planned_once(db):
        db.run(_delete_entries, user=user_id, ids=ids)
    change_log.note(db, user_id, Kind.ENTRY, ids)
    delta = counters.CounterDelta()
    for entry in deleted:
        delta.add(user_id, entry.feed_id, entry.status, starred=False, times=-1)
    delta.write(db)


def forget(db: Write, user_id: int, feed_id: int, hashes: Iterable[bytes]) -> None:
    """Delete the tombstones of these hashes: the entries can be stored again. The caller has locked the feed."""
    db.run_many(_forget, [{"user": user_id, "feed": feed_id, "old_hash": hash_} for hash_ in hashes])


def list_all(db: Read, after: tuple[int, bytes]) -> list[Tombstone]:
    """Return a page of all tombstones. after: feed id and hash of the last one before it, (0, b"") at first."""
    return db.all(Tombstone, _select_page, feed=after[0], hash=after[1])


def remove(db: Write, old: Sequence[Tombstone]) -> int:
    """Delete tombstones, unless a document has held their entry since. Returns the number of `old`."""
    db.run_many(
        _delete,
        [
            {
                "user": tombstone.user_id,
                "feed": tombstone.feed_id,
                "old_hash": tombstone.hash,
                "seen": tombstone.seen_at,
            }
            for tombstone in old
        ],
    )
    return len(old)
