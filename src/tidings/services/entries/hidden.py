"""Shows entries in the global lists again from which rules have hidden them."""

from __future__ import annotations

from collections.abc import Sequence

from tidings.domain.entries.entries import EntryFilter, PageRequest
from tidings.engine.database import Database
from tidings.services.entries.entries import lock_entries
from tidings.services.entries.listing import EntryListReader
from tidings.storage.entries import entries

# Entries in one transaction: other writers wait about 50 ms for it.
CHUNK = 500


class HiddenEntries:
    def __init__(self, database: Database, listing: EntryListReader) -> None:
        self._database = database
        self._listing = listing

    def show(self, user_id: int, entry_ids: Sequence[int]) -> int:
        """Show entries again. Returns how many were hidden; those of others are ignored."""
        with self._database.writing() as db:
            return entries.set_hidden(db, user_id, lock_entries(db, user_id, entry_ids), hidden=False)

    def show_list(self, user_id: int, entry_filter: EntryFilter) -> int:
        """Show all entries of a list again, in several short transactions. Returns how many were hidden."""
        with self._listing.of(user_id, entry_filter) as lists:
            ids = lists.all_ids(entry_filter, PageRequest())
        return sum(self.show(user_id, ids[start : start + CHUNK]) for start in range(0, len(ids), CHUNK))
