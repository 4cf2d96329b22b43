"""Entries that are gone, and what is remembered of them: a hash, so that they do not come back.

A tombstone is forgotten when it has been absent for months from its feed's document (`domain.entries.retention`).
"""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import Struct
from sqlalchemy import bindparam, delete, exists, insert, select, tuple_

from tidings.domain.times import Instant
from tidings.storage.engine.database import Read, Write
from tidings.storage.entries import counters
from tidings.storage.schema import entries, feeds, tombstones

# How many of a feed's are looked at before somebody else gets a turn.
PAGE = 2_000

_mine = entries.c.user_id == bindparam("user")
_chosen = entries.c.id.in_(bindparam("ids", expanding=True, literal_execute=True))
_already = exists().where(tombstones.c.feed_id == entries.c.feed_id, tombstones.c.hash == entries.c.hash)
_add = insert(tombstones).from_select(
    ["feed_id", "hash", "seen_at"],
    select(entries.c.feed_id, entries.c.hash, bindparam("moment", type_=tombstones.c.seen_at.type)).where(
        _mine, _chosen, ~_already
    ),
)
_delete = delete(entries).where(_mine, _chosen)

_of_feed = tombstones.c.feed_id == bindparam("feed")
_place = tuple_(tombstones.c.feed_id, tombstones.c.hash)
_listed = (
    select(tombstones.c.feed_id, tombstones.c.hash, tombstones.c.seen_at, feeds.c.parsed_at)
    .join_from(tombstones, feeds, feeds.c.id == tombstones.c.feed_id)
    .where(_place > tuple_(bindparam("feed"), bindparam("hash")))
    .order_by(tombstones.c.feed_id, tombstones.c.hash)
    .limit(PAGE)
)
_forget = delete(tombstones).where(
    _of_feed, tombstones.c.hash == bindparam("which"), tombstones.c.seen_at == bindparam("seen")
)


class DeletedEntry(Struct, frozen=True):
    """An entry about to be buried; it is neither starred nor shared."""

    id: int
    feed_id: int
    status: int


class Tombstone(Struct, frozen=True):
    """parsed_at: when the document of its feed was last read."""

    feed_id: int
    hash: bytes
    seen_at: Instant
    parsed_at: Instant | None


def add(db: Write, user_id: int, doomed: Sequence[DeletedEntry], *, now: Instant) -> None:
    """Delete entries and remember their hashes. The caller holds the counters of their feeds."""
    ids = [entry.id for entry in doomed]
    if not ids:
        return
    db.run(_add, user=user_id, ids=ids, moment=now)
    db.run(_delete, user=user_id, ids=ids)
    shift = counters.CounterDelta()
    for entry in doomed:
        shift.add(entry.feed_id, entry.status, starred=False, times=-1)
    shift.write(db)


def list_all(db: Read, after: tuple[int, bytes]) -> list[Tombstone]:
    """A page of all tombstones, after one of them. (0, b"") for the first page."""
    return db.all(Tombstone, _listed, feed=after[0], hash=after[1])


def forget(db: Write, old: Sequence[Tombstone]) -> int:
    """But for those that were seen meanwhile; how many were to be forgotten."""
    db.run_many(_forget, [{"feed": one.feed_id, "which": one.hash, "seen": one.seen_at} for one in old])
    return len(old)
