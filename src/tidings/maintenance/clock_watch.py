"""Notices that a clock was wrong, and has the times that were written in that period corrected."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable

import structlog

from tidings.base.times import SECOND
from tidings.maintenance.clock_repair import MAX_CLOCK_DIFFERENCE, ClockRepair
from tidings.services.clock import Clock
from tidings.worker import loops
from tidings.worker.loops import Loop

log = structlog.get_logger()

# How often the clock is compared with the monotonic clock.
CHECK_INTERVAL_S = 2.0
# How often stored times are checked without that: the clock of another machine may have been wrong. It reads all feeds,
# which takes 0.1 s for 100,000 on SQLite and 0.2 s on PostgreSQL.
REPAIR_INTERVAL_S = 300.0
# Time synchronisation sets the clock by less than this.
SET_BACK_S = 5.0


class ClockWatch(Loop):
    """Notices when the clock was set back and repairs stored times. elapsed: seconds of a monotonic clock."""

    def __init__(self, repair: ClockRepair, clock: Clock, *, elapsed: Callable[[], float] = time.monotonic) -> None:
        self._repair = repair
        self._clock = clock
        self._elapsed = elapsed
        self._difference_s = self._measure()
        self._next_repair_s = elapsed()

    async def run(self, stop: asyncio.Event) -> None:
        """Run until `stop` is set."""
        await loops.repeat(self._step, stop, unavailable="clock not checked", crashed="clock check crashed")

    async def _step(self) -> float:
        difference_s = self._measure()
        was_set_back = difference_s < self._difference_s - SET_BACK_S
        if was_set_back:
            log.warning("clock set back", by_s=round(self._difference_s - difference_s))
        if was_set_back or self._elapsed() >= self._next_repair_s:
            await asyncio.to_thread(self._correct, was_set_back)
            # Repeat soon: what was being written while the clock was set is committed by then.
            self._next_repair_s = self._elapsed() + (2 * CHECK_INTERVAL_S if was_set_back else REPAIR_INTERVAL_S)
        # Set only now, so that a failed repair is tried again.
        self._difference_s = difference_s
        return CHECK_INTERVAL_S

    def _correct(self, was_set_back: bool) -> None:
        ahead_s = self._repair.ahead_s()
        if abs(ahead_s) > MAX_CLOCK_DIFFERENCE / SECOND:
            # It is unknown which of the two is right. Correcting would undo what machines with the other time write.
            log.warning("clock differs from the database server's", ahead_s=round(ahead_s))
            return
        if corrected := self._repair.run(was_set_back=was_set_back):
            log.warning("times of a wrong clock corrected", rows=corrected)

    def _measure(self) -> float:
        return self._clock() / SECOND - self._elapsed()
