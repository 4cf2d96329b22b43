"""A process that searches what is stored for duplicates until nothing is left to do, or it is killed."""

from __future__ import annotations

import multiprocessing
from collections.abc import Iterator
from contextlib import contextmanager
from multiprocessing.process import BaseProcess

from tidings.duplicates import search
from tidings.engine.database import Database
from tidings.services.clock import system_clock

# Entries of a step: small, so that there are many in which it can be killed.
BATCH = 20
# Processes are forked from one that has imported this module.
_context = multiprocessing.get_context("forkserver")
_context.set_forkserver_preload([__name__])


@contextmanager
def scanner(database_url: str) -> Iterator[BaseProcess]:
    """Run such a process. At the end it is killed if it still runs."""
    process = _context.Process(target=_work, args=(database_url,), daemon=True)
    process.start()
    try:
        yield process
    finally:
        process.kill()
        process.join()
        process.close()


def _work(database_url: str) -> None:
    search.BATCH = BATCH
    database = Database(database_url)
    found = search.DuplicateSearch(database, system_clock)
    while found.work():
        pass
    database.close()
