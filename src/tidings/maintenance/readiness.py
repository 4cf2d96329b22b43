"""Tells whether this process can serve requests: the database is current, answers, and takes writes."""

from __future__ import annotations

import threading
import time

from tidings.engine.database import Database
from tidings.maintenance.store import scheduled_jobs
from tidings.services.clock import Clock
from tidings.storage import schema_revision

# A write that succeeded so recently is not repeated: monitors may ask often.
WRITE_INTERVAL_S = 5.0


class Readiness:
    def __init__(self, database: Database, clock: Clock) -> None:
        self._database = database
        self._clock = clock
        self._lock = threading.Lock()
        self._written_at = float("-inf")

    def check(self) -> None:
        """Read the schema's revision and write one row. Raises StoreUnavailable if either is impossible.

        Takes as long as the database does: the caller sets a limit.
        """
        with self._lock:
            with self._database.reading() as db:
                schema_revision.check(db)
            if time.monotonic() - self._written_at > WRITE_INTERVAL_S:
                with self._database.writing() as db:
                    scheduled_jobs.write_probe(db, self._clock())
                self._written_at = time.monotonic()
