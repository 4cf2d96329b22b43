"""How busy this process and the other web processes of the service are.

    request ─► in hand ─► answered      a window with CROWDED requests in hand ─► clients are asked to connect again
                  │                     such windows for ASK_AFTER_S           ─► another process is asked for
                  ▼
            LoadBoard: a row for each process, in memory that all of them share

Nothing runs while no request comes: windows end with the requests that follow them.
"""

from __future__ import annotations

import mmap
import time
from collections.abc import Callable, Sequence
from typing import Final

WINDOW_S: Final = 0.1
# How long requests have to wait for each other before another process is wanted: a page with its parts does not.
ASK_AFTER_S: Final = 0.5
# A process answers about one request at a time. With more in hand on average, some wait all the time.
CROWDED: Final = 2.0
# A client moves when this process has so many more requests in hand than another one.
MOVE_FROM: Final = 3
# Between two clients that are asked to move. It takes a client a moment to arrive at the other process.
MOVE_EVERY_S: Final = 0.02

_NOT_RUNNING: Final = -1.0
_COLUMNS: Final = 2


class LoadBoard:
    """What each web process has in hand, and for how long it was busy. Made before processes are forked.

    Each process writes its own row, without a lock: a number that is a moment old does no harm here.
    """

    def __init__(self, processes: int) -> None:
        self._rows = memoryview(mmap.mmap(-1, processes * _COLUMNS * 8)).cast("d")
        for number in range(processes):
            self.clear(number)

    def clear(self, number: int) -> None:
        """Note that a process does not run."""
        self.write(number, _NOT_RUNNING, 0.0)

    def write(self, number: int, in_hand: float, busy_s: float) -> None:
        """Note the requests that a process has in hand, and the seconds since its start in which it had any."""
        self._rows[number * _COLUMNS] = in_hand
        self._rows[number * _COLUMNS + 1] = busy_s

    def least(self, besides: int) -> float | None:
        """Return how many requests the least busy of the other processes has in hand, None if no other runs."""
        found = [in_hand for number, in_hand in enumerate(self._rows[::_COLUMNS]) if number != besides and in_hand >= 0]
        return min(found, default=None)

    def busy_s(self) -> Sequence[float]:
        """Return for how many seconds each process had a request in hand; 0 for one that does not run."""
        return list(self._rows[1::_COLUMNS])


class ProcessLoad:
    """The requests that this process has in hand. Used in its event loop, except for `__init__`."""

    def __init__(self, clock: Callable[[], float] = time.perf_counter) -> None:
        self._clock = clock
        self._in_hand = 0
        # When the first of the crowded windows until now began; None if the last one was not crowded.
        self._crowded_since: float | None = None
        self._began = self._changed = clock()
        self._area = self._busy_s = 0.0
        self._board: LoadBoard | None = None
        self._number = 0
        self._move_at = 0.0
        self._ask: Callable[[], None] = lambda: None

    def join(self, board: LoadBoard, number: int, ask_for_more: Callable[[], None]) -> None:
        """Show the load of this process to others. ask_for_more: called as long as it has been crowded for a while."""
        self._board, self._number, self._ask = board, number, ask_for_more
        board.write(number, self._in_hand, self._busy_s)

    def leave(self) -> None:
        """Show nothing from now on: this process accepts no more clients."""
        if self._board:
            self._board.clear(self._number)
        self._board, self._ask, self._crowded_since = None, lambda: None, None

    def begin(self) -> None:
        """Note that a request waits for a thread."""
        self._change(1)

    def end(self) -> None:
        """Note that a request was answered."""
        self._change(-1)

    def moves_client(self) -> bool:
        """Return whether a client should connect again, because another process has less to do.

        Clients keep their connections, so that a new process would get nothing from those who made others busy.
        """
        if self._crowded_since is None or self._board is None:
            return False
        now = self._clock()
        least = self._board.least(self._number)
        if now < self._move_at or least is None or self._in_hand - least < MOVE_FROM:
            return False
        self._move_at = now + MOVE_EVERY_S
        return True

    def _change(self, by: int) -> None:
        now = self._clock()
        if self._in_hand:
            self._area += self._in_hand * (now - self._changed)
            self._busy_s += now - self._changed
        self._changed = now
        self._in_hand += by
        if now - self._began >= WINDOW_S:
            self._end_window(now)
        if self._board:
            self._board.write(self._number, self._in_hand, self._busy_s)

    def _end_window(self, now: float) -> None:
        is_crowded = self._board is not None and self._area >= CROWDED * (now - self._began)
        if not is_crowded:
            self._crowded_since = None
        elif self._crowded_since is None:
            self._crowded_since = self._began
        self._began, self._area = now, 0.0
        if self._crowded_since is not None and now - self._crowded_since >= ASK_AFTER_S:
            self._ask()


# Of this process: requests reach it through queues that every surface has, and the server through its own modules.
process_load: Final = ProcessLoad()
