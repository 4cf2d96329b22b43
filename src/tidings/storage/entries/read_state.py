"""Finds unread entries, and undoes marking entries as read."""

from __future__ import annotations

from collections.abc import Sequence

from sqlalchemy import bindparam, func, select, update

from tidings.domain.entries.entries import EntryStatus
from tidings.domain.times import Instant
from tidings.storage.engine.database import Read, Write
from tidings.storage.entries import counters
from tidings.storage.entries import entries as rows
from tidings.storage.schema import entries

_is_owned = entries.c.user_id == bindparam("user")
_select_unread = select(entries.c.id).where(
    _is_owned,
    entries.c.id.in_(bindparam("ids", expanding=True, literal_execute=True)),
    entries.c.status == int(EntryStatus.UNREAD),
)
_is_marked = (_is_owned, entries.c.changed_at == bindparam("moment"), entries.c.status == int(EntryStatus.READ))
_select_feed_ids = select(entries.c.feed_id).where(*_is_marked).distinct()
_is_marked_in_feeds = (*_is_marked, entries.c.feed_id.in_(bindparam("feeds", expanding=True)))
_count_marked = (
    select(entries.c.feed_id, entries.c.starred, func.count().label("count"))
    .where(*_is_marked_in_feeds)
    .group_by(entries.c.feed_id, entries.c.starred)
)
_mark_unread = (
    update(entries).where(*_is_marked_in_feeds).values(status=int(EntryStatus.UNREAD), changed_at=bindparam("now"))
)


def unread_of(db: Read, user_id: int, entry_ids: Sequence[int]) -> list[int]:
    """Returns those of the first BATCH ids that are unread entries of the user."""
    return db.scalars(_select_unread, user=user_id, ids=list(entry_ids)[: rows.BATCH])


def undo_mark_read(db: Write, user_id: int, moment: Instant, *, now: Instant) -> int:
    """Mark entries unread that were marked read at `moment` and have not changed since. Returns how many."""
    locked = counters.lock(db, user_id, db.scalars(_select_feed_ids, user=user_id, moment=moment))
    parameters = {"user": user_id, "moment": moment, "feeds": locked}
    delta, count = counters.CounterDelta(), 0
    for row in db.rows(_count_marked, **parameters) if locked else ():
        feed, starred, times = row["feed_id"], row["starred"], row["count"]
        delta.add(feed, EntryStatus.READ, starred=starred, times=-times)
        delta.add(feed, EntryStatus.UNREAD, starred=starred, times=times)
        count += times
    if count:
        db.run(_mark_unread, **parameters, now=now)
        delta.write(db)
    return count
