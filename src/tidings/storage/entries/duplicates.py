"""Entries that repeat an entry of another feed, their original.

A duplicate is folded (its status is FOLDED) or has a status of its own, as its user wants. No list and no count has a
folded entry: its original represents it. Read state, star and labels are the original's. The slice `duplicates` finds
duplicates; this module has what the lists and changes of the core need.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence

from msgspec import Struct
from sqlalchemy import and_, bindparam, delete, false, select, true, union_all, update

from tidings.domain.entries.entries import EntryStatus
from tidings.engine import full_text
from tidings.engine.database import Read, Write
from tidings.engine.statements import in_list, upsert
from tidings.storage.accounts import change_log
from tidings.storage.accounts.change_log import Kind
from tidings.storage.entries import counters
from tidings.storage.ownership import of_same_user
from tidings.storage.schema import duplicates, entries, entry_labels, feeds


class Other(Struct, frozen=True):
    """Another entry with the same article as an entry."""

    entry_id: int
    other_id: int
    is_original: bool
    """Whether the entry repeats the other one; otherwise the other one repeats it."""
    feed_id: int
    feed_title: str
    status: int
    """The other's."""


_is_owned = duplicates.c.user_id == bindparam("user")
_pairs = union_all(
    select(duplicates.c.entry_id, duplicates.c.original_id.label("other_id"), true().label("is_original")).where(
        _is_owned, in_list(duplicates.c.entry_id, "ids")
    ),
    select(
        duplicates.c.original_id.label("entry_id"),
        duplicates.c.entry_id.label("other_id"),
        false().label("is_original"),
    ).where(_is_owned, in_list(duplicates.c.original_id, "ids")),
).subquery()
_select_others = (
    select(
        _pairs.c.entry_id,
        _pairs.c.other_id,
        _pairs.c.is_original,
        entries.c.feed_id,
        feeds.c.title.label("feed_title"),
        entries.c.status,
    )
    .select_from(
        _pairs.join(entries, entries.c.id == _pairs.c.other_id).join(
            feeds, and_(feeds.c.id == entries.c.feed_id, of_same_user(feeds, entries))
        )
    )
    .where(
        full_text.without_index(entries.c.user_id) == bindparam("user"), entries.c.status != int(EntryStatus.REMOVED)
    )
    .order_by(_pairs.c.entry_id, _pairs.c.other_id)
)
_select_originals = select(duplicates.c.entry_id, duplicates.c.original_id).where(
    in_list(duplicates.c.user_id, "users"), in_list(duplicates.c.entry_id, "ids")
)
_select_folded = (
    select(duplicates.c.entry_id)
    .select_from(duplicates.join(entries, entries.c.id == duplicates.c.entry_id))
    .where(
        _is_owned,
        in_list(duplicates.c.original_id, "ids"),
        full_text.without_index(entries.c.user_id) == bindparam("user"),
        entries.c.status == int(EntryStatus.FOLDED),
    )
)
_in_list = [in_list(duplicates.c.user_id, "users"), in_list(duplicates.c.entry_id, "ids")]
_copies = duplicates.alias("copies")
_are_copies = and_(_copies.c.original_id == duplicates.c.original_id, _copies.c.user_id == duplicates.c.user_id)
# A folded one is not unread. The second are those under an original itself.
_same = union_all(
    select(duplicates.c.original_id.label("id")).where(*_in_list),
    select(duplicates.c.entry_id).where(
        in_list(duplicates.c.user_id, "users"), in_list(duplicates.c.original_id, "ids")
    ),
    select(_copies.c.entry_id).select_from(duplicates.join(_copies, _are_copies)).where(*_in_list),
).subquery()
_select_unread_copies = select(entries.c.user_id, entries.c.id).where(
    in_list(full_text.without_index(entries.c.user_id), "users"),
    entries.c.id.in_(select(_same.c.id)),
    full_text.without_index(entries.c.status) == int(EntryStatus.UNREAD),
    ~in_list(entries.c.id, "ids"),
)
_select_of_folded = select(entries.c.id).where(
    in_list(full_text.without_index(entries.c.user_id), "users"),
    in_list(entries.c.id, "ids"),
    entries.c.status == int(EntryStatus.FOLDED),
)
_representative = entries.alias("representative")
_select_alone = (
    select(
        duplicates.c.entry_id, duplicates.c.status, duplicates.c.original_status, _representative.c.status.label("now")
    )
    .select_from(
        duplicates.outerjoin(
            _representative,
            and_(_representative.c.id == duplicates.c.original_id, _representative.c.user_id == duplicates.c.user_id),
        )
    )
    .where(_is_owned, in_list(duplicates.c.entry_id, "ids"))
)
_forget = delete(duplicates).where(_is_owned, in_list(duplicates.c.original_id, "ids"))
_original = entries.alias("original")
_select_heirs = (
    select(
        duplicates.c.entry_id,
        duplicates.c.original_id,
        entries.c.feed_id,
        entries.c.published_at,
        _original.c.status,
        _original.c.starred,
    )
    .select_from(
        duplicates.join(entries, entries.c.id == duplicates.c.entry_id).join(
            _original, and_(_original.c.id == duplicates.c.original_id, _original.c.user_id == duplicates.c.user_id)
        )
    )
    .where(
        _is_owned,
        full_text.without_index(entries.c.user_id) == bindparam("user"),
        entries.c.status == int(EntryStatus.FOLDED),
        in_list(full_text.without_index(_original.c.feed_id), "feeds"),
        ~in_list(full_text.without_index(entries.c.feed_id), "feeds"),
    )
    .order_by(duplicates.c.original_id, duplicates.c.entry_id)
)
_unfold = (
    update(entries)
    .where(full_text.without_index(entries.c.user_id) == bindparam("user"), entries.c.id == bindparam("entry"))
    .values(status=bindparam("new_status"), starred=bindparam("new_star"))
)
_remove = delete(duplicates).where(_is_owned, duplicates.c.entry_id == bindparam("entry"))
_set_original = (
    update(duplicates)
    .where(_is_owned, duplicates.c.original_id == bindparam("before"))
    .values(original_id=bindparam("after"))
)
_select_labels = select(entry_labels.c.entry_id, entry_labels.c.label_id).where(
    entry_labels.c.user_id == bindparam("user"), in_list(entry_labels.c.entry_id, "ids")
)
_attach = upsert(entry_labels, ["label_id", "entry_id"])


