"""The labels of a user, and which entries have them.

A transaction that gives or takes labels locks the counters of the entries' feeds (`counters.lock`), so that no entry is
deleted before it ends, and then the labels.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from sqlalchemy import ColumnElement, and_, bindparam, case, delete, exists, func, insert, select, update

from tidings.base.times import Instant
from tidings.domain.entries.entries import EntryStatus
from tidings.domain.entries.labels import Label, LabelCounts
from tidings.engine import full_text
from tidings.engine.database import Read, Write, columns
from tidings.engine.statements import in_list, lock_rows, upsert
from tidings.storage.accounts import change_log
from tidings.storage.accounts.change_log import ANY, Kind
from tidings.storage.ownership import of_same_user
from tidings.storage.schema import entries, entry_labels, labels

# Ids per statement.
BATCH = 5_000

_select_by_user = select(*columns(labels, Label)).where(labels.c.user_id == bindparam("user"))
_select_by_id = _select_by_user.where(labels.c.id == bindparam("id"))
_select_by_key = _select_by_user.where(labels.c.name_key == bindparam("key"))
_lock_by_key = (
    select(labels.c.id, labels.c.name_key)
    .where(labels.c.user_id == bindparam("user"), in_list(labels.c.name_key, "keys"))
    .order_by(labels.c.id)
    .with_for_update()
)
_lock_all = select(labels.c.id).where(labels.c.user_id == bindparam("user")).order_by(labels.c.id).with_for_update()
_set_position = (
    update(labels)
    .where(labels.c.user_id == bindparam("user"), labels.c.id == bindparam("label"))
    .values(position=bindparam("place"))
)
_select_owned = select(labels.c.id).where(labels.c.user_id == bindparam("user"), in_list(labels.c.id, "ids"))
_lock_by_id = (
    select(labels.c.id)
    .where(labels.c.user_id == bindparam("user"), in_list(labels.c.id, "ids"))
    .order_by(labels.c.id)
    .with_for_update()
)
_count = (
    select(
        entry_labels.c.label_id,
        func.count().label("entries"),
        func.sum(case((entries.c.status == int(EntryStatus.UNREAD), 1), else_=0)).label("unread"),
    )
    .select_from(
        entry_labels.join(entries, and_(entries.c.id == entry_labels.c.entry_id, of_same_user(entries, entry_labels)))
    )
    .where(
        entry_labels.c.user_id == bindparam("user"),
        in_list(entry_labels.c.label_id, "labels"),
        full_text.without_index(entries.c.status) != int(EntryStatus.REMOVED),
    )
    .group_by(entry_labels.c.label_id)
)

_select_with_unread = select(labels.c.id).where(
    labels.c.user_id == bindparam("user"),
    exists()
    .where(
        entry_labels.c.label_id == labels.c.id,
        of_same_user(entry_labels, labels),
        entries.c.id == entry_labels.c.entry_id,
        of_same_user(entries, entry_labels),
        full_text.without_index(entries.c.status) == int(EntryStatus.UNREAD),
    )
    .correlate(labels),
)


# A condition on entries that cleanup may delete.
is_unlabelled = ~exists().where(entry_labels.c.entry_id == entries.c.id, entry_labels.c.user_id == entries.c.user_id)


_select_of_entries = (
    select(entry_labels.c.entry_id, *columns(labels, Label))
    .join_from(entry_labels, labels, and_(labels.c.id == entry_labels.c.label_id, of_same_user(labels, entry_labels)))
    .where(entry_labels.c.user_id == bindparam("user"), in_list(entry_labels.c.entry_id, "ids"))
)
_given = ("label_id", "entry_id")
_attach = upsert(entry_labels, _given).from_select(
    [*_given, "user_id", "published_at"],
    select(
        bindparam("label", type_=entry_labels.c.label_id.type),
        entries.c.id,
        entries.c.user_id,
        entries.c.published_at,
    ).where(
        full_text.without_index(entries.c.user_id) == bindparam("user"),
        in_list(entries.c.id, "ids"),
        entries.c.status != int(EntryStatus.REMOVED),
    ),
)
_is_given = (
    entry_labels.c.user_id == bindparam("user"),
    in_list(entry_labels.c.label_id, "labels"),
    in_list(entry_labels.c.entry_id, "ids"),
)
_select_given = select(entry_labels.c.entry_id).where(*_is_given).distinct()
_detach = delete(entry_labels).where(*_is_given)
_touch = update(entries).where(
    full_text.without_index(entries.c.user_id) == bindparam("user"), in_list(entries.c.id, "ids")
)
_select_labelled = (
    select(entry_labels.c.entry_id)
    .where(
        entry_labels.c.user_id == bindparam("user"),
        entry_labels.c.label_id == bindparam("label"),
        entry_labels.c.entry_id > bindparam("after"),
    )
    .order_by(entry_labels.c.entry_id)
    .limit(BATCH)
)
_set_published = update(entry_labels).where(
    entry_labels.c.user_id == bindparam("user"), entry_labels.c.entry_id == bindparam("entry")
)


def list_all(db: Read, user_id: int) -> list[Label]:
    """Return the user's labels in their order: the user's own, then by name without regard to case."""
    return sorted(db.all(Label, _select_by_user, user=user_id), key=_order)


def _order(label: Label) -> tuple[bool, int, str, str]:
    return label.order


def get(db: Read, user_id: int, label_id: int) -> Label | None:
    return db.one(Label, _select_by_id, user=user_id, id=label_id)


def owned(db: Read, user_id: int, label_ids: Iterable[int]) -> list[int]:
    """Return which of these labels are the user's."""
    return db.scalars(_select_owned, user=user_id, ids=sorted(set(label_ids)))


