"""A process that searches what is stored for duplicates until nothing is left to do, or it kills itself."""

from __future__ import annotations

import multiprocessing
import os
import signal
from typing import Any

from sqlalchemy import event

from tidings.duplicates import search
from tidings.engine.database import Database
from tidings.services.clock import system_clock

# Entries of a step: small, so that there are many in which it can be killed.
BATCH = 20
# Transactions that end before a process kills itself: the first only begins a search on PostgreSQL.
COMMITS = 3
# Processes are forked from one that has imported what this module needs. It does not find this module itself: Python
# before 3.13 does not give it the path of this process.
_context = multiprocessing.get_context("forkserver")
_context.set_forkserver_preload([search.__name__, system_clock.__module__])


def scan(database_url: str, *, killed_at: int = 0) -> int:
    """Run such a process to its end and return its exit code.

    killed_at: the statement after the first transactions before which it kills itself, 0 for none.
    """
    process = _context.Process(target=_work, args=(database_url, killed_at), daemon=True)
    process.start()
    process.join()
    code = process.exitcode
    process.close()
    assert code is not None
    return code


def _work(database_url: str, killed_at: int) -> None:
    search.BATCH = BATCH
    database = Database(database_url)
    committed = executed = 0

    @event.listens_for(database.engine, "commit")
    def count_commit(*_: Any) -> None:
        nonlocal committed
        committed += 1

    @event.listens_for(database.engine, "before_cursor_execute")
    def count(*_: Any) -> None:
        nonlocal executed
        executed += committed >= COMMITS
        if executed and executed == killed_at:
            os.kill(os.getpid(), signal.SIGKILL)

    found = search.DuplicateSearch(database, system_clock)
    while found.work():
        pass
    database.close()
