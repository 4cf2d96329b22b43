"""Reads single entries and changes their state.

Lists are in `storage.entries.entry_lists`; polled entries are stored by `storage.polling.entry_writes`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from msgspec import structs
from sqlalchemy import ColumnElement, and_, bindparam, func, literal_column, or_, select, true, update

from tidings.base.times import Instant
from tidings.domain.entries.entries import Entry, EntryStatus, Folded, PageRequest, Shown, UnreadLists
from tidings.domain.entries.entry_changes import EntryEdit
from tidings.domain.entries.state_changes import AppliedChanges, EntryKey, EntryState, StateChange, apply_all
from tidings.engine import full_text
from tidings.engine.database import Read, Write, columns
from tidings.engine.statements import in_joined_group, in_list, joined, lockable_together, split_ids
from tidings.storage.accounts import change_log
from tidings.storage.accounts.change_log import Kind
from tidings.storage.entries import counters, duplicates, folded, labels, list_statements, search_index, snoozed
from tidings.storage.entries.contents import set_content, set_contents
from tidings.storage.feeds import categories, further_categories
from tidings.storage.schema import entries, feed_counters

_is_owned = entries.c.user_id == bindparam("user")
_select_by_id = select(*columns(entries, Entry)).where(_is_owned, entries.c.id == bindparam("id"))
_is_listed = entries.c.id.in_(bindparam("ids", expanding=True, literal_execute=True))
# Found by the ids and then sorted: SQLite would read all entries of the user in order and pick out the listed ones.
_select_by_ids = (
    select(*columns(entries, Entry))
    .where(full_text.without_index(entries.c.user_id) == bindparam("user"), _is_listed)
    .order_by(entries.c.published_at, entries.c.id)
)
_select_with_feeds = select(entries.c.id, entries.c.feed_id).where(
    full_text.without_index(entries.c.user_id) == bindparam("user"), in_list(entries.c.id, "ids")
)
# The counters come first: a transaction that waits for them sees what the one before wrote, entries included. Rows of
# partitions are locked in the order in which FROM names their tables.
_lock_states = (
    select(entries.c.id, entries.c.user_id, entries.c.feed_id, entries.c.status, entries.c.starred)
    .join_from(
        feed_counters,
        entries,
        and_(entries.c.user_id == feed_counters.c.user_id, entries.c.feed_id == feed_counters.c.feed_id),
    )
    .where(
        in_list(full_text.without_index(entries.c.user_id), "users"),
        in_joined_group(feed_counters.c.user_id, "users"),
        in_list(entries.c.id, "ids"),
    )
    .order_by(feed_counters.c.feed_id, entries.c.id)
    .with_for_update(of=(feed_counters, entries), key_share=True)
)
_set_states = (
    update(entries)
    .where(in_list(full_text.without_index(entries.c.user_id), "users"), in_list(entries.c.id, "ids"))
    .values(status=bindparam("new_status"), starred=bindparam("new_star"), changed_at=bindparam("now"))
)

_select_differing = _select_with_feeds.where(entries.c.hidden != bindparam("new_hidden"))
_set_hidden = (
    update(entries)
    .where(full_text.without_index(entries.c.user_id) == bindparam("user"), in_list(entries.c.id, "ids"))
    .values(hidden=bindparam("new_hidden"))
)


def get(db: Read, user_id: int, entry_id: int) -> Entry | None:
    return db.one(Entry, _select_by_id, user=user_id, id=entry_id)


def get_many(db: Read, user_id: int, entry_ids: Sequence[int]) -> list[Entry]:
    """Return the entries with these ids that belong to the user, oldest first."""
    return db.all(Entry, _select_by_ids, user=user_id, ids=list(entry_ids))


def feeds_of(db: Read, user_id: int, entry_ids: Sequence[int]) -> list[tuple[int, int]]:
    """Return the ids that belong to entries of the user, each with the id of its feed."""
    return [(id_, feed) for id_, feed in db.tuples(_select_with_feeds, user=user_id, ids=sorted(set(entry_ids)))]


def set_state(
    db: Write,
    user_id: int,
    entry_ids: Sequence[int],
    *,
    status: EntryStatus | None = None,
    starred: bool | None = None,
    now: Instant,
) -> AppliedChanges:
    """Set status and star of the entries that belong to the user; None leaves the value as it is.

    `changed_at` is set even where nothing else changes.
    """
    return change_states(db, [StateChange(user_id, entry_ids, status, starred)], now=now)


def change_states(db: Write, changes: Sequence[StateChange], *, now: Instant) -> AppliedChanges:
    """Apply changes of any users, in this order.

    `changed_at` is set even where nothing else changes. Takes as many statements for many changes as for one. A change
    of a folded entry changes the one that represents it; reading an entry reads all that are the same.
    """
    users = sorted({change.user_id for change in changes})
    number = len(changes)
    read = {entry_id for change in changes if change.status is EntryStatus.READ for entry_id in change.entry_ids}
    copies = duplicates.unread_copies(db, users, read) if read else {}
    changes = [
        *changes,
        *(StateChange(user_id, ids, EntryStatus.READ, is_repeatable=True) for user_id, ids in copies.items()),
    ]
    states, feeds = _lock(db, users, changes)
    are_folded = [entry_id for (_, entry_id), state in states.items() if state.status == EntryStatus.FOLDED]
    if are_folded and (originals := duplicates.originals(db, users, are_folded)):
        changes = [
            structs.replace(change, entry_ids=[originals.get(entry_id, entry_id) for entry_id in change.entry_ids])
            for change in changes
        ]
        states, feeds = _lock(db, users, changes)
    new_states, found = apply_all(changes, states)
    delta = counters.CounterDelta()
    by_state: dict[EntryState, list[int]] = {}
    read_now: dict[int, list[int]] = {}
    starred_now: dict[int, list[int]] = {}
    no_longer_read: list[int] = []
    for key, new in new_states.items():
        by_state.setdefault(new, []).append(key[1])
        if (old := states[key]) != new:
            if old.status == EntryStatus.UNREAD and new.status == EntryStatus.READ:
                read_now.setdefault(key[0], []).append(key[1])
            if old.status == EntryStatus.READ and new.status != EntryStatus.READ:
                no_longer_read.append(key[1])
            if new.starred and not old.starred:
                starred_now.setdefault(key[0], []).append(key[1])
            delta.add(key[0], feeds[key], old.status, starred=old.starred, times=-1)
            delta.add(key[0], feeds[key], new.status, starred=new.starred)
    db.run_many(
        _set_states,
        [
            {"users": users, "ids": listed, "new_status": new.status, "new_star": new.starred, "now": now}
            for new, listed in by_state.items()
        ],
    )
    snoozed.end(db, users, no_longer_read)
    delta.write(db)
    for user_id, entry_id in new_states:
        change_log.note(db, user_id, Kind.ENTRY, [entry_id])
    return AppliedChanges(found[:number], read_now, starred_now)


def _lock(
    db: Write, users: Sequence[int], changes: Sequence[StateChange]
) -> tuple[dict[EntryKey, EntryState], dict[EntryKey, int]]:
    """Lock the entries that changes name, with the counters of their feeds. Return their states and feeds."""
    ids = sorted({entry_id for change in changes for entry_id in change.entry_ids})
    states: dict[EntryKey, EntryState] = {}
    feeds: dict[EntryKey, int] = {}
    for some in lockable_together(db, users):
        for entry_id, user_id, feed_id, status, starred in db.tuples(_lock_states, users=some, ids=ids):
            feeds[user_id, entry_id] = feed_id
            states[user_id, entry_id] = EntryState(status, starred)
    return states, feeds


def set_hidden(db: Write, user_id: int, entry_ids: Sequence[int], *, hidden: bool) -> int:
    """Hide entries of the user from the global lists, or show them there. The caller has locked their feeds' counters.

    `changed_at` stays. Returns how many were not so before.
    """
    found = dict(db.tuples(_select_differing, user=user_id, ids=sorted(set(entry_ids)), new_hidden=hidden))
    if not found:
        return 0
    delta = counters.CounterDelta()
    for feed_id in found.values():
        # Counts of feeds stay, but queries may ask for hidden entries.
        delta.add(user_id, feed_id, EntryStatus.UNREAD, starred=False, times=0)
    db.run(_set_hidden, user=user_id, ids=sorted(found), new_hidden=hidden)
    delta.write(db)
    change_log.note(db, user_id, Kind.ENTRY, sorted(found))
    return len(found)


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
    if change.content is not None and change.other_content is not None:
        set_contents(db, entry.user_id, entry.id, change.content, change.other_content)
    elif change.content is not None:
        set_content(db, entry.user_id, entry.id, change.content)
    search_index.note_changed(db, entry.user_id, [entry.id])
    change_log.note(db, entry.user_id, Kind.ENTRY, [entry.id])


def switch_content(db: Write, entry: Entry, content: str, other_content: str, *, edited: int, minutes: int) -> None:
    """Exchange the content of an entry with the one that was not shown. The caller has locked the feed's counters.

    edited: bits of the fields that no longer follow the publisher. minutes: the reading time.
    """
    statement = update(entries).where(_is_owned, entries.c.id == bindparam("entry"))
    values = {"edited": edited, "reading_time": minutes}
    if db.run(statement.values(**values), user=entry.user_id, entry=entry.id):
        set_contents(db, entry.user_id, entry.id, content, other_content)
        search_index.note_changed(db, entry.user_id, [entry.id])
        change_log.note(db, entry.user_id, Kind.ENTRY, [entry.id])


def mark_read(
    db: Write,
    user_id: int,
    *,
    entry_ids: Sequence[int] | None = None,
    feed_id: int | None = None,
    category_id: int | None = None,
    published_before: Instant | None = None,
    created_before: Instant | None = None,
    starred: bool | None = None,
    label_ids: Sequence[int] = (),
    lists: UnreadLists | None = None,
    except_feed_ids: Sequence[int] = (),
    except_hidden: bool = False,
    page: PageRequest | None = None,
    shown: Shown | None = None,
    for_app: bool = False,
    now: Instant,
) -> int:
    """Mark unread entries of the user, or of one feed, or of a category with those below it, as read. Returns how many.

    entry_ids: only these. label_ids: only entries with all of these labels. lists: only entries in one of them.
    except_feed_ids: feeds whose entries stay unread. except_hidden: entries that are hidden themselves stay unread.
    page: only entries that come after its cursor, in its order. shown: only entries that were shown. for_app: where
    apps see folded entries as unread, the ones that represent them are marked as well.
    """
    with_folded = for_app and folded.seen_by_apps(db, user_id) is Folded.ALL
    conditions = _is_unread(user_id, entry_ids)
    if feed_id is not None:
        conditions.append(entries.c.feed_id == feed_id)
    if feed_id is not None and not with_folded:
        counters.lock(db, user_id, [feed_id])
    else:
        counters.lock_all(db, user_id)
    if category_id is not None:
        category_ids = categories.with_below(db, user_id, [category_id])
        is_inside: ColumnElement[bool] = entries.c.category_id.in_(category_ids)
        further = further_categories.feeds_in(db, user_id, category_ids)
        conditions.append(or_(is_inside, entries.c.feed_id.in_(further)) if further else is_inside)
    if published_before is not None:
        conditions.append(entries.c.published_at < published_before)
    if created_before is not None:
        conditions.append(entries.c.created_at < created_before)
    if starred is not None:
        conditions.append(literal_column(f"entries.starred = {str(starred).lower()}"))
    conditions += [_is_shown(shown)] if shown is not None else []
    conditions += labels.has_all(entries.c.id, user_id, label_ids)
    conditions += [entries.c.feed_id.not_in(except_feed_ids)] if except_feed_ids else []
    conditions += [literal_column("entries.hidden = false")] if except_hidden else []
    conditions += _is_in_one_of(user_id, lists)
    parameters: dict[str, Any] = _list_parameters(db, user_id, lists)
    if page is not None and page.cursor is not None:
        conditions.append(list_statements.is_after_cursor(page.order, page.direction))
        parameters |= list_statements.cursor_parameters(page)
    # The first two conditions are the owner and the status.
    marked = _mark_represented(db, user_id, conditions[2:], parameters, now) if with_folded else 0
    return marked + _mark_read(db, user_id, conditions, parameters, now)


def _mark_represented(
    db: Write, user_id: int, conditions: Sequence[ColumnElement[bool]], parameters: Mapping[str, Any], now: Instant
) -> int:
    """Mark the unread entries as read that represent folded ones that meet conditions. Returns how many."""
    ids = folded.originals(db, user_id, conditions, parameters)
    if ids:
        change_states(db, [StateChange(user_id, ids, EntryStatus.READ, is_repeatable=True)], now=now)
    return len(ids)


def _mark_read(
    db: Write, user_id: int, conditions: Sequence[ColumnElement[bool]], parameters: Mapping[str, Any], now: Instant
) -> int:
    """Mark the unread entries that meet conditions as read. Returns how many."""
    grouped = select(entries.c.feed_id, entries.c.starred, func.count(), joined(entries.c.id)).where(*conditions)
    delta, marked = counters.CounterDelta(), 0
    for feed, starred, times, ids in db.tuples(grouped.group_by(entries.c.feed_id, entries.c.starred), **parameters):
        change_log.note(db, user_id, Kind.ENTRY, split_ids(ids))
        delta.add(user_id, feed, EntryStatus.UNREAD, starred=starred, times=-times)
        delta.add(user_id, feed, EntryStatus.READ, starred=starred, times=times)
        marked += times
    if marked:
        db.run(update(entries).where(*conditions).values(status=int(EntryStatus.READ), changed_at=now), **parameters)
        delta.write(db)
    return marked


def _is_unread(user_id: int, entry_ids: Sequence[int] | None) -> list[ColumnElement[bool]]:
    """Return the conditions on unread entries of the user, after owner and status the others. entry_ids: only these."""
    is_unread: ColumnElement[bool] = literal_column("entries.status = 0")
    if entry_ids is None:
        return [entries.c.user_id == user_id, is_unread]
    is_listed = in_list(entries.c.id, "ids").params(ids=entry_ids)
    return [full_text.without_index(entries.c.user_id) == user_id, is_unread, is_listed]


def _is_shown(shown: Shown) -> ColumnElement[bool]:
    """Return the condition on an entry that was shown.

    Nearly all unread ones were: those are found by their status, not by an index on ids.
    """
    entry_id = full_text.without_index(entries.c.id)
    return (entry_id <= shown.newest_id) | in_list(entry_id, "later").params(later=shown.later_ids)


def _is_in_one_of(user_id: int, lists: UnreadLists | None) -> list[ColumnElement[bool]]:
    """Return the condition that an entry is in one of several lists; none for None."""
    if lists is None:
        return []
    has_star = [entries.c.starred == true()] if lists.starred else []
    return [
        or_(
            in_list(entries.c.feed_id, "feeds"),
            in_list(entries.c.category_id, "categories"),
            labels.has_any(entries.c.id, user_id, "labels"),
            *has_star,
        )
    ]


def _list_parameters(db: Read, user_id: int, lists: UnreadLists | None) -> dict[str, Any]:
    if lists is None:
        return {}
    category_ids = categories.with_below(db, user_id, lists.category_ids)
    feed_ids = {*lists.feed_ids, *further_categories.feeds_in(db, user_id, category_ids)}
    return {"feeds": sorted(feed_ids), "categories": category_ids, "labels": lists.label_ids}
