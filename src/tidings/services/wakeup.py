"""Waits for notifications from the database that there is work."""

from __future__ import annotations

import asyncio
import threading

from tidings.engine.database import Database
from tidings.engine.notify import FEEDS, Listener

__all__ = ["FEEDS", "WakeupEvent"]


class WakeupEvent:
    """An event that notifications on one channel set; it may also be set without one. Belongs to one event loop.

    name: the name of the channel, such as FEEDS.
    """

    def __init__(self, database: Database, name: str) -> None:
        self._listener = Listener(database, name)
        self._event = asyncio.Event()
        self._thread: threading.Thread | None = None

    async def wait(self) -> None:
        """Wait for the next notification."""
        if self._thread is None:
            loop = asyncio.get_running_loop()
            self._thread = threading.Thread(target=self._listen, args=(loop,), name="wakeup", daemon=True)
            self._thread.start()
        await self._event.wait()
        self._event.clear()

    async def close(self) -> None:
        self._listener.close()
        if self._thread is not None:
            await asyncio.to_thread(self._thread.join)

    def _listen(self, loop: asyncio.AbstractEventLoop) -> None:
        while not self._listener.is_closed:
            if self._listener.wait() and not self._listener.is_closed:
                loop.call_soon_threadsafe(self._event.set)
        self._listener.disconnect()
