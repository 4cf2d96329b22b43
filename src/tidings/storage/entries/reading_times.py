"""Reading times after a user changed the reading speed, and how far they are recomputed."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping

from sqlalchemy import bindparam, select, update

from tidings.domain.accounts.users import User
from tidings.engine.database import Read, Write
from tidings.engine.statements import in_list
from tidings.storage.accounts import change_log
from tidings.storage.accounts.change_log import Kind
from tidings.storage.schema import entries, users

_select_outdated = (
    select(users.c.id, users.c.reading_times_after)
    .where(users.c.reading_times_after.is_not(None))
    .order_by(users.c.id)
    .limit(1)
)
_set_minutes = (
    update(entries)
    .where(
        entries.c.user_id == bindparam("user"),
        in_list(entries.c.id, "ids"),
        entries.c.reading_time != bindparam("minutes"),
    )
    .values(reading_time=bindparam("minutes"))
)
_set_position = (
    update(users)
    .where(
        users.c.id == bindparam("user"),
        users.c.reading_times_after == bindparam("before"),
        users.c.default_reading_speed == bindparam("words"),
        users.c.cjk_reading_speed == bindparam("characters"),
    )
    .values(reading_times_after=bindparam("after"))
)


def first_outdated(db: Read) -> tuple[int, int] | None:
    """Return a user with outdated reading times, and the id of the last entry that is up to date; None without any."""
    for row in db.rows(_select_outdated):
        return row["id"], row["reading_times_after"]
    return None


def set_minutes(db: Write, user_id: int, minutes: Mapping[int, int]) -> None:
    """Write reading times by entry id. The caller has locked the counters of the entries' feeds."""
    ids_by_minutes: defaultdict[int, list[int]] = defaultdict(list)
    for entry_id, amount in minutes.items():
        ids_by_minutes[amount].append(entry_id)
    for amount, ids in ids_by_minutes.items():
        db.run(_set_minutes, user=user_id, ids=sorted(ids), minutes=amount)
    if ids_by_minutes:
        change_log.note(db, user_id, Kind.ENTRY, minutes)


def set_position(db: Write, user: User, *, before: int, after: int | None) -> None:
    """Move the position from `before` to `after`; None: all entries are up to date.

    user: has the speeds that the reading times were computed with. Nothing changes if others have been set since.
    """
    speeds = {"words": user.default_reading_speed, "characters": user.cjk_reading_speed}
    db.run(_set_position, user=user.id, before=before, after=after, **speeds)
