"""Shares contents that were stored once for each subscriber, after an upgrade or when a source gets its second feed.

Its position is stored with each source, so the work goes on after a restart; each batch is a transaction of its own.
"""

from __future__ import annotations

from tidings.engine.database import Database
from tidings.storage.entries import contents, search_index


class ContentSharing:
    def __init__(self, database: Database) -> None:
        self._database = database

    def work(self) -> int | None:
        """Share a batch of contents and search terms of one source. Returns how many entries' are shared now.

        None if there is nothing to do now: no source is left, or others are at work on the first one.
        """
        with self._database.reading() as db:
            source = contents.first_unshared(db)
        if source is None:
            return None
        with self._database.writing() as db:
            return contents.share_stored(db, source, search_index.share_terms)

    def sources_left(self) -> int:
        with self._database.reading() as db:
            return contents.count_unshared(db)
