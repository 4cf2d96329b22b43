"""Recomputes the reading times of stored entries after a user changed the reading speed, or a migration asked for it.

The position is stored with the user, so the work goes on after a restart; each batch is a transaction of its own.
"""

from __future__ import annotations

from tidings.domain.accounts.users import User
from tidings.domain.entries.entries import Direction, EntryFilter, Order, PageRequest
from tidings.domain.entries.reading_time import may_be_duration, reading_minutes
from tidings.engine.database import Database
from tidings.storage.accounts import users
from tidings.storage.entries import counters, entry_lists, reading_times
from tidings.storage.entries.entry_lists import EntryPage

# About 50 ms of work, most of it outside of the transaction that writes.
BATCH_SIZE = 200


class ReadingTimes:
    def __init__(self, database: Database) -> None:
        self._database = database

    def work(self) -> bool:
        """Recompute a batch of entries of one user. Returns False if there was nothing to do."""
        with self._database.reading() as db:
            outdated = reading_times.first_outdated(db)
            user = None if outdated is None else users.get(db, outdated[0])
            if outdated is None or user is None:
                return False
            position = outdated[1]
            order = PageRequest(order=Order.ID, direction=Direction.ASC, limit=BATCH_SIZE)
            rows = entry_lists.rows(db, user.id, EntryFilter(after_entry_id=position), order)
            page = entry_lists.with_bodies(db, rows)
        minutes = _recomputed(page, user)
        with self._database.writing() as db:
            counters.lock(db, user.id, [row.feed_id for row in rows])
            reading_times.set_minutes(db, user.id, minutes)
            reading_times.set_position(db, user, before=position, after=rows[-1].id if rows else None)
        return True


def _recomputed(page: EntryPage, user: User) -> dict[int, int]:
    """Return the reading times by entry id, without those that are durations."""
    speeds = {"words_per_minute": user.default_reading_speed, "cjk_per_minute": user.cjk_reading_speed}
    return {
        entry.id: reading_minutes(page.contents.get(entry.id, ""), **speeds)
        for entry in page.entries
        if not may_be_duration(entry.reading_time, page.enclosures.get(entry.id, []), entry.url)
    }