def by_key(db: Read, user_id: int, name_key: str) -> Label | None:
    """Return the label with this case-folded name; None if there is none."""
    return db.one(Label, _select_by_key, user=user_id, key=name_key)


def counts(db: Read, user_id: int, label_ids: Iterable[int]) -> dict[int, LabelCounts]:
    """Return counts by label id; a label without entries is missing. Looks up each entry of these labels."""
    wanted = sorted(set(label_ids))
    return {
        row["label_id"]: LabelCounts(entries=row["entries"], unread=int(row["unread"]))
        for row in (db.rows(_count, user=user_id, labels=wanted) if wanted else ())
    }


def with_unread(db: Read, user_id: int) -> set[int]:
    """Return the ids of the labels that unread entries have. Looks up entries of each until one is unread."""
    return set(db.scalars(_select_with_unread, user=user_id))


def of_entries(db: Read, user_id: int, entry_ids: Iterable[int]) -> dict[int, list[Label]]:
    """Return the labels of entries by entry id, each list in order; an entry without labels is missing."""
    found: dict[int, list[Label]] = {}
    for entry_id, *values in db.tuples(_select_of_entries, user=user_id, ids=set(entry_ids)):
        found.setdefault(entry_id, []).append(Label(*values))
    for attached in found.values():
        if len(attached) > 1:
            attached.sort(key=_order)
    return found


def add(db: Write, user_id: int, name: str, name_key: str, color: str = "") -> int:
    """Add a label and return its id. name_key: the case-folded name, which the user does not have yet."""
    label_id = db.insert(insert(labels).values(user_id=user_id, name=name, name_key=name_key, color=color))
    change_log.note(db, user_id, Kind.LABEL, [label_id])
    return label_id


def ensure(db: Write, user_id: int, names: Mapping[str, str], others: Iterable[str] = ()) -> dict[str, int]:
    """Add the labels that the user does not have, and lock all of them. Returns their ids by case-folded name.

    names: the names as written, by case-folded name. others: case-folded names of labels that are locked as well, if
    they exist.
    """
    add_missing(db, user_id, names)
    # In one statement, since two could take them in another order than another transaction.
    return {row["name_key"]: row["id"] for row in db.rows(_lock_by_key, user=user_id, keys=sorted({*names, *others}))}


def add_missing(db: Write, user_id: int, names: Mapping[str, str], color: str = "") -> None:
    """Add the labels that the user does not have. names: the names as written, by case-folded name."""
    # Sorted: transactions that add the same names wait for each other in one order.
    rows = [
        {"user_id": user_id, "name": name, "name_key": name_key, "color": color}
        for name_key, name in sorted(names.items())
    ]
    db.run_many(upsert(labels, ["user_id", "name_key"]), rows)
    if rows:
        # Clients get all labels when one has changed, so that any id will do.
        change_log.note(db, user_id, Kind.LABEL, [ANY])


