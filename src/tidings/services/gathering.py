"""Writing what comes in bit by bit: many in a transaction while the database is busy, one at once while it is idle."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from typing import Generic, TypeVar

import structlog

from tidings.domain.errors import StoreUnavailable
from tidings.storage.database import Database, Write

log = structlog.get_logger()

Item = TypeVar("Item")
Outcome = TypeVar("Outcome")


class Gathering(Generic[Item, Outcome]):
    """While one transaction is written, the next batch gathers: no timer, and nobody waits for company.

    settle: writes a batch in the transaction that it is given; outcomes in the same order.
    """

    def __init__(self, database: Database, settle: Callable[[Write, Sequence[Item]], Sequence[Outcome]]) -> None:
        self._database = database
        self._settle = settle
        self._gathered: list[tuple[Item, asyncio.Future[Outcome]]] = []
        self._writing: asyncio.Task[None] | None = None

    async def write(self, item: Item) -> Outcome:
        """What became of it, once that is written. StoreUnavailable, or what else `settle` raises on it."""
        future: asyncio.Future[Outcome] = asyncio.get_running_loop().create_future()
        self._gathered.append((item, future))
        if self._writing is None or self._writing.done():
            self._writing = asyncio.create_task(self._write_all())
        return await future

    async def _write_all(self) -> None:
        while self._gathered:
            batch, self._gathered = self._gathered, []
            outcomes = await asyncio.to_thread(self._write_batch, [item for item, _ in batch])
            for (_, future), outcome in zip(batch, outcomes, strict=True):
                if future.done():
                    continue
                if isinstance(outcome, Exception):
                    future.set_exception(outcome)
                else:
                    future.set_result(outcome)

    def _write_batch(self, batch: Sequence[Item]) -> Sequence[Outcome | Exception]:
        try:
            with self._database.writing() as db:
                return self._settle(db, batch)
        except StoreUnavailable as error:
            return [error] * len(batch)
        except Exception as error:
            if len(batch) == 1:
                log.exception("not written", what=type(batch[0]).__name__)
                return [error]
            # One of them is at fault: alone, each comes to its own end.
            return [outcome for item in batch for outcome in self._write_batch([item])]
