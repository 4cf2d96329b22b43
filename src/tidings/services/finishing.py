"""Writing what checks came to, many in one transaction."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from msgspec import Struct

from tidings.services.gathering import Gathering, written_together
from tidings.services.storing import record
from tidings.storage import sources
from tidings.storage.database import Database, Write
from tidings.storage.polling import Result


class Finished(Struct, frozen=True):
    """The end of one check. worker: who holds the source, or None for a check that needed no claim."""

    results: Sequence[Result]
    source_id: int = 0
    worker: str | None = None


def finishing(database: Database) -> Gathering[Finished, bool]:
    """False for a check whose worker lost its claim meanwhile: then nothing of it was written."""
    return Gathering(partial(written_together, database, _write))


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
