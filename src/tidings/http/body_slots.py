"""Bodies that strangers send to a secret address: a few are read at a time, which limits the memory they occupy."""

from __future__ import annotations

import asyncio
from collections import defaultdict
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from typing import Final

from starlette.types import Receive

# Of a body that is too large, this many times the limit is read and discarded.
_DROPPED_BODIES: Final = 4


class BodySlots:
    """Used in one event loop.

    limit_bytes: of a body. time_s: for a body to arrive, including the wait for a slot. total, per_sender: how many
    bodies are read at the same time.
    """

    def __init__(self, *, limit_bytes: int, time_s: float, total: int, per_sender: int) -> None:
        self._limit_bytes = limit_bytes
        self._time_s = time_s
        self._slots = asyncio.Semaphore(total)
        self._senders: defaultdict[str, asyncio.Semaphore] = defaultdict(lambda: asyncio.Semaphore(per_sender))

    @asynccontextmanager
    async def slot(self, sender: str) -> AsyncIterator[None]:
        """Wait for a slot. Raises TimeoutError if the body takes too long, or no slot becomes free."""
        async with asyncio.timeout(self._time_s), self._senders[sender], self._slots:
            yield

    async def drop_rest(self, receive: Receive) -> None:
        """Read and discard the rest of a body: a client that is still sending may not read the response."""
        left = _DROPPED_BODIES * self._limit_bytes
        with suppress(TimeoutError):
            async with asyncio.timeout(self._time_s):
                while left > 0:
                    message = await receive()
                    if not message.get("more_body"):
                        return
                    left -= len(message.get("body", b""))
