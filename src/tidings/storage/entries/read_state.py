"""Finds unread entries, and undoes marking entries as read."""

from __future__ import annotations

from collections.abc import Sequence

from sqlalchemy import bindparam, func, select, update

from tidings.base.times import Instant
from tidings.domain.entries.entries import EntryStatus
from tidings.engine import full_text
from tidings.engine.database import Read, Write
from tidings.engine.statements import joined, split_ids
from tidings.storage.accounts import change_log
from tidings.storage.accounts.change_log import Kind
from tidings.storage.entries import counters, snoozed
from tidings.storage.schema import entries

# Ids that one call looks at.
BATCH = 5_000

_is_owned = entries.c.user_id == bindparam("user")
_select_unread = select(entries.c.id).where(
    _is_owned,
    entries.c.id.in_(bindparam("ids", expanding=True, literal_execute=True)),
    entries.c.status == int(EntryStatus.UNREAD),
)
_select_states = select(entries.c.id, entries.c.status, entries.c.starred).where(
    _is_owned,
    entries.c.id.in_(bindparam("ids", expanding=True, literal_execute=True)),
    entries.c.status != int(EntryStatus.REMOVED),
)
_is_marked = (
    _is_owned,
    entries.c.changed_at >= bindparam("since"),
    entries.c.changed_at <= bindparam("moment"),
    entries.c.status == int(EntryStatus.READ),
)
_select_feed_ids = select(entries.c.feed_id).where(*_is_marked).distinct()
_is_marked_in_feeds = (*_is_marked, entries.c.feed_id.in_(bindparam("feeds", expanding=True)))
_count_marked = (
    select(entries.c.feed_id, entries.c.starred, func.count().label("count"), joined(entries.c.id).label("ids"))
    .where(*_is_marked_in_feeds)
    .group_by(entries.c.feed_id, entries.c.starred)
)
# By the time of the change: an index on the status would lead through all entries that are read.
_select_marked = (
    select(entries.c.id, entries.c.feed_id)
    .where(
        _is_owned,
        entries.c.changed_at == bindparam("moment"),
        full_text.without_index(entries.c.status) == int(EntryStatus.READ),
        entries.c.id > bindparam("after"),
    )
    .order_by(entries.c.changed_at, entries.c.id)
    .limit(bindparam("limit"))
)
_mark_unread = (
    update(entries).where(*_is_marked_in_feeds).values(status=int(EntryStatus.UNREAD), changed_at=bindparam("now"))
)


def unread_of(db: Read, user_id: int, entry_ids: Sequence[int]) -> list[int]:
    """Return which of the first BATCH ids are unread entries of the user."""
    return db.scalars(_select_unread, user=user_id, ids=list(entry_ids)[:BATCH])


def differing_from(
    db: Read, user_id: int, entry_ids: Sequence[int], *, status: EntryStatus | None = None, starred: bool | None = None
) -> list[int]:
    """Return which of the first BATCH ids are entries of the user with another status, or another star.

    Removed entries are left out.
    """
    states = db.rows(_select_states, user=user_id, ids=list(entry_ids)[:BATCH])
    wanted = {"status": status, "starred": starred}
    changes = {name: value for name, value in wanted.items() if value is not None}
    return [row["id"] for row in states if any(row[name] != value for name, value in changes.items())]


def marked_at(db: Read, user_id: int, moment: Instant, *, after: int, limit: int) -> list[tuple[int, int]]:
    """Return entries that are read and were last changed at `moment`, each with its feed, in the order of their ids.

    after: only higher ids.
    """
    rows = db.tuples(_select_marked, user=user_id, moment=moment, after=after, limit=limit)
    return [(id_, feed_id) for id_, feed_id in rows]


def undo_mark_read(db: Write, user_id: int, moment: Instant, *, since: Instant | None = None, now: Instant) -> int:
    """Mark entries unread that were marked read at `moment` and have not changed since. Returns how many.

    since: include entries marked from this time on, up to `moment`.
    """
    marked = {"user": user_id, "moment": moment, "since": moment if since is None else since}
    locked = counters.lock(db, user_id, db.scalars(_select_feed_ids, **marked))
    parameters = {**marked, "feeds": locked}
    delta, count = counters.CounterDelta(), 0
    for row in db.rows(_count_marked, **parameters) if locked else ():
        feed, starred, times = row["feed_id"], row["starred"], row["count"]
        delta.add(user_id, feed, EntryStatus.READ, starred=starred, times=-times)
        delta.add(user_id, feed, EntryStatus.UNREAD, starred=starred, times=times)
        count += times
        ids = split_ids(row["ids"])
        snoozed.end(db, [user_id], ids)
        change_log.note(db, user_id, Kind.ENTRY, ids)
    if count:
        db.run(_mark_unread, **parameters, now=now)
        delta.write(db)
    return count
