"""Marking many entries read at once, so that it can be undone.

Everything that is marked in one go gets the same moment as its last change, to the microsecond: that is what an undo
asks for. What somebody touched since has another one, and stays as it is.
"""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import Struct

from tidings.domain.entries import EntryFilter, Page, Status
from tidings.domain.times import Instant
from tidings.services.clock import Clock
from tidings.storage import entries, feeds, marks
from tidings.storage.database import Database


class Marked(Struct, frozen=True):
    """moment: what `undo` asks for."""

    count: int
    moment: Instant


class Marks:
    def __init__(self, database: Database, clock: Clock) -> None:
        self._database = database
        self._clock = clock

    def mark_read(self, user_id: int, entry_ids: Sequence[int]) -> Marked:
        """Those of them that are the user's and unread."""
        now = self._clock()
        with self._database.writing() as db:
            found = marks.unread_of(db, user_id, entry_ids)
            if found:
                entries.set_state(db, user_id, found, status=Status.READ, now=now)
            return Marked(len(found), now)

    def mark_list_read(self, user_id: int, which: EntryFilter, beyond: Page | None = None) -> Marked:
        """All that a list shows, of a feed, a category or everywhere; beyond: only that part of it.

        What is published later than now was not shown yet, as in the API.
        """
        now = self._clock()
        with self._database.writing() as db:
            count = entries.mark_read(
                db,
                user_id,
                feed_id=which.feed_id,
                category_id=which.category_id,
                published_before=now,
                besides=feeds.hidden(db, user_id) if which.globally_visible else (),
                beyond=beyond,
                now=now,
            )
            return Marked(count, now)

    def undo(self, user_id: int, moment: Instant) -> int:
        """How many are unread again."""
        with self._database.writing() as db:
            return marks.mark_unread_again(db, user_id, moment, now=self._clock())
