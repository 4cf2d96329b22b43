"""Threads that verify passwords, the same for all surfaces of a process.

Argon2 takes processor time and memory on purpose: guessing passwords may occupy these threads, and no others.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any, Final, TypeVar

R = TypeVar("R")

THREADS: Final = 2


class PasswordGate:
    """Lets few passwords be verified side by side; the others wait in the order in which they came."""

    def __init__(self) -> None:
        self._threads = ThreadPoolExecutor(THREADS, thread_name_prefix="passwords")

    async def run(self, verify: Callable[..., R], *arguments: Any) -> R:
        """Return the result of `verify`, called in one of the threads."""
        return await asyncio.get_running_loop().run_in_executor(self._threads, verify, *arguments)

    def close(self) -> None:
        """Wait for the threads; what still waits for one is cancelled."""
        self._threads.shutdown(cancel_futures=True)
