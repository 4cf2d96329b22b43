"""The loop that applies rules to stored entries."""

from __future__ import annotations

import asyncio

from tidings.rules.runs import RuleRuns
from tidings.worker import loops
from tidings.worker.loops import Loop

# Maximum time until a run begins.
POLL_INTERVAL_S = 1.0


class RuleApplier(Loop):
    """Goes on with runs, one chunk after another."""

    def __init__(self, runs: RuleRuns, worker: str) -> None:
        self._runs = runs
        self._worker = worker
        self._is_busy = False

    @property
    def is_running(self) -> bool:
        """Whether a rule is being applied."""
        return self._is_busy

    async def run(self, stop: asyncio.Event) -> None:
        """Run until `stop` is set."""
        await loops.repeat(
            self._step, stop, unavailable="rules wait for the database", crashed="applying a rule crashed"
        )

    async def _step(self) -> float:
        """Do one chunk; then pause as long as it took, so that others can write in between."""
        loop = asyncio.get_running_loop()
        started = loop.time()
        self._is_busy = await asyncio.to_thread(self._runs.work, self._worker)
        return min(loop.time() - started, POLL_INTERVAL_S) if self._is_busy else POLL_INTERVAL_S
