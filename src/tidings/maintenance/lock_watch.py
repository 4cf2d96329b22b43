"""Ends transactions of suspended processes, which others wait for."""

from __future__ import annotations

import asyncio

import structlog

from tidings.engine import silent_transactions
from tidings.engine.database import Database
from tidings.engine.postgresql import IDLE_TRANSACTION_TIMEOUT_S
from tidings.worker import loops
from tidings.worker.loops import Loop

log = structlog.get_logger()

CHECK_INTERVAL_S = 5.0


class LockWatch(Loop):
    """Looks for transactions that hold locks for a process that may never go on. SQLite has none.

    interval_s: from one look to the next. silent_s: how long such a process has sent nothing.
    """

    def __init__(
        self,
        database: Database,
        *,
        interval_s: float = CHECK_INTERVAL_S,
        silent_s: float = IDLE_TRANSACTION_TIMEOUT_S,
    ) -> None:
        self._database = database
        self._interval_s = interval_s
        self._silent_s = silent_s

    async def run(self, stop: asyncio.Event) -> None:
        """Run until `stop` is set."""
        await loops.repeat(self._step, stop, unavailable="locks not checked", crashed="lock check crashed")

    async def _step(self) -> float:
        if ended := await asyncio.to_thread(silent_transactions.end, self._database, silent_s=self._silent_s):
            log.warning("transactions of suspended processes ended", count=ended)
        return self._interval_s
