"""Enclosures: the position at which the user stopped playing."""

from __future__ import annotations

from tidings.base.errors import NotFound
from tidings.base.messages import msg
from tidings.domain.entries.entries import Enclosure
from tidings.engine.database import Database, Read
from tidings.storage.entries import enclosures


class Enclosures:
    def __init__(self, database: Database) -> None:
        self._database = database

    def set_progression(self, user_id: int, enclosure_id: int, position_s: int) -> None:
        """Store the position in seconds. Raises NotFound."""
        with self._database.writing() as db:
            if not enclosures.set_progression(db, user_id, enclosure_id, position_s):
                raise unknown_enclosure(enclosure_id)


def owned_enclosure(db: Read, user_id: int, enclosure_id: int) -> Enclosure:
    """Return an enclosure of the user. Raises NotFound."""
    enclosure = enclosures.get(db, user_id, enclosure_id)
    if enclosure is None:
        raise unknown_enclosure(enclosure_id)
    return enclosure


def unknown_enclosure(enclosure_id: int) -> NotFound:
    return NotFound(msg("There is no enclosure {id}.", id=enclosure_id))
