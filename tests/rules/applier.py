"""A process that applies rules until it is killed."""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager

from tidings.base.times import SECOND
from tidings.engine.database import Database
from tidings.rules import runs
from tidings.rules.worker import RuleApplier
from tidings.services.clock import system_clock
from tidings.services.entries.listing import EntryListReader
from tidings.services.entries.search_index import SearchIndexer
from tidings.worker.loops import worker_name


@contextmanager
def applier(database_url: str) -> Iterator[subprocess.Popen[bytes]]:
    """Run such a process, and kill it at the end."""
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    process = subprocess.Popen([sys.executable, "-m", "rules.applier", database_url], env=environment)
    try:
        yield process
    finally:
        process.send_signal(signal.SIGKILL)
        process.wait()


def main(database_url: str) -> None:
    # The claims of a killed process soon end, and a chunk is small enough to be killed between two.
    runs.LEASE, runs.CHUNK = SECOND // 5, 200  # type: ignore[misc]
    database = Database(database_url)
    work = runs.RuleRuns(database, system_clock, EntryListReader(database, SearchIndexer(database)))
    asyncio.run(RuleApplier(work, worker_name()).run(asyncio.Event()))


if __name__ == "__main__":
    main(sys.argv[1])
