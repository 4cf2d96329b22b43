"""Batches items that arrive one by one: many at a time while the database is busy, one at once while it is idle."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from concurrent.futures import Executor
from typing import Generic, TypeVar

import structlog

from tidings.domain.errors import StoreUnavailable
from tidings.storage.engine.database import Database, Write

log = structlog.get_logger()

Item = TypeVar("Item")
Outcome = TypeVar("Outcome")


class Batcher(Generic[Item, Outcome]):
    """While one batch is worked on, the next one collects: there is no timer, and no item waits for others.

    work: returns the outcome of each item of a batch, in the same order; an exception is raised in `add` of its item.
    executor: where that happens. weight, most: of the items of a batch, but for a single one that weighs more.
    """

    def __init__(
        self,
        process_batch: Callable[[Sequence[Item]], Sequence[Outcome | Exception]],
        *,
        executor: Executor | None = None,
        weight: Callable[[Item], int] = lambda _: 0,
        max_weight: int = 0,
    ) -> None:
        self._process_batch = process_batch
        self._executor = executor
        self._weight = weight
        self._max_weight = max_weight
        self._waiting: list[tuple[Item, asyncio.Future[Outcome]]] = []
        self._working: asyncio.Task[None] | None = None

    async def add(self, item: Item) -> Outcome:
        """Return the outcome of the item. Raises what `work` returns for it."""
        future: asyncio.Future[Outcome] = asyncio.get_running_loop().create_future()
        self._waiting.append((item, future))
        if self._working is None or self._working.done():
            self._working = asyncio.create_task(self._work_all())
        return await future

    async def _work_all(self) -> None:
        batch: list[tuple[Item, asyncio.Future[Outcome]]] = []
        try:
            while self._waiting:
                batch = self._next()
                await self._work_through(batch)
        except asyncio.CancelledError:
            # The event loop ends: what waits is not for the next one.
            for _, future in self._left(batch):
                future.cancel()
            raise
        except Exception as error:
            # A mistake of ours must not leave callers waiting.
            log.exception("batch without outcomes", items=len(batch))
            for _, future in self._left(batch):
                future.set_exception(RuntimeError(f"no outcome: {error!r}"))

    async def _work_through(self, batch: Sequence[tuple[Item, asyncio.Future[Outcome]]]) -> None:
        items = [item for item, _ in batch]
        outcomes = await asyncio.get_running_loop().run_in_executor(self._executor, self._work_on, items)
        for (_, future), outcome in zip(batch, outcomes, strict=True):
            if future.done():
                continue
            if isinstance(outcome, Exception):
                future.set_exception(outcome)
            else:
                future.set_result(outcome)

    def _left(
        self, batch: Sequence[tuple[Item, asyncio.Future[Outcome]]]
    ) -> list[tuple[Item, asyncio.Future[Outcome]]]:
        """Return the items that have no outcome, and will not get one."""
        waiting, self._waiting = self._waiting, []
        return [one for one in (*batch, *waiting) if not one[1].done()]

    def _next(self) -> list[tuple[Item, asyncio.Future[Outcome]]]:
        room, count = self._max_weight, 0
        for item, _ in self._waiting:
            room -= self._weight(item)
            if room < 0 and count:
                break
            count += 1
        batch, self._waiting = self._waiting[:count], self._waiting[count:]
        return batch

    def _work_on(self, items: Sequence[Item]) -> Sequence[Outcome | Exception]:
        try:
            return self._process_batch(items)
        except StoreUnavailable as error:
            return [error] * len(items)
        except Exception as error:
            # Callers that wait have to be told.
            log.exception("batch not worked on", items=len(items))
            return [error] * len(items)


def write_batch(
    database: Database, write: Callable[[Write, Sequence[Item]], Sequence[Outcome]], batch: Sequence[Item]
) -> Sequence[Outcome | Exception]:
    """Return the outcome of each item, in the same order; all are written in one transaction, unless one fails."""
    try:
        with database.writing() as db:
            return write(db, batch)
    except StoreUnavailable as error:
        return [error] * len(batch)
    except Exception as error:
        if len(batch) == 1:
            log.exception("not written", what=type(batch[0]).__name__)
            return [error]
        # One at a time, so that each item has its own outcome.
        return [outcome for item in batch for outcome in write_batch(database, write, [item])]
