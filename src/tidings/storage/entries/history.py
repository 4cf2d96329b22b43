"""Deletes read entries (the API's "flush history")."""

from __future__ import annotations

from sqlalchemy import ColumnElement, bindparam, false, literal_column, select

from tidings.base.times import Instant
from tidings.engine import full_text
from tidings.engine.database import Write
from tidings.storage.entries import counters, labels, snoozed, tombstones
from tidings.storage.entries.tombstones import DeletedEntry
from tidings.storage.schema import entries

# Entries per transaction: a tenth of a second, so that other transactions do not wait long for the locks.
BATCH = 1_000

_is_owned = entries.c.user_id == bindparam("user")
# In the order of an index; each batch starts where the last one ended, so that no entry is read twice.
_is_read: ColumnElement[bool] = literal_column("entries.status = 1")
_may_go = (
    full_text.without_index(entries.c.starred) == false(),
    full_text.without_index(entries.c.share_code) == "",
    labels.is_unlabelled,
    snoozed.is_not_snoozed,
)
_select_read = (
    select(entries.c.id, entries.c.feed_id)
    .where(_is_owned, _is_read, entries.c.id > bindparam("after"), *_may_go)
    .order_by(entries.c.id)
    .limit(bindparam("limit"))
)
_is_listed = entries.c.id.in_(bindparam("ids", expanding=True, literal_execute=True))
_select_still_read = select(entries.c.id, entries.c.feed_id, entries.c.status).where(
    _is_owned, _is_listed, _is_read, *_may_go
)


def flush(db: Write, user_id: int, *, after: int, now: Instant) -> int | None:
    """Delete up to BATCH of the user's read entries, and remember their hashes so that polling does not add them again.

    Starred, shared, labelled and snoozed entries stay. after: the id up to which entries were deleted, 0 at first.
    Returns the next such id, None when there are no more.
    """
    rows = db.rows(_select_read, user=user_id, after=after, limit=BATCH)
    if not rows:
        return None
    counters.lock(db, user_id, {row["feed_id"] for row in rows})
    # An entry may have been starred or labelled before the lock.
    deleted = db.all(DeletedEntry, _select_still_read, user=user_id, ids=[row["id"] for row in rows])
    tombstones.add(db, user_id, deleted, now=now)
    return int(rows[-1]["id"])
