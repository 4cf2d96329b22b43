"""Marking several entries read, and taking that back."""

from __future__ import annotations

from collections.abc import Sequence

from sqlalchemy import bindparam, select

from tidings.domain.entries import Status
from tidings.domain.times import Instant
from tidings.storage import entries as rows
from tidings.storage.database import Read, Write
from tidings.storage.schema import entries

_mine = entries.c.user_id == bindparam("user")
_unread = select(entries.c.id).where(
    _mine,
    entries.c.id.in_(bindparam("ids", expanding=True, literal_execute=True)),
    entries.c.status == int(Status.UNREAD),
)
_read_at = select(entries.c.id).where(
    _mine, entries.c.changed_at == bindparam("moment"), entries.c.status == int(Status.READ)
)


def unread_of(db: Read, user_id: int, entry_ids: Sequence[int]) -> list[int]:
    """Those of them that are the user's and unread. So many as one statement may hold."""
    return db.scalars(_unread, user=user_id, ids=list(entry_ids)[: rows.BATCH])


def mark_unread_again(db: Write, user_id: int, moment: Instant, *, now: Instant) -> int:
    """What was marked read at that very moment, and not touched since; how many entries."""
    ids = db.scalars(_read_at, user=user_id, moment=moment)
    if ids:
        rows.set_state(db, user_id, ids, status=Status.UNREAD, now=now)
    return len(ids)
