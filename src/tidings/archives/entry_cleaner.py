"""Cleans the entries of a large import in a child process, which leaves the parent's time to storing."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from types import TracebackType
from typing import Final, NamedTuple, Self

import msgspec
import structlog

from tidings.archives.records import ArchivedEntry
from tidings.archives.validation import UncleanEntries, cleaned
from tidings.content.cleaning import CleaningPolicy
from tidings.services.worker_pool import WorkerDied, WorkerPool

log = structlog.get_logger()

BATCH: Final = 500
_MAX_BATCH_CHARS: Final = 2**23
# Batches that are cleaned ahead of the one that is stored. One process cleans about as fast as another one stores.
_AHEAD: Final = 2
_TIMEOUT_S: Final = 300.0

_decoder = msgspec.msgpack.Decoder(list[ArchivedEntry])


def entry_batches(entries: Iterable[ArchivedEntry]) -> Iterator[list[ArchivedEntry]]:
    """Yield batches, smaller for large entries: a few batches are in memory at the same time."""
    batch: list[ArchivedEntry] = []
    size_chars = 0
    for entry in entries:
        batch.append(entry)
        size_chars += len(entry.content) + len(entry.other_content or "")
        if len(batch) == BATCH or size_chars > _MAX_BATCH_CHARS:
            yield batch
            batch, size_chars = [], 0
    if batch:
        yield batch


class ArchivedBatch(NamedTuple):
    """Entries of an archive."""

    known: list[ArchivedEntry]
    """Entries that the user already has."""
    new: list[ArchivedEntry]
    """All others."""


class EntryCleaner:
    """Cleans the entries of an archive; used as a context manager.

    in_process: whether a child process cleans; few entries are not worth its start.
    """

    def __init__(self, policy: CleaningPolicy, *, in_process: bool) -> None:
        self._policy = policy
        self._in_process = in_process
        self._pool = WorkerPool("tidings.archives.cleaning_process", [])
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="cleaning")

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._pool.close()
        self._thread.shutdown(cancel_futures=True)

    @property
    def processes(self) -> list[int]:
        """Process ids of the running child processes."""
        return self._pool.pids

    def each(self, batches: Iterable[ArchivedBatch]) -> Iterator[ArchivedBatch]:
        """Yield each batch with clean new entries. The following batches are read and cleaned in the background."""
        pending: deque[Future[ArchivedBatch]] = deque()
        for batch in batches:
            pending.append(self._thread.submit(self._clean, batch))
            if len(pending) > _AHEAD:
                yield pending.popleft().result()
        for future in pending:
            yield future.result()

    def _clean(self, batch: ArchivedBatch) -> ArchivedBatch:
        return ArchivedBatch(batch.known, self._cleaned(batch.new) if batch.new else [])

    def _cleaned(self, entries: list[ArchivedEntry]) -> list[ArchivedEntry]:
        if self._in_process:
            try:
                request = msgspec.msgpack.encode(UncleanEntries(self._policy, entries))
                return _decoder.decode(self._pool.request(request, timeout_s=_TIMEOUT_S))
            except WorkerDied as error:
                log.warning("cleaning process ended", reason=str(error))
        return [cleaned(entry, self._policy) for entry in entries]
