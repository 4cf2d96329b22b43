"""Enclosures and their playback positions."""

from __future__ import annotations

from sqlalchemy import bindparam, select, update

from tidings.domain.entries.entries import Enclosure
from tidings.engine.database import Read, Write, columns
from tidings.storage.accounts import change_log
from tidings.storage.accounts.change_log import Kind
from tidings.storage.schema import enclosures

_is_owned = (enclosures.c.user_id == bindparam("user"), enclosures.c.id == bindparam("enclosure"))
_select_by_id = select(*columns(enclosures, Enclosure)).where(*_is_owned)
_set_progression = (
    update(enclosures)
    .where(*_is_owned)
    .values(media_progression=bindparam("position"))
    .returning(enclosures.c.entry_id)
)


def get(db: Read, user_id: int, enclosure_id: int) -> Enclosure | None:
    return db.one(Enclosure, _select_by_id, user=user_id, enclosure=enclosure_id)


def set_progression(db: Write, user_id: int, enclosure_id: int, position: int) -> bool:
    """Store the playback position, in seconds. Returns False if the user has no such enclosure."""
    entry_id = db.scalar(_set_progression, user=user_id, enclosure=enclosure_id, position=position)
    if entry_id is not None:
        change_log.note(db, user_id, Kind.ENTRY, [entry_id])
    return entry_id is not None
