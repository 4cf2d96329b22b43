"""Read entries that become unread again at a time, as far as changes of the core concern them.

A snooze ends when its entry is no longer read, whoever changes that. The slice `snooze` has the rest.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

from sqlalchemy import bindparam, delete, exists, select

from tidings.base.times import Instant
from tidings.engine.database import Read, Write
from tidings.engine.statements import in_list, upsert
from tidings.storage.schema import entries, snoozed_entries

# How far ahead an entry may be snoozed.
MAX_DAYS = 366

_is_listed = in_list(snoozed_entries.c.entry_id, "ids")
_select_until = select(snoozed_entries.c.entry_id, snoozed_entries.c.until).where(
    snoozed_entries.c.user_id == bindparam("user"), _is_listed
)
_put = upsert(snoozed_entries, ["entry_id"], update=("until",))
_end = delete(snoozed_entries).where(in_list(snoozed_entries.c.user_id, "users"), _is_listed)

# A condition on entries that cleanup may delete.
is_not_snoozed = ~exists().where(
    snoozed_entries.c.entry_id == entries.c.id, snoozed_entries.c.user_id == entries.c.user_id
)


def until(db: Read, user_id: int, entry_ids: Sequence[int]) -> dict[int, Instant]:
    """Return until when entries of a user are snoozed, by id; others are left out."""
    return dict(db.tuples(_select_until, user=user_id, ids=sorted(entry_ids)))


def put(db: Write, user_id: int, times: Mapping[int, Instant]) -> None:
    """Snooze entries of the user until the given times, by id. They are read, and the caller has locked them."""
    if times:
        db.run_many(
            _put, [{"entry_id": id_, "user_id": user_id, "until": until} for id_, until in sorted(times.items())]
        )


def end(db: Write, user_ids: Collection[int], entry_ids: Collection[int]) -> None:
    """End the snooze of entries of these users that have one."""
    if entry_ids:
        db.run(_end, users=sorted(user_ids), ids=sorted(entry_ids))
