"""Threads for the handlers of requests, and the number of requests that wait for one."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any, TypeVar

R = TypeVar("R")


class ThreadQueue:
    """Runs functions in threads, in the order in which they come. max_waiting: more would wait for seconds."""

    def __init__(self, threads: int, max_waiting: int, *, name: str) -> None:
        self._threads = ThreadPoolExecutor(threads, thread_name_prefix=name)
        self._max_waiting = max_waiting
        self._count = 0

    @property
    def is_full(self) -> bool:
        return self._count >= self._max_waiting

    async def run(self, function: Callable[..., R], *arguments: Any) -> R:
        """Returns the result of the function, called in a thread."""
        self._count += 1
        try:
            return await asyncio.get_running_loop().run_in_executor(self._threads, function, *arguments)
        finally:
            self._count -= 1

    def close(self) -> None:
        self._threads.shutdown(cancel_futures=True)
