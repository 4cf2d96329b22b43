"""Shows entries in the global lists again from which rules have hidden them."""

from __future__ import annotations

from collections.abc import Sequence

from tidings.domain.entries.entries import EntryFilter, PageRequest
from tidings.engine.database import Database
from tidings.services.entries.listing import EntryListReader
from tidings.storage.entries import counters, duplicates, entries

# Entries in one transaction: other writers wait about 50 ms for it.
CHUNK = 500


class HiddenEntries:
    def __init__(self, database: Database, listing: EntryListReader) -> None:
        self._database = database
        self._listing = listing

    def show(self, user_id: int, entry_ids: Sequence[int]) -> int:
        """Show entries again. Returns how many were hidden; those of others are ignored."""
        with self._database.writing() as db:
            ids = duplicates.originals_or_selves(db, user_id, entry_ids)
            counters.lock(db, user_id, {feed_id for _, feed_id in entries.feeds_of(db, user_id, ids)})
            hidden = [entry.id for entry in entries.get_many(db, user_id, ids) if entry.hidden]
            if hidden:
                entries.set_hidden(db, user_id, hidden, hidden=False)
            return len(hidden)

    def show_list(self, user_id: int, entry_filter: EntryFilter) -> int:
        """Show all entries of a list again, in several short transactions. Returns how many were hidden."""
        with self._listing.of(user_id, entry_filter) as lists:
            ids = lists.all_ids(entry_filter, PageRequest())
        return sum(self.show(user_id, ids[start : start + CHUNK]) for start in range(0, len(ids), CHUNK))
