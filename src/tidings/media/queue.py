"""The queue of a user: audio and video to play one after the other."""

from __future__ import annotations

from collections.abc import Callable

from tidings.base.errors import InvalidInput
from tidings.base.messages import msg
from tidings.domain.entries.entries import is_playable
from tidings.engine.database import Database
from tidings.media import store
from tidings.media.store import QueuedMedia
from tidings.services.entries.enclosures import owned_enclosure

MAX_QUEUED = 500


class MediaQueue:
    def __init__(self, database: Database) -> None:
        self._database = database

    def list_all(self, user_id: int) -> list[QueuedMedia]:
        with self._database.reading() as db:
            return store.list_all(db, user_id)

    def next_of_feed(self, user_id: int, enclosure_id: int) -> QueuedMedia | None:
        """Return the next unread episode of the feed after another one, or else the nearest before it."""
        with self._database.reading() as db:
            return store.next_of_feed(db, user_id, enclosure_id)

    def add(self, user_id: int, enclosure_id: int, *, is_next: bool = False) -> None:
        """Put an enclosure at the end of the queue, or at its beginning, even if it is already in it.

        Raises NotFound, and InvalidInput if it is not audio or video, or if the queue is full.
        """
        self._change(user_id, enclosure_id, lambda ids: _added(ids, enclosure_id, is_next=is_next))

    def remove(self, user_id: int, enclosure_id: int) -> None:
        """Raise NotFound if the user does not have this enclosure."""
        self._change(user_id, enclosure_id, lambda ids: [id_ for id_ in ids if id_ != enclosure_id])

    def move(self, user_id: int, enclosure_id: int, by: int) -> None:
        """Move an enclosure of the queue. by: places; negative ones lead to the beginning. Raises NotFound."""
        self._change(user_id, enclosure_id, lambda ids: _moved(ids, enclosure_id, by))

    def move_to(self, user_id: int, enclosure_id: int, position: int) -> None:
        """Move an enclosure of the queue to a place, counted from 1; beyond the end means last. Raises NotFound."""
        self._change(user_id, enclosure_id, lambda ids: _moved_to(ids, enclosure_id, position - 1))

    def _change(self, user_id: int, enclosure_id: int, change: Callable[[list[int]], list[int]]) -> None:
        with self._database.writing() as db:
            enclosure = owned_enclosure(db, user_id, enclosure_id)
            before = store.list_ids(db, user_id)
            after = change(before)
            if enclosure_id in after and not is_playable(enclosure.mime_type):
                raise InvalidInput(msg("This attachment cannot be played."))
            store.replace(db, user_id, before, after)


def _added(ids: list[int], added: int, *, is_next: bool) -> list[int]:
    others = [id_ for id_ in ids if id_ != added]
    if len(others) >= MAX_QUEUED:
        raise InvalidInput(msg("The queue is full: it has {count} episodes.", count=MAX_QUEUED))
    return [added, *others] if is_next else [*others, added]


def _moved(ids: list[int], moved: int, by: int) -> list[int]:
    return _moved_to(ids, moved, max(0, ids.index(moved) + by)) if moved in ids else ids


def _moved_to(ids: list[int], moved: int, index: int) -> list[int]:
    if moved not in ids:
        return ids
    others = [id_ for id_ in ids if id_ != moved]
    others.insert(index, moved)
    return others
