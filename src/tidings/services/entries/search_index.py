"""Keeping the full-text index in step with what was written."""

from __future__ import annotations

import time

import structlog

from tidings.domain.errors import StoreUnavailable
from tidings.storage.engine.database import Database
from tidings.storage.entries import search_index

log = structlog.get_logger()

# Some 30 ms of work: on SQLite, whoever wants to write meanwhile waits that long.
BATCH = 50
# What a search waits for at most; it finds what was indexed by then, and the worker does the rest.
CATCH_UP_WITHIN_S = 1.0
_LOOK_AGAIN_S = 0.01


class SearchIndexer:
    def __init__(self, database: Database) -> None:
        self._database = database

    def catch_up(self, user_id: int) -> None:
        """Called before a search, so that it finds what was polled, imported or edited a moment ago."""
        until = time.monotonic() + CATCH_UP_WITHIN_S
        try:
            while self._is_behind(user_id) and time.monotonic() < until:
                with self._database.writing() as db:
                    done = search_index.index_pending(db, limit=BATCH, user_id=user_id)
                if not done:
                    # Somebody else is just indexing these.
                    time.sleep(_LOOK_AGAIN_S)
        except StoreUnavailable as error:
            log.warning("search index not caught up", user=user_id, reason=error.message)

    def work(self) -> int:
        """One batch of whatever there is to do; how many entries that were."""
        with self._database.reading() as db:
            is_behind, has_deleted = search_index.is_behind(db), search_index.has_deleted(db)
        if not is_behind and not has_deleted:
            return 0
        with self._database.writing() as db:
            return search_index.index_pending(db, limit=BATCH) or search_index.remove_deleted(db, limit=BATCH)

    def _is_behind(self, user_id: int) -> bool:
        with self._database.reading() as db:
            return search_index.is_behind(db, user_id)
