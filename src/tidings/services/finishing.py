"""Writing what checks came to: many in one transaction while the database is busy, one at once while it is idle."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

import structlog
from msgspec import Struct

from tidings.domain.errors import StoreUnavailable
from tidings.services.intake import record
from tidings.storage import sources
from tidings.storage.database import Database, Write
from tidings.storage.polling import Result

log = structlog.get_logger()


class Finished(Struct, frozen=True):
    """The end of one check. worker: who holds the source, or None for a check that needed no claim."""

    results: Sequence[Result]
    source_id: int = 0
    worker: str | None = None


class Finishing:
    """While one transaction is written, the next batch gathers: no timer, and nobody waits for company."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._gathered: list[tuple[Finished, asyncio.Future[bool]]] = []
        self._writing: asyncio.Task[None] | None = None

    async def write(self, finished: Finished) -> bool:
        """False when the worker lost its claim meanwhile: then nothing was written. StoreUnavailable."""
        future: asyncio.Future[bool] = asyncio.get_running_loop().create_future()
        self._gathered.append((finished, future))
        if self._writing is None or self._writing.done():
            self._writing = asyncio.create_task(self._write_all())
        return await future

    async def _write_all(self) -> None:
        while self._gathered:
            batch, self._gathered = self._gathered, []
            outcomes = await asyncio.to_thread(self._write_batch, [finished for finished, _ in batch])
            for (_, future), outcome in zip(batch, outcomes, strict=True):
                if future.done():
                    continue
                if isinstance(outcome, Exception):
                    future.set_exception(outcome)
                else:
                    future.set_result(outcome)

    def _write_batch(self, batch: Sequence[Finished]) -> list[bool | Exception]:
        try:
            with self._database.writing() as db:
                return [*_write(db, batch)]
        except StoreUnavailable as error:
            return [error] * len(batch)
        except Exception as error:
            if len(batch) == 1:
                log.exception("check not written", source=batch[0].source_id)
                return [error]
            # One of them is at fault: alone, each comes to its own end.
            return [outcome for finished in batch for outcome in self._write_batch([finished])]


def _write(db: Write, batch: Sequence[Finished]) -> list[bool]:
    by_worker: dict[str, list[int]] = {}
    for finished in batch:
        if finished.worker is not None:
            by_worker.setdefault(finished.worker, []).append(finished.source_id)
    held = {worker: sources.held(db, ids, worker) for worker, ids in by_worker.items()}
    is_ours = [one.worker is None or one.source_id in held[one.worker] for one in batch]
    results = [result for one, ours in zip(batch, is_ours, strict=True) if ours for result in one.results]
    record(db, results)
    for worker, ids in held.items():
        sources.release(db, ids, worker)
    unclaimed = [result.feed.id for one in batch if one.worker is None for result in one.results]
    if unclaimed:
        sources.touch(db, sources.of_feeds(db, unclaimed))
    return is_ours
