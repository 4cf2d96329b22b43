"""Updates the full-text index after entries were written."""

from __future__ import annotations

import time

import structlog

from tidings.base.errors import StoreUnavailable
from tidings.engine.database import Database
from tidings.storage.entries import search_index

log = structlog.get_logger()

# About 30 ms of work; on SQLite other writers wait that long.
BATCH_SIZE = 50
# Where rows are on several servers, all of them are asked for the newest ones.
BATCH_SIZE_OF_SERVERS = 200
# The longest wait of a search; it finds the entries indexed by then, and the worker indexes the rest.
CATCH_UP_TIMEOUT_S = 1.0
_RETRY_S = 0.01


class SearchIndexer:
    def __init__(self, database: Database) -> None:
        self._database = database

    def catch_up(self, user_id: int) -> None:
        """Index the new entries of a user. Call it before a search, so that it finds entries written just before."""
        until = time.monotonic() + CATCH_UP_TIMEOUT_S
        try:
            while self._is_behind(user_id) and time.monotonic() < until:
                with self._database.writing() as db:
                    done = search_index.index_pending(db, limit=BATCH_SIZE, user_id=user_id)
                if not done:
                    # Another process is indexing them.
                    time.sleep(_RETRY_S)
        except StoreUnavailable as error:
            log.warning("search index not caught up", user=user_id, reason=error.message)

    def work(self) -> int:
        """Index a batch of new entries, or remove a batch of deleted ones. Returns the number of entries."""
        if self._database.is_distributed:
            # Asking before whether there are any would ask all servers twice.
            with self._database.writing() as db:
                return search_index.index_pending(db, limit=BATCH_SIZE_OF_SERVERS)
        with self._database.reading() as db:
            is_behind, has_deleted = search_index.is_behind(db), search_index.has_deleted(db)
        if not is_behind and not has_deleted:
            return 0
        with self._database.writing() as db:
            return search_index.index_pending(db, limit=BATCH_SIZE) or search_index.remove_deleted(db, limit=BATCH_SIZE)

    def _is_behind(self, user_id: int) -> bool:
        with self._database.reading() as db:
            return search_index.is_behind(db, user_id)
