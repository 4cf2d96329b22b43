"""Marking several entries read, and taking that back."""

from __future__ import annotations

from collections.abc import Sequence

from sqlalchemy import bindparam, func, select, update

from tidings.domain.entries.entries import EntryStatus
from tidings.domain.times import Instant
from tidings.storage.engine.database import Read, Write
from tidings.storage.entries import counters
from tidings.storage.entries import entries as rows
from tidings.storage.schema import entries

_mine = entries.c.user_id == bindparam("user")
_unread = select(entries.c.id).where(
    _mine,
    entries.c.id.in_(bindparam("ids", expanding=True, literal_execute=True)),
    entries.c.status == int(EntryStatus.UNREAD),
)
_marked = (_mine, entries.c.changed_at == bindparam("moment"), entries.c.status == int(EntryStatus.READ))
_feeds_of_marked = select(entries.c.feed_id).where(*_marked).distinct()
_marked_of_held = (*_marked, entries.c.feed_id.in_(bindparam("feeds", expanding=True)))
_count_marked = (
    select(entries.c.feed_id, entries.c.starred, func.count())
    .where(*_marked_of_held)
    .group_by(entries.c.feed_id, entries.c.starred)
)
_unmark = update(entries).where(*_marked_of_held).values(status=int(EntryStatus.UNREAD), changed_at=bindparam("now"))


def unread_of(db: Read, user_id: int, entry_ids: Sequence[int]) -> list[int]:
    """Those of them that are the user's and unread. So many as one statement may hold."""
    return db.scalars(_unread, user=user_id, ids=list(entry_ids)[: rows.BATCH])


def mark_unread_again(db: Write, user_id: int, moment: Instant, *, now: Instant) -> int:
    """What was marked read at that very moment, and not touched since; how many entries."""
    held = counters.lock(db, user_id, db.scalars(_feeds_of_marked, user=user_id, moment=moment))
    which = {"user": user_id, "moment": moment, "feeds": held}
    shift, count = counters.CounterDelta(), 0
    for feed, starred, times in db.tuples(_count_marked, **which) if held else ():
        shift.add(feed, EntryStatus.READ, starred=starred, times=-times)
        shift.add(feed, EntryStatus.UNREAD, starred=starred, times=times)
        count += times
    if count:
        db.run(_unmark, **which, now=now)
        shift.write(db)
    return count
