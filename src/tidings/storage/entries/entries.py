"""Reads single entries and changes their state.

Lists are in `storage.entries.entry_lists`; polled entries are stored by `storage.polling.feed_store`.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from sqlalchemy import ColumnElement, bindparam, func, literal_column, select, update

from tidings.domain.entries.entries import Entry, EntryStatus, PageRequest
from tidings.domain.entries.entry_changes import EntryEdit
from tidings.domain.times import Instant
from tidings.storage.engine import full_text
from tidings.storage.engine.database import Read, Write, columns
from tidings.storage.entries import counters, list_statements, search_index
from tidings.storage.entries.contents import set_content
from tidings.storage.schema import entries

# Ids per statement, far below the limits of both engines.
BATCH = 5_000

_is_owned = entries.c.user_id == bindparam("user")
_select_by_id = select(*columns(entries, Entry)).where(_is_owned, entries.c.id == bindparam("id"))
_is_listed = entries.c.id.in_(bindparam("ids", expanding=True, literal_execute=True))
# Found by the ids and then sorted: SQLite would read all entries of the user in order and pick out the listed ones.
_select_by_ids = (
    select(*columns(entries, Entry))
    .where(full_text.without_index(entries.c.user_id) == bindparam("user"), _is_listed)
    .order_by(entries.c.published_at, entries.c.id)
)
_select_feed_ids = select(entries.c.feed_id).where(_is_owned, _is_listed).distinct()
_count_states = (
    select(entries.c.feed_id, entries.c.status, entries.c.starred, func.count().label("count"))
    .where(_is_owned, _is_listed)
    .group_by(entries.c.feed_id, entries.c.status, entries.c.starred)
)


def get(db: Read, user_id: int, entry_id: int) -> Entry | None:
    return db.one(Entry, _select_by_id, user=user_id, id=entry_id)


def get_many(db: Read, user_id: int, entry_ids: Sequence[int]) -> list[Entry]:
    """Returns those of the entries that belong to the user, oldest first."""
    return db.all(Entry, _select_by_ids, user=user_id, ids=list(entry_ids))


def set_state(
    db: Write,
    user_id: int,
    entry_ids: Sequence[int],
    *,
    status: EntryStatus | None = None,
    starred: bool | None = None,
    now: Instant,
) -> None:
    """Set status and star of those of the entries that belong to the user; None leaves one as it is.

    `changed_at` is set even where nothing else changes.
    """
    unique = sorted(set(entry_ids))
    feeds = {feed for batch in _batches(unique) for feed in db.scalars(_select_feed_ids, user=user_id, ids=batch)}
    counters.lock(db, user_id, feeds)
    values: dict[str, Any] = {"changed_at": now}
    if status is not None:
        values["status"] = int(status)
    if starred is not None:
        values["starred"] = starred
    delta = counters.CounterDelta()
    for batch in _batches(unique):
        for row in db.rows(_count_states, user=user_id, ids=batch):
            feed, times = row["feed_id"], row["count"]
            delta.add(feed, row["status"], starred=row["starred"], times=-times)
            new_star = row["starred"] if starred is None else starred
            delta.add(feed, row["status"] if status is None else status, starred=new_star, times=times)
        db.run(update(entries).where(_is_owned, _is_listed).values(**values), user=user_id, ids=batch)
    delta.write(db)


def edit(db: Write, entry: Entry, change: EntryEdit) -> None:
    """Write an edit by the user. The caller has locked the counters of the entry's feed.

    `changed_at` stays, because it records changes of status and star.
    """
    values: dict[str, Any] = {"edited": entries.c.edited.bitwise_or(int(change.edited))}
    if change.title is not None:
        values["title"] = change.title
    if change.reading_time is not None:
        values["reading_time"] = change.reading_time
    is_found = db.run(
        update(entries).where(_is_owned, entries.c.id == bindparam("entry")).values(**values),
        user=entry.user_id,
        entry=entry.id,
    )
    if not is_found:
        return
    if change.content is not None:
        set_content(db, entry.id, change.content)
    search_index.note_changed(db, entry.user_id, [entry.id])


def mark_read(
    db: Write,
    user_id: int,
    *,
    feed_id: int | None = None,
    category_id: int | None = None,
    published_before: Instant | None = None,
    created_before: Instant | None = None,
    starred: bool | None = None,
    except_feed_ids: Sequence[int] = (),
    page: PageRequest | None = None,
    now: Instant,
) -> int:
    """Mark unread entries of the user, or of one feed or category, as read. Returns how many.

    except_feed_ids: feeds whose entries stay unread. page: only entries that come after its cursor, in its order.
    """
    conditions: list[ColumnElement[bool]] = [entries.c.user_id == user_id, literal_column("entries.status = 0")]
    if feed_id is not None:
        counters.lock(db, user_id, [feed_id])
        conditions.append(entries.c.feed_id == feed_id)
    else:
        counters.lock_all(db, user_id)
    if category_id is not None:
        conditions.append(entries.c.category_id == category_id)
    if published_before is not None:
        conditions.append(entries.c.published_at < published_before)
    if created_before is not None:
        conditions.append(entries.c.created_at < created_before)
    if starred is not None:
        conditions.append(literal_column(f"entries.starred = {str(starred).lower()}"))
    if except_feed_ids:
        conditions.append(entries.c.feed_id.not_in(except_feed_ids))
    cursor: dict[str, int] = {}
    if page is not None and page.cursor is not None:
        conditions.append(list_statements.is_after_cursor(page.order, page.direction))
        cursor = list_statements.cursor_parameters(page)
    grouped = select(entries.c.feed_id, entries.c.starred, func.count()).where(*conditions)
    delta, marked = counters.CounterDelta(), 0
    for feed, starred, times in db.tuples(grouped.group_by(entries.c.feed_id, entries.c.starred), **cursor):
        delta.add(feed, EntryStatus.UNREAD, starred=starred, times=-times)
        delta.add(feed, EntryStatus.READ, starred=starred, times=times)
        marked += times
    if marked:
        db.run(update(entries).where(*conditions).values(status=int(EntryStatus.READ), changed_at=now), **cursor)
        delta.write(db)
    return marked


def _batches(ids: Sequence[int]) -> Iterator[Sequence[int]]:
    for start in range(0, len(ids), BATCH):
        yield ids[start : start + BATCH]
