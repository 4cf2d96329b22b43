"""Processes that apply rules until they are killed.

They are forked from one that has imported everything and opened nothing, so that a start takes some milliseconds. It
starts one for each empty line of its input, kills it at the next one, and answers with the exit code.
"""

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
from tidings.rules import runs, worker
from tidings.services.clock import system_clock
from tidings.services.entries.listing import EntryListReader
from tidings.services.entries.search_index import SearchIndexer
from tidings.services.listeners import Listeners
from tidings.worker.loops import worker_name


class Appliers:
    """Starts processes that apply rules, one at a time."""

    def __init__(self, parent: subprocess.Popen[bytes]) -> None:
        self._parent = parent

    @contextmanager
    def one(self) -> Iterator[None]:
        """Run a process, and kill it at the end."""
        assert self._ask() == b"started\n"
        yield
        assert self._ask() == b"%d\n" % -signal.SIGKILL, "it had ended"

    def _ask(self) -> bytes:
        assert self._parent.stdin
        assert self._parent.stdout
        self._parent.stdin.write(b"\n")
        self._parent.stdin.flush()
        return self._parent.stdout.readline()


@contextmanager
def appliers(database_url: str) -> Iterator[Appliers]:
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    command = [sys.executable, "-m", "rules.applier", database_url]
    with subprocess.Popen(command, env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as parent:
        yield Appliers(parent)


def main(database_url: str) -> None:
    while os.read(0, 1):
        if not (child := os.fork()):
            _apply(database_url)
        os.write(1, b"started\n")
        os.read(0, 1)
        os.kill(child, signal.SIGKILL)
        os.write(1, b"%d\n" % os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))


def _apply(database_url: str) -> None:
    # Its log is not an answer.
    os.dup2(2, 1)
    # The claims of a killed process soon end, and a chunk is small enough to be killed between two.
    runs.LEASE, runs.CHUNK = SECOND // 5, 40  # type: ignore[misc]
    worker.POLL_INTERVAL_S = 0.05
    database = Database(database_url)
    work = runs.RuleRuns(database, system_clock, EntryListReader(database, SearchIndexer(database)), Listeners())
    asyncio.run(worker.RuleApplier(work, worker_name()).run(asyncio.Event()))


if __name__ == "__main__":
    main(sys.argv[1])
