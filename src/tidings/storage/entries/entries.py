"""Single entries, and changes of their state.

Lists are in `storage.entries.entry_lists`, the storing of polled entries in `storage.polling`.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from sqlalchemy import ColumnElement, bindparam, func, literal_column, select, update

from tidings.domain.entries.entries import Entry, EntryStatus, PageRequest
from tidings.domain.entries.entry_changes import EntryEdit
from tidings.domain.times import Instant
from tidings.storage.engine.database import Read, Write, columns
from tidings.storage.entries import counters, list_statements, search_index
from tidings.storage.entries.contents import set_content
from tidings.storage.schema import entries

# Ids in one statement: far below what either engine allows.
BATCH = 5_000

_mine = entries.c.user_id == bindparam("user")
_by_id = select(*columns(entries, Entry)).where(_mine, entries.c.id == bindparam("id"))
_chosen = entries.c.id.in_(bindparam("ids", expanding=True, literal_execute=True))
_by_ids = select(*columns(entries, Entry)).where(_mine, _chosen).order_by(entries.c.published_at, entries.c.id)
_feeds_of = select(entries.c.feed_id).where(_mine, _chosen).distinct()
_states = select(entries.c.feed_id, entries.c.status, entries.c.starred, func.count()).where(_mine, _chosen)
_states = _states.group_by(entries.c.feed_id, entries.c.status, entries.c.starred)


def get(db: Read, user_id: int, entry_id: int) -> Entry | None:
    return db.one(Entry, _by_id, user=user_id, id=entry_id)


def get_many(db: Read, user_id: int, entry_ids: Sequence[int]) -> list[Entry]:
    """Those of them that are the user's, oldest first."""
    return db.all(Entry, _by_ids, user=user_id, ids=list(entry_ids))


def set_state(
    db: Write,
    user_id: int,
    entry_ids: Sequence[int],
    *,
    status: EntryStatus | None = None,
    starred: bool | None = None,
    now: Instant,
) -> None:
    """Those of the ids that are the user's; `changed_at` moves even where nothing else does."""
    unique = sorted(set(entry_ids))
    feeds = {feed for batch in _batches(unique) for feed in db.scalars(_feeds_of, user=user_id, ids=batch)}
    counters.lock(db, user_id, feeds)
    values: dict[str, Any] = {"changed_at": now}
    if status is not None:
        values["status"] = int(status)
    if starred is not None:
        values["starred"] = starred
    shift = counters.CounterDelta()
    for batch in _batches(unique):
        for feed, old_status, old_star, times in db.tuples(_states, user=user_id, ids=batch):
            shift.add(feed, old_status, starred=old_star, times=-times)
            new_star = old_star if starred is None else starred
            shift.add(feed, old_status if status is None else status, starred=new_star, times=times)
        db.run(update(entries).where(_mine, _chosen).values(**values), user=user_id, ids=batch)
    shift.write(db)


def edit(db: Write, entry: Entry, change: EntryEdit) -> None:
    """entry: its user's, who holds its feed. `changed_at` stays: it tells of status and star."""
    values: dict[str, Any] = {"edited": entries.c.edited.bitwise_or(int(change.edited))}
    if change.title is not None:
        values["title"] = change.title
    if change.reading_time is not None:
        values["reading_time"] = change.reading_time
    found = db.run(
        update(entries).where(_mine, entries.c.id == bindparam("entry")).values(**values),
        user=entry.user_id,
        entry=entry.id,
    )
    if not found:
        return
    if change.content is not None:
        set_content(db, entry.id, change.content)
    search_index.note(db, entry.user_id, [entry.id])


def mark_read(
    db: Write,
    user_id: int,
    *,
    feed_id: int | None = None,
    category_id: int | None = None,
    published_before: Instant | None = None,
    besides: Sequence[int] = (),
    beyond: PageRequest | None = None,
    now: Instant,
) -> int:
    """Unread entries of the user, or of one feed or category; how many there were.

    besides: of these feeds none. beyond: only what lies beyond the place that this page begins after, in its order.
    """
    which: list[ColumnElement[bool]] = [entries.c.user_id == user_id, literal_column("entries.status = 0")]
    if feed_id is not None:
        counters.lock(db, user_id, [feed_id])
        which.append(entries.c.feed_id == feed_id)
    else:
        counters.lock_all(db, user_id)
    if category_id is not None:
        which.append(entries.c.category_id == category_id)
    if published_before is not None:
        which.append(entries.c.published_at < published_before)
    if besides:
        which.append(entries.c.feed_id.not_in(besides))
    place = {}
    if beyond is not None and beyond.cursor is not None:
        which.append(list_statements.is_beyond(beyond.order, beyond.direction))
        place = {"beyond_moment": beyond.cursor.moment, "beyond_id": beyond.cursor.entry_id}
    grouped = select(entries.c.feed_id, entries.c.starred, func.count()).where(*which)
    shift, marked = counters.CounterDelta(), 0
    for feed, starred, times in db.tuples(grouped.group_by(entries.c.feed_id, entries.c.starred), **place):
        shift.add(feed, EntryStatus.UNREAD, starred=starred, times=-times)
        shift.add(feed, EntryStatus.READ, starred=starred, times=times)
        marked += times
    if marked:
        db.run(update(entries).where(*which).values(status=int(EntryStatus.READ), changed_at=now), **place)
        shift.write(db)
    return marked


def _batches(ids: Sequence[int]) -> Iterator[Sequence[int]]:
    for start in range(0, len(ids), BATCH):
        yield ids[start : start + BATCH]
