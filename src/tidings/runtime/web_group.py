"""All web workers of the supervisor: one is always there, and others come while requests wait for each other.

    crowded window of a process ─► byte ─► another one starts      quiet for QUIET_S ─► the newest is drained, ends

All accept from one listening socket, so that nothing is lost when one comes or goes.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import structlog

from tidings.http.load import LoadBoard
from tidings.runtime.demand import Demand
from tidings.runtime.web_child import WebChild

log = structlog.get_logger()

# A process that has started shows only after a window what it takes from the others.
START_EVERY_S: Final = 1.0
# Starting again takes a moment in which requests wait, so a process stays for a while.
QUIET_S: Final = 300.0
LOOK_EVERY_S: Final = 30.0
# How busy the remaining processes may be on average when one ends: less than what would start it again.
QUIET_SHARE: Final = 0.5


class WebGroup:
    """Starts and ends web workers on demand. board: where they show their load."""

    def __init__(self, children: Sequence[WebChild], board: LoadBoard, demand: Demand) -> None:
        self.children = children
        self.demand = demand
        self._board = board
        self._start_at = self._look_at = self._quiet_since = 0.0
        self._busy_s: Sequence[float] = board.busy_s()

    @property
    def has_started(self) -> bool:
        """Whether requests are answered, or have been."""
        return any(child.has_started for child in self.children)

    @property
    def is_down(self) -> bool:
        """Whether no process runs, because each one crashed again and waits to be restarted."""
        return not any(child.is_running for child in self.children)

    def adjust(self, now: float) -> None:
        """Let the next update start a process if one asked, and end one that is not needed."""
        if self.demand.take() and now >= self._start_at:
            self._start_one(now)
        if self._ends_when_quiet and now >= self._look_at:
            self._look(now)

    def wait_s(self, now: float) -> float | None:
        """Return the seconds until `adjust` has to look whether all are needed; None if there is nothing to end."""
        return max(0.0, self._look_at - now) if self._ends_when_quiet else None

    @property
    def _ends_when_quiet(self) -> list[WebChild]:
        return [child for child in self.children if child.is_on_demand and child.is_running]

    def _start_one(self, now: float) -> None:
        if any(child.is_starting for child in self.children):
            return
        for child in self.children:
            if child.start_if_resting():
                log.info("another web worker starts, because requests wait")
                self._start_at = now + START_EVERY_S
                self._begin_looking(now)
                return

    def _begin_looking(self, now: float) -> None:
        self._quiet_since, self._look_at = now, now + LOOK_EVERY_S
        self._busy_s = self._board.busy_s()

    def _look(self, now: float) -> None:
        """End the newest process if the others could have done its work, with time to spare, for a while."""
        elapsed = now - self._look_at + LOOK_EVERY_S
        before, self._busy_s, self._look_at = self._busy_s, self._board.busy_s(), now + LOOK_EVERY_S
        busy_s = sum(max(0.0, new - old) for new, old in zip(self._busy_s, before, strict=True))
        others = sum(child.is_running for child in self.children) - 1
        if busy_s > QUIET_SHARE * others * elapsed:
            self._quiet_since = now
        if now - self._quiet_since >= QUIET_S:
            self._quiet_since = now
            log.info("a web worker ends until it is needed again")
            self._ends_when_quiet[-1].end_gently(now)