def lock(db: Write, user_id: int, label_ids: Iterable[int]) -> list[int]:
    """Lock the user's labels among these until the transaction ends. Returns their ids, ascending."""
    return db.scalars(_lock_by_id, user=user_id, ids=sorted(set(label_ids)))


def change(db: Write, user_id: int, label_id: int, *, name: str, name_key: str, color: str) -> None:
    is_owned = (labels.c.user_id == user_id, labels.c.id == label_id)
    db.run(update(labels).where(*is_owned).values(name=name, name_key=name_key, color=color))
    change_log.note(db, user_id, Kind.LABEL, [label_id])


def lock_all(db: Write, user_id: int) -> None:
    """Lock all labels of the user."""
    lock_rows(db, _lock_all, user=user_id)


def set_order(db: Write, user_id: int, in_order: Iterable[Label]) -> None:
    """Write the order of labels, which the caller has locked. in_order: all that are to be ordered by the user."""
    places = ((label, place) for place, label in enumerate(in_order, 1) if label.position != place)
    # By id, as others lock them.
    rows = [{"label": label.id, "place": place} for label, place in sorted(places, key=lambda moved: moved[0].id)]
    db.run_many(_set_position, [{"user": user_id, **row} for row in rows])
    change_log.note(db, user_id, Kind.LABEL, [row["label"] for row in rows])


def remove(db: Write, user_id: int, label_id: int) -> bool:
    """Delete a label; its entries stay. Returns False if the user has no such label."""
    change_log.note(db, user_id, Kind.LABEL, [label_id])
    return db.run(delete(labels).where(labels.c.user_id == user_id, labels.c.id == label_id)) > 0


def attach(db: Write, user_id: int, label_ids: Iterable[int], entry_ids: Sequence[int]) -> None:
    """Give labels to entries, except to those that have them.

    Ids of entries that are removed or not the user's are ignored.

    label_ids: labels of this user. The caller has locked the labels, and the counters of the entries' feeds.
    """
    for label_id in label_ids:
        for start in range(0, len(entry_ids), BATCH):
            db.run(_attach, user=user_id, label=label_id, ids=entry_ids[start : start + BATCH])
    change_log.note(db, user_id, Kind.ENTRY, entry_ids)


def detach(db: Write, user_id: int, label_ids: Sequence[int], entry_ids: Sequence[int], *, now: Instant) -> None:
    """Take labels from entries. As without a star, the time until cleanup begins again for entries that had one."""
    for start in range(0, len(entry_ids), BATCH):
        given = {"user": user_id, "labels": list(label_ids), "ids": entry_ids[start : start + BATCH]}
        if had := db.scalars(_select_given, **given):
            db.run(_detach, **given)
            db.run(_touch.values(changed_at=now), user=user_id, ids=sorted(had))
            change_log.note(db, user_id, Kind.ENTRY, had)


def detach_all(db: Write, user_id: int, label_id: int, *, now: Instant) -> None:
    """Take a label from all its entries, as `detach`. The caller has locked the counters of all feeds of the user."""
    after = 0
    while ids := db.scalars(_select_labelled, user=user_id, label=label_id, after=after):
        detach(db, user_id, [label_id], ids, now=now)
        after = ids[-1]


def has_all(entry_id: ColumnElement[int], user_id: int, label_ids: Iterable[int]) -> list[ColumnElement[bool]]:
    """Return the conditions that an entry has these labels of the user, one for each."""
    is_owned = entry_labels.c.user_id == user_id
    return [
        entry_id.in_(select(entry_labels.c.entry_id).where(is_owned, entry_labels.c.label_id == label_id))
        for label_id in label_ids
    ]


def has_any(entry_id: ColumnElement[int], user_id: int, parameter: str) -> ColumnElement[bool]:
    """Return the condition that an entry has one of the user's labels in the list of a parameter."""
    is_owned = entry_labels.c.user_id == user_id
    return entry_id.in_(select(entry_labels.c.entry_id).where(is_owned, in_list(entry_labels.c.label_id, parameter)))


def set_published(db: Write, user_id: int, entry_id: int, published_at: Instant) -> None:
    """Write the new time of an entry that got its date after it was stored."""
    db.run(_set_published.values(published_at=published_at), user=user_id, entry=entry_id)
