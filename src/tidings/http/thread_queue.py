"""Threads for the handlers of requests, and the number of requests that wait for one.

The threads of a process share Python's lock. SQLite, zstandard and hash functions release it for microseconds, hundreds
of times in a request; where another thread waits for the lock, each time costs a switch to that thread and back.
So few functions run side by side, and the others wait for their turn. One that takes long, because it waits for
another writer or has much to do, does not delay the others: after PATIENCE_S, they run alongside it.
"""

from __future__ import annotations

import asyncio
import threading
import time
from collections import deque
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from typing import Any, Final, TypeVar

from tidings.http.load import process_load

R = TypeVar("R")
# A function with its arguments, and where its result is awaited. `concurrent.futures` has futures of its own for this,
# with a lock in each, and takes twice as long.
_Waiting = tuple[asyncio.Future[Any], Callable[..., Any], tuple[Any, ...]]

PATIENCE_S: Final = 0.02


class _Runner:
    """Calls one waiting function after the other in a thread. is_slow: its current one has taken too long to count."""

    def __init__(self) -> None:
        self.started = time.monotonic()
        self.is_slow = False


class ThreadQueue:
    """Runs functions in threads, in the order in which they come.

    threads: maximum number that run at the same time.
    max_concurrency: maximum number of those among them that have not taken PATIENCE_S.
    max_waiting: more would wait for seconds.
    """

    def __init__(self, threads: int, max_waiting: int, *, max_concurrency: int, name: str) -> None:
        self._threads = threads
        self._max_concurrency = max_concurrency
        self._max_waiting = max_waiting
        self._pool = ThreadPoolExecutor(threads, thread_name_prefix=name)
        self._count = 0
        self._lock = threading.Lock()
        self._waiting: deque[_Waiting] = deque()
        self._runners: set[_Runner] = set()
        self._quick = 0
        self._watch: asyncio.TimerHandle | None = None

    @property
    def is_full(self) -> bool:
        return self._count >= self._max_waiting

    async def run(self, function: Callable[..., R], *arguments: Any) -> R:
        """Return the result of the function, called in a thread."""
        loop = asyncio.get_running_loop()
        future: asyncio.Future[R] = loop.create_future()
        self._count += 1
        process_load.begin()
        try:
            with self._lock:
                self._waiting.append((future, function, arguments))
                is_started = self._start_runner()
            if not is_started and self._watch is None:
                self._watch = loop.call_later(PATIENCE_S, self._look_for_slow_ones)
            return await future
        finally:
            self._count -= 1
            process_load.end()

    def close(self) -> None:
        if self._watch is not None:
            self._watch.cancel()
        with self._lock:
            for future, _, _ in self._waiting:
                future.cancel()
            self._waiting.clear()
        self._pool.shutdown()

    def _start_runner(self) -> bool:
        """Start a thread for what waits. Returns whether one more may run. The caller holds the lock."""
        if self._quick == self._max_concurrency or len(self._runners) == self._threads:
            return False
        runner = _Runner()
        self._pool.submit(self._run_all, runner)
        self._runners.add(runner)
        self._quick += 1
        return True

    def _look_for_slow_ones(self) -> None:
        """Find functions that have taken too long. Runs in the event loop, as long as functions wait."""
        self._watch = None
        with self._lock:
            now = time.monotonic()
            for runner in self._runners:
                if not runner.is_slow and now - runner.started > PATIENCE_S:
                    runner.is_slow = True
                    self._quick -= 1
            for _ in self._waiting:
                if not self._start_runner():
                    break
            if self._waiting:
                self._watch = asyncio.get_running_loop().call_later(PATIENCE_S, self._look_for_slow_ones)

    def _run_all(self, runner: _Runner) -> None:
        while (taken := self._take(runner)) is not None:
            future, function, arguments = taken
            if future.cancelled():
                continue
            try:
                result = function(*arguments)
            except BaseException as error:  # noqa: BLE001 - it is raised where the result is awaited
                _report(future, None, error)
            else:
                _report(future, result, None)

    def _take(self, runner: _Runner) -> _Waiting | None:
        """Return what to call next; None if nothing waits, or if others have taken the place of a slow one."""
        with self._lock:
            if runner.is_slow and self._quick < self._max_concurrency:
                runner.is_slow = False
                self._quick += 1
            if runner.is_slow or not self._waiting:
                self._quick -= not runner.is_slow
                self._runners.remove(runner)
                return None
            runner.started = time.monotonic()
            return self._waiting.popleft()


def _report(future: asyncio.Future[Any], result: Any, error: BaseException | None) -> None:
    """Let the event loop know what a function returned or raised. Called in a thread."""
    # Nobody waits any more if the loop is closed.
    with suppress(RuntimeError):
        future.get_loop().call_soon_threadsafe(_end, future, result, error)


def _end(future: asyncio.Future[Any], result: Any, error: BaseException | None) -> None:
    """Set what a function returned or raised, in the event loop. Who waited for it may have given up."""
    if future.cancelled():
        return
    if error is None:
        future.set_result(result)
    else:
        future.set_exception(error)
