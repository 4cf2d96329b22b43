"""Enclosures, and how far their user has come in them."""

from __future__ import annotations

from sqlalchemy import bindparam, select, update

from tidings.domain.entries.entries import Enclosure
from tidings.storage.engine.database import Read, Write, columns
from tidings.storage.schema import enclosures

_mine = (enclosures.c.user_id == bindparam("user"), enclosures.c.id == bindparam("enclosure"))
_by_id = select(*columns(enclosures, Enclosure)).where(*_mine)
_set_progression = update(enclosures).where(*_mine).values(media_progression=bindparam("position"))


def get(db: Read, user_id: int, enclosure_id: int) -> Enclosure | None:
    return db.one(Enclosure, _by_id, user=user_id, enclosure=enclosure_id)


def set_progression(db: Write, user_id: int, enclosure_id: int, position: int) -> bool:
    """position: seconds. False when there is no such enclosure."""
    return db.run(_set_progression, user=user_id, enclosure=enclosure_id, position=position) > 0
