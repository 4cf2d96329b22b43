"""Waiting for something to do: told at once where the database can tell."""

from __future__ import annotations

import asyncio
import threading

from tidings.storage.database import Database
from tidings.storage.waking import FEEDS, Ear

__all__ = ["FEEDS", "Bell"]


class Bell:
    """Belongs to one event loop. name: such as FEEDS. It may ring for nothing."""

    def __init__(self, database: Database, name: str) -> None:
        self._ear = Ear(database, name)
        self._heard = asyncio.Event()
        self._thread: threading.Thread | None = None

    async def wait(self) -> None:
        """Until it rings."""
        if self._thread is None:
            loop = asyncio.get_running_loop()
            self._thread = threading.Thread(target=self._listen, args=(loop,), name="bell", daemon=True)
            self._thread.start()
        await self._heard.wait()
        self._heard.clear()

    async def close(self) -> None:
        self._ear.close()
        if self._thread is not None:
            await asyncio.to_thread(self._thread.join)

    def _listen(self, loop: asyncio.AbstractEventLoop) -> None:
        while not self._ear.is_closed:
            if self._ear.wait() and not self._ear.is_closed:
                loop.call_soon_threadsafe(self._heard.set)
        self._ear.drop()
