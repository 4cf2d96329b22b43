"""Doing what comes in bit by bit: many in one go while the database is busy, one at once while it is idle."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from concurrent.futures import Executor
from typing import Generic, TypeVar

import structlog

from tidings.domain.errors import StoreUnavailable
from tidings.storage.database import Database, Write

log = structlog.get_logger()

Item = TypeVar("Item")
Outcome = TypeVar("Outcome")


class Gathering(Generic[Item, Outcome]):
    """While one batch is worked on, the next gathers: no timer, and nobody waits for company.

    work: what became of each item of a batch, in the same order; an exception is raised for whoever waits for it.
    executor: where that happens. weight, most: of the items of a batch, but for a single one that weighs more.
    """

    def __init__(
        self,
        work: Callable[[Sequence[Item]], Sequence[Outcome | Exception]],
        *,
        executor: Executor | None = None,
        weight: Callable[[Item], int] = lambda _: 0,
        most: int = 0,
    ) -> None:
        self._work = work
        self._executor = executor
        self._weight = weight
        self._most = most
        self._gathered: list[tuple[Item, asyncio.Future[Outcome]]] = []
        self._working: asyncio.Task[None] | None = None

    async def add(self, item: Item) -> Outcome:
        """What became of it. Raises what `work` says."""
        future: asyncio.Future[Outcome] = asyncio.get_running_loop().create_future()
        self._gathered.append((item, future))
        if self._working is None or self._working.done():
            self._working = asyncio.create_task(self._work_all())
        return await future

    async def _work_all(self) -> None:
        batch: list[tuple[Item, asyncio.Future[Outcome]]] = []
        try:
            while self._gathered:
                batch = self._next()
                await self._work_through(batch)
        except asyncio.CancelledError:
            # The event loop ends: what waits is not for the next one.
            for _, future in self._left(batch):
                future.cancel()
            raise
        except Exception as error:
            # A mistake of ours: nobody waits for ever because of it.
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
        """All for whom there is no outcome, and none will come."""
        gathered, self._gathered = self._gathered, []
        return [one for one in (*batch, *gathered) if not one[1].done()]

    def _next(self) -> list[tuple[Item, asyncio.Future[Outcome]]]:
        room, count = self._most, 0
        for item, _ in self._gathered:
            room -= self._weight(item)
            if room < 0 and count:
                break
            count += 1
        batch, self._gathered = self._gathered[:count], self._gathered[count:]
        return batch

    def _work_on(self, items: Sequence[Item]) -> Sequence[Outcome | Exception]:
        try:
            return self._work(items)
        except StoreUnavailable as error:
            return [error] * len(items)
        except Exception as error:
            # Whoever waits must hear of it.
            log.exception("batch not worked on", items=len(items))
            return [error] * len(items)


def written_together(
    database: Database, settle: Callable[[Write, Sequence[Item]], Sequence[Outcome]], batch: Sequence[Item]
) -> Sequence[Outcome | Exception]:
    """What became of each, in the same order; written in one transaction unless one of them is at fault."""
    try:
        with database.writing() as db:
            return settle(db, batch)
    except StoreUnavailable as error:
        return [error] * len(batch)
    except Exception as error:
        if len(batch) == 1:
            log.exception("not written", what=type(batch[0]).__name__)
            return [error]
        # Alone, each comes to its own end.
        return [outcome for item in batch for outcome in written_together(database, settle, [item])]