def others_of(db: Read, user_id: int, entry_ids: Sequence[int]) -> dict[int, list[Other]]:
    """Return the original of each entry, or its duplicates, oldest first, by entry id; entries without are missing."""
    found: defaultdict[int, list[Other]] = defaultdict(list)
    for other in db.all(Other, _select_others, user=user_id, ids=list(entry_ids)) if entry_ids else ():
        found[other.entry_id].append(other)
    return dict(found)


def unread_copies(db: Read, user_ids: Sequence[int], entry_ids: Collection[int]) -> dict[int, list[int]]:
    """Return the unread entries that are the same as one of these, by user id."""
    found: defaultdict[int, list[int]] = defaultdict(list)
    wanted = sorted(entry_ids)
    for user_id, entry_id in db.tuples(_select_unread_copies, users=user_ids, ids=wanted) if wanted else ():
        found[user_id].append(entry_id)
    return dict(found)


def originals(db: Read, user_ids: Sequence[int], entry_ids: Collection[int]) -> dict[int, int]:
    """Return the id of the original of each entry of these users that repeats one."""
    rows = db.rows(_select_originals, users=user_ids, ids=sorted(entry_ids)) if entry_ids else ()
    return {row["entry_id"]: row["original_id"] for row in rows}


def originals_or_selves(db: Read, user_id: int, entry_ids: Sequence[int]) -> list[int]:
    """Return entries, each folded one replaced by the one that represents it."""
    folded = db.scalars(_select_of_folded, users=[user_id], ids=sorted(entry_ids))
    represented = originals(db, [user_id], folded) if folded else {}
    return list(dict.fromkeys(represented.get(entry_id, entry_id) for entry_id in entry_ids))


