"""Which tests of a run with several processes (pytest-xdist) run in which: whole files, first all those on SQLite.

A file's fixtures, such as an archive of 100,000 entries, are then made once per engine and not once per process.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

import pytest
from xdist.remote import Producer
from xdist.scheduler.loadscope import LoadScopeScheduling
from xdist.workermanage import WorkerController

# With fewer files than this for each process, a process gets single functions: somebody waits for a few slow tests.
_FILES_PER_PROCESS = 4


class FileScheduler(LoadScopeScheduling):  # type: ignore[misc] # xdist has no types
    """Gives a process the next file when it has nearly finished one, in the order in which they were collected."""

    def __init__(self, config: pytest.Config, log: Producer | None = None) -> None:
        super().__init__(config, log)
        self.config.option.loadscopereorder = False
        self._has_few_files = False
        self._positions: dict[str, int] = {}

    def schedule(self) -> None:
        if self.collection is None:
            collected = next(iter(self.registered_collections.values()))
            self._has_few_files = len(set(map(_file, collected))) < _FILES_PER_PROCESS * len(self.nodes)
            self._positions = {name: position for position, name in enumerate(collected)}
        super().schedule()

    def _split_scope(self, nodeid: str) -> str:
        shared = nodeid.partition("[")[0] if self._has_few_files else _file(nodeid)
        return f"{shared} on PostgreSQL" if is_on_postgresql(nodeid) else shared

    def remove_node(self, node: WorkerController) -> str | None:
        """Take back what a process was to run. Return the test in which it ended, if it did not end in order.

        The base class would run that test again, in one process after the other, and wait without end for a process
        to which it gives a file that has been run.
        """
        assigned = self.assigned_work.pop(node)
        left = [name for tests in assigned.values() for name, is_done in tests.items() if not is_done]
        for name in reversed(left[1:]):
            scope = self._split_scope(name)
            self.workqueue[scope] = {name: False, **self.workqueue.get(scope, {})}
            self.workqueue.move_to_end(scope, last=False)
        for other in self.nodes:
            self._reschedule(other)
        return left[0] if left else None

    def _reschedule(self, node: WorkerController) -> None:
        """Give a process files until it has three tests, and end it after the last ones.

        It starts a test when it knows the next one, or that there is none: with a single test, it would wait.
        """
        if node.shutting_down:
            return
        while self.workqueue and self._pending_of(self.assigned_work[node]) <= 2:
            self._assign_work_unit(node)
        if not self.workqueue:
            node.shutdown()

    def _assign_work_unit(self, node: WorkerController) -> None:
        """Do the same as the base class, which searches the whole collection for each test."""
        scope, tests = self.workqueue.popitem(last=False)
        self.assigned_work[node][scope] = tests
        node.send_runtest_some([self._positions[name] for name, is_done in tests.items() if not is_done])


def in_order(items: Sequence[pytest.Item]) -> list[pytest.Item]:
    """Return the tests on SQLite, those on PostgreSQL, slow ones first, and quick ones without a database.

    A process that changes to the other engine starts its service and its databases again. The quick ones fill up the
    end, at which a slow file would have one process work alone.
    """
    return sorted(items, key=_turn)


def _turn(item: pytest.Item) -> int:
    is_slow = item.get_closest_marker("slow") is not None
    if is_on_postgresql(item.nodeid):
        return 1 if is_slow else 2
    return 0 if is_slow or "engine" in getattr(item, "fixturenames", ()) else 3


def is_on_postgresql(nodeid: str) -> bool:
    # Most are not, which is seen sooner than where a name stands.
    return "postgresql" in nodeid and "postgresql" in re.split(r"[\[\]-]", nodeid.partition("::")[2])


def _file(nodeid: str) -> str:
    return nodeid.partition("::")[0]
