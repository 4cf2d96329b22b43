"""Marking many entries read at once, so that it can be undone.

Everything that is marked in one go gets the same moment as its last change, to the microsecond: that is what an undo
asks for. What somebody touched since has another one, and stays as it is.
"""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import Struct

from tidings.domain.entries.entries import EntryFilter, EntryStatus, PageRequest
from tidings.domain.times import Instant
from tidings.services.clock import Clock
from tidings.storage.engine.database import Database
from tidings.storage.entries import entries, read_state
from tidings.storage.feeds import feeds


class MarkReadResult(Struct, frozen=True):
    """moment: what `undo` asks for."""

    count: int
    moment: Instant


class ReadMarker:
    def __init__(self, database: Database, clock: Clock) -> None:
        self._database = database
        self._clock = clock

    def mark_read(self, user_id: int, entry_ids: Sequence[int]) -> MarkReadResult:
        """Those of them that are the user's and unread."""
        now = self._clock()
        with self._database.writing() as db:
            found = read_state.unread_of(db, user_id, entry_ids)
            if found:
                entries.set_state(db, user_id, found, status=EntryStatus.READ, now=now)
            return MarkReadResult(len(found), now)

    def mark_list_read(self, user_id: int, which: EntryFilter, page: PageRequest | None = None) -> MarkReadResult:
        """Mark the unread entries of a list as read. page: only entries after its cursor, in its order.

        Entries published later than now stay unread, as in the API: the list has not shown them.
        """
        now = self._clock()
        with self._database.writing() as db:
            count = entries.mark_read(
                db,
                user_id,
                feed_id=which.feed_id,
                category_id=which.category_id,
                published_before=now,
                except_feed_ids=feeds.hidden(db, user_id) if which.globally_visible else (),
                page=page,
                now=now,
            )
            return MarkReadResult(count, now)

    def undo(self, user_id: int, moment: Instant) -> int:
        """How many are unread again."""
        with self._database.writing() as db:
            return read_state.undo_mark_read(db, user_id, moment, now=self._clock())
