"""Ends idle transactions that others wait for, as those of a process that was suspended."""

from __future__ import annotations

import asyncio

import structlog

from tidings.engine import idle_transactions
from tidings.engine.database import Database
from tidings.worker import loops
from tidings.worker.loops import Loop

log = structlog.get_logger()

CHECK_INTERVAL_S = 5.0


class LockWatch(Loop):
    """Looks for transactions that hold locks for a process that may never go on. SQLite has none.

    interval_s: from one look to the next. idle_s: how long such a process has sent nothing.
    """

    def __init__(
        self,
        database: Database,
        *,
        interval_s: float = CHECK_INTERVAL_S,
        idle_s: float = idle_transactions.LIMIT_S,
    ) -> None:
        self._database = database
        self._interval_s = interval_s
        self._idle_s = idle_s

    async def run(self, stop: asyncio.Event) -> None:
        """Run until `stop` is set."""
        await loops.repeat(self._step, stop, unavailable="locks not checked", crashed="lock check crashed")

    async def _step(self) -> float:
        if ended := await asyncio.to_thread(idle_transactions.end, self._database, idle_s=self._idle_s):
            log.warning("idle transactions ended that others waited for", count=ended)
        return self._interval_s
