"""Forgetting what was read."""

from __future__ import annotations

from sqlalchemy import ColumnElement, bindparam, literal_column, select

from tidings.domain.times import Instant
from tidings.storage.engine.database import Write
from tidings.storage.entries import counters, tombstones
from tidings.storage.entries.tombstones import DeletedEntry
from tidings.storage.schema import entries

# One transaction: a tenth of a second, so that nobody waits long for the lock.
BATCH = 1_000

_mine = entries.c.user_id == bindparam("user")
# In the order of an index, and each batch starts where the last one ended: no entry is looked at twice.
_is_read: ColumnElement[bool] = literal_column("entries.status = 1")
_kept_for_good = entries.c.starred | (entries.c.share_code != "")
_found = (
    select(entries.c.id, entries.c.feed_id)
    .where(_mine, _is_read, entries.c.id > bindparam("after"), ~_kept_for_good)
    .order_by(entries.c.id)
    .limit(bindparam("limit"))
)
_chosen = entries.c.id.in_(bindparam("ids", expanding=True, literal_execute=True))
_still_there = select(entries.c.id, entries.c.feed_id, entries.c.status).where(
    _mine, _chosen, _is_read, ~_kept_for_good
)


def flush(db: Write, user_id: int, *, after: int, now: Instant) -> int | None:
    """Delete some of the user's read entries and remember their hashes, so that they do not come back.

    Starred and shared ones stay. after: the id up to which it is done, 0 at first. What comes back is the next such
    id, None when nothing is left.
    """
    found = db.tuples(_found, user=user_id, after=after, limit=BATCH)
    if not found:
        return None
    counters.lock(db, user_id, {feed_id for _, feed_id in found})
    # What was found may have been starred before it was held.
    doomed = db.all(DeletedEntry, _still_there, user=user_id, ids=[entry_id for entry_id, _ in found])
    tombstones.add(db, user_id, doomed, now=now)
    return int(found[-1][0])
