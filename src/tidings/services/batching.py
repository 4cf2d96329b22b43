"""Collects items that arrive one by one into batches, while the batch before is processed."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from concurrent.futures import Executor
from typing import Generic, TypeVar

import structlog

from tidings.base.errors import StoreUnavailable
from tidings.engine.database import Database, Write

log = structlog.get_logger()

# Of a transaction that the database gives up.
MAX_ATTEMPTS = 3

Item = TypeVar("Item")
Outcome = TypeVar("Outcome")


class Batcher(Generic[Item, Outcome]):
    """Processes items in batches. While one batch is processed, the next is collected; an idle batcher does not wait.

    process_batch: returns the outcome of each item, in the same order; `add` raises an outcome that is an exception.
    executor: runs `process_batch`. weight: the weight of an item. max_weight: the largest sum of weights in a batch; a
    single heavier item is a batch of its own.
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
        self._task: asyncio.Task[None] | None = None

    async def add(self, item: Item) -> Outcome:
        """Return the outcome of the item. Raises the exception that `process_batch` returns for it."""
        future: asyncio.Future[Outcome] = asyncio.get_running_loop().create_future()
        self._waiting.append((item, future))
        if self._task is None or self._task.done():
            self._task = asyncio.create_task(self._run())
        return await future

    async def _run(self) -> None:
        batch: list[tuple[Item, asyncio.Future[Outcome]]] = []
        try:
            while self._waiting:
                batch = self._take_batch()
                await self._run_batch(batch)
        except asyncio.CancelledError:
            # The event loop ends: waiting items are cancelled too.
            for _, future in self._take_unfinished(batch):
                future.cancel()
            raise
        except Exception as error:
            # A bug must not leave callers waiting.
            log.exception("batch without outcomes", items=len(batch))
            for _, future in self._take_unfinished(batch):
                future.set_exception(RuntimeError(f"no outcome: {error!r}"))

    async def _run_batch(self, batch: Sequence[tuple[Item, asyncio.Future[Outcome]]]) -> None:
        items = [item for item, _ in batch]
        outcomes = await asyncio.get_running_loop().run_in_executor(self._executor, self._process, items)
        for (_, future), outcome in zip(batch, outcomes, strict=True):
            if future.done():
                continue
            if isinstance(outcome, Exception):
                future.set_exception(outcome)
            else:
                future.set_result(outcome)

    def _take_unfinished(
        self, batch: Sequence[tuple[Item, asyncio.Future[Outcome]]]
    ) -> list[tuple[Item, asyncio.Future[Outcome]]]:
        """Remove and return the items without an outcome, of this batch and of waiting ones."""
        waiting, self._waiting = self._waiting, []
        return [item for item in (*batch, *waiting) if not item[1].done()]

    def _take_batch(self) -> list[tuple[Item, asyncio.Future[Outcome]]]:
        remaining, count = self._max_weight, 0
        for item, _ in self._waiting:
            remaining -= self._weight(item)
            if remaining < 0 and count:
                break
            count += 1
        batch, self._waiting = self._waiting[:count], self._waiting[count:]
        return batch

    def _process(self, items: Sequence[Item]) -> Sequence[Outcome | Exception]:
        try:
            return self._process_batch(items)
        except StoreUnavailable as error:
            return [error] * len(items)
        except Exception as error:
            # Returned, so that every caller gets the error.
            log.exception("batch not processed", items=len(items))
            return [error] * len(items)


def write_batch(
    database: Database, write: Callable[[Write, Sequence[Item]], Sequence[Outcome]], batch: Sequence[Item]
) -> Sequence[Outcome | Exception]:
    """Write all items in one transaction, or each in its own if that fails.

    A transaction that the database gave up, such as for a deadlock with one that moves rows to another server, is
    repeated.
    Returns the outcome of each item, in the same order; an exception for an item that could not be written.
    """
    attempt = 1
    while True:
        try:
            with database.writing() as db:
                return write(db, batch)
        except StoreUnavailable as error:
            if not error.is_of_transaction or attempt == MAX_ATTEMPTS:
                return [error] * len(batch)
            attempt += 1
        except Exception as error:
            if len(batch) == 1:
                log.exception("not written", what=type(batch[0]).__name__)
                return [error]
            # One at a time, so that each item has its own outcome.
            return [outcome for item in batch for outcome in write_batch(database, write, [item])]