def statuses_alone(db: Read, user_id: int, entry_ids: Sequence[int]) -> dict[int, int]:
    """Return the statuses that folded entries would have if they were not folded, by entry id."""
    return {
        row["entry_id"]: status_alone(row["status"], row["original_status"], row["now"])
        for row in (db.rows(_select_alone, user=user_id, ids=list(entry_ids)) if entry_ids else ())
    }


def status_alone(own: int, original_before: int, original_now: int | None) -> int:
    """Return the status of an entry that is no longer folded.

    Its own, before; read, if its original was read since. original_before, original_now: the original's statuses, None
    if it was deleted.
    """
    was_read = original_now == EntryStatus.READ and original_before == EntryStatus.UNREAD
    return int(EntryStatus.READ) if was_read else own


def forget_originals(db: Write, user_id: int, entry_ids: Sequence[int]) -> list[int]:
    """Return the entries that are folded under these, which are deleted; nothing repeats them any more."""
    folded = db.scalars(_select_folded, user=user_id, ids=list(entry_ids))
    db.run(_forget, user=user_id, ids=list(entry_ids))
    change_log.note(db, user_id, Kind.ENTRY, folded)
    return folded


def set_originals(db: Write, user_id: int, originals: Mapping[int, int]) -> None:
    """Let what repeats an entry repeat another one. originals: the new one, by the id of the earlier one."""
    rows = [{"user": user_id, "before": before, "after": after} for before, after in sorted(originals.items())]
    db.run_many(_set_original, rows)
    change_log.note(db, user_id, Kind.ENTRY, originals.values())


def lock_for_deletion(db: Write, user_id: int, feed_ids: Collection[int]) -> list[int]:
    """Lock the counters of feeds that are to be deleted, and of those that `keep_folded` changes. Returns the former.

    Polls lock counters first, too: in another order, the two transactions would deadlock.
    """
    of_heirs = {row["feed_id"] for row in db.rows(_select_heirs, user=user_id, feeds=sorted(feed_ids))}
    return [feed_id for feed_id in counters.lock(db, user_id, {*feed_ids, *of_heirs}) if feed_id in feed_ids]


def keep_folded(db: Write, user_id: int, feed_ids: Collection[int]) -> None:
    """Let the oldest entry folded under each entry of feeds that are deleted take its place, with its star and labels.

    The caller has called `lock_for_deletion`.
    """
    heirs = {row["original_id"]: row for row in reversed(db.rows(_select_heirs, user=user_id, feeds=sorted(feed_ids)))}
    if not heirs:
        return
    change_log.note(db, user_id, Kind.ENTRY, [heir["entry_id"] for heir in heirs.values()])
    delta = counters.CounterDelta()
    for heir in heirs.values():
        delta.add(user_id, heir["feed_id"], heir["status"], starred=heir["starred"])
    db.run_many(
        _unfold,
        [
            {"user": user_id, "entry": heir["entry_id"], "new_status": heir["status"], "new_star": heir["starred"]}
            for heir in heirs.values()
        ],
    )
    db.run_many(_remove, [{"user": user_id, "entry": heir["entry_id"]} for heir in heirs.values()])
    set_originals(db, user_id, {id_: heir["entry_id"] for id_, heir in heirs.items()})
    labelled = db.rows(_select_labels, user=user_id, ids=sorted(heirs))
    db.run_many(
        _attach,
        [
            {
                "label_id": row["label_id"],
                "entry_id": heirs[row["entry_id"]]["entry_id"],
                "user_id": user_id,
                "published_at": heirs[row["entry_id"]]["published_at"],
            }
            for row in labelled
        ],
    )
    delta.write(db)
