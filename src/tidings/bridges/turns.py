"""One at a time: turns at a service, over all processes and machines of an installation."""

from __future__ import annotations

import asyncio
import secrets
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Final

from tidings.base.times import SECOND, Instant
from tidings.bridges.store import Turn
from tidings.engine.database import Database
from tidings.services.clock import Clock

# How often a process looks whether the turn of another one has ended.
LOOK_S: Final = 0.5


class Turns:
    """The turns at one service, in one event loop.

    length_s: after this time somebody else may take the turn of a process that has died.
    patience_s: how long a request waits for its turn.
    """

    def __init__(self, database: Database, clock: Clock, stored: Turn, *, length_s: float, patience_s: float) -> None:
        self._database = database
        self._clock = clock
        self._stored = stored
        self._length = round(length_s * SECOND)
        self._patience_s = patience_s
        # Requests of this process line up here, so that only one of them looks into the database.
        self._line = asyncio.Lock()

    @asynccontextmanager
    async def turn(self) -> AsyncIterator[None]:
        """Wait for a turn, and hold it. Raises TimeoutError if it does not come."""
        taker = secrets.token_hex(8)
        async with asyncio.timeout(self._patience_s) as patience, self._line:
            try:
                while not await asyncio.to_thread(self._take, taker):  # noqa: ASYNC110 - others end their turn elsewhere
                    await asyncio.sleep(LOOK_S)
                patience.reschedule(None)
                yield
            finally:
                await asyncio.shield(asyncio.to_thread(self._give_back, taker))

    def _take(self, taker: str) -> bool:
        now = self._clock()
        with self._database.reading() as db:
            if self._stored.is_taken(db, now):
                return False
        with self._database.writing() as db:
            return self._stored.take(db, taker, now=now, until=Instant(now + self._length))

    def _give_back(self, taker: str) -> None:
        with self._database.writing() as db:
            self._stored.give_back(db, taker)
