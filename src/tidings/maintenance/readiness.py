"""Tells whether this process can serve requests: the database is current, answers, and takes writes."""

from __future__ import annotations

import threading
import time

from tidings.base.errors import StoreUnavailable
from tidings.engine import nodes
from tidings.engine.database import Database
from tidings.maintenance.store import scheduled_jobs
from tidings.services.clock import Clock
from tidings.storage import schema_revision

# A write that succeeded so recently is not repeated: monitors may ask often.
WRITE_INTERVAL_S = 5.0
# How often the servers of a distributed database are tried, at most.
NODES_INTERVAL_S = 5.0


class Readiness:
    def __init__(self, database: Database, clock: Clock) -> None:
        self._database = database
        self._clock = clock
        self._lock = threading.Lock()
        self._written_at = float("-inf")
        self._nodes = NodeWatch(database)

    def silent_nodes(self) -> list[str]:
        """Return the servers of a distributed database that did not answer when they were tried last.

        Users on other servers are served: it is no reason to send no requests to this process.
        """
        return self._nodes.silent()

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


class NodeWatch:
    """Knows which servers of a distributed database do not answer. A thread tries them; nobody waits for it."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._lock = threading.Lock()
        self._tried_at = float("-inf")
        self._silent: list[str] = []

    def silent(self) -> list[str]:
        """Return the servers that did not answer the last time, as `host:port`; try them again if that is long ago."""
        if nodes.may_have_some(self._database) and time.monotonic() - self._tried_at > NODES_INTERVAL_S:
            threading.Thread(target=self._try, name="database servers", daemon=True).start()
        return self._silent

    def _try(self) -> None:
        if not self._lock.acquire(blocking=False):
            return
        try:
            self._silent = nodes.silent(self._database)
        except StoreUnavailable:
            # The coordinator itself does not answer, which `Readiness.check` reports.
            self._silent = []
        finally:
            self._tried_at = time.monotonic()
            self._lock.release()
