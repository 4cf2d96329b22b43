"""Reads pages by selectors in child processes, with limits on time and memory.

page, selectors ─► `services.worker_pool` ─► `tidings.runtime.page_process` ─► feed, hits and misses, suggestions
                                               └─► killed at the timeout, or ended by the system at its limits
"""

from __future__ import annotations

import time
from urllib.parse import urlsplit

import structlog

from tidings.base.errors import InvalidInput, LocalShortage
from tidings.base.messages import msg
from tidings.base.shortages import is_shortage
from tidings.base.times import Instant
from tidings.content.errors import FeedError, NoItems, PageUnreadable
from tidings.content.pages import (
    PageDocument,
    PageKind,
    PageReading,
    PageResult,
    PageSelectors,
    Pick,
    Picked,
    parse_selectors,
)
from tidings.net.fetch import FetchResponse
from tidings.services.worker_pool import LimitedWorkers, ProcessLimits, WorkerDied

log = structlog.get_logger()

# A page of a megabyte takes some 0.1 s.
LIMITS = ProcessLimits(cpu_s=5)


class PageReader:
    """Reads pages by selectors, in processes of their own.

    max_concurrent: maximum number of pages read at the same time.
    """

    def __init__(self, *, max_concurrent: int = 2, limits: ProcessLimits = LIMITS) -> None:
        self._workers = LimitedWorkers("tidings.runtime.page_process", limits, max_concurrent=max_concurrent)

    @property
    def processes(self) -> list[int]:
        """Process ids of the running child processes."""
        return self._workers.pids

    def close(self) -> None:
        """End every process, busy ones too. Repeating it does nothing."""
        self._workers.close()

    async def read(self, kind: str, selectors: str, response: FetchResponse, now: Instant) -> PageReading:
        """Return the feed of a page. kind, selectors: as stored.

        Raises NoItems if the page has no items, another FeedError if it cannot be read, and LocalShortage.
        """
        try:
            parsed = parse_selectors(kind, selectors)
        except InvalidInput as error:
            # Stored ones were checked, unless they came with an archive or from another version.
            raise PageUnreadable(error.text) from error
        result = await self.look(response, now, parsed)
        if result.reading is None:
            raise _error(result)
        if not result.reading.feed.entries:
            raise NoItems(
                msg(
                    "None of the {count:,} items has a title, a link or content: see the selectors of these.",
                    count=result.reading.items,
                )
            )
        return result.reading

    async def look(
        self,
        response: FetchResponse,
        now: Instant,
        selectors: PageSelectors | None = None,
        *,
        wants_suggestions: bool = False,
        wants_marks: bool = False,
    ) -> PageResult:
        """Return what the selectors find in a document, and suggestions; errors of reading are in the result.

        Raises PageUnreadable if the document needs more than the limits, and LocalShortage.
        """
        document = PageDocument(
            response.body,
            response.url,
            response.charset,
            selectors,
            wants_suggestions=wants_suggestions,
            wants_marks=wants_marks,
            now=now,
        )
        return await self._request(document)

    async def outline(self, response: FetchResponse, kind: PageKind, script: str) -> str:
        """Return a page or JSON as harmless HTML with numbered elements, "" if it has no text. Raises FeedError too."""
        document = PageDocument(
            response.body, response.url, response.charset, wants_outline=True, kind=kind, script=script
        )
        result = await self._request(document)
        if result.problem is not None:
            raise _error(result)
        return result.outline

    async def pick(self, response: FetchResponse, wanted: Pick, kind: PageKind, script: str) -> Picked:
        """Return the selectors with the picked element, or why there are none. Raises as `outline`."""
        document = PageDocument(response.body, response.url, response.charset, pick=wanted, kind=kind, script=script)
        result = await self._request(document)
        if result.picked is None:
            raise _error(result)
        return result.picked

    async def _request(self, document: PageDocument) -> PageResult:
        started = time.monotonic()
        try:
            result = await self._workers.request(document, PageResult, keeps_worker=_is_sound)
        except WorkerDied as error:
            self._log_failure(document, str(error), started)
            raise _too_demanding() from error
        except OSError as error:
            if is_shortage(error):
                raise LocalShortage from error
            raise
        if result.failure:
            self._log_failure(document, result.failure, started)
            raise _too_demanding()
        return result

    def _log_failure(self, document: PageDocument, reason: str, started: float) -> None:
        if not self._workers.is_closed:
            took_ms = round((time.monotonic() - started) * 1000)
            host = urlsplit(document.url).hostname
            log.warning("page too demanding", host=host, size=len(document.body), reason=reason, took_ms=took_ms)


def items_gone(error: NoItems, earlier: int) -> NoItems:
    """Return the error of a page that had items at an earlier check: the site has changed, not the selectors."""
    if not earlier:
        return error
    return NoItems(
        msg(
            "The page has 0 items, and had {count:,} when it was last read. It may have been rebuilt. {problem}",
            count=earlier,
            problem=error.text,
        )
    )


def _error(result: PageResult) -> FeedError:
    problem = result.problem or msg("The page cannot be read.")
    return NoItems(problem) if result.code == NoItems.code else PageUnreadable(problem)


def _too_demanding() -> PageUnreadable:
    return PageUnreadable(
        msg("This page is too large or too tangled for these selectors. Simpler ones may find the same.")
    )


def _is_sound(result: PageResult) -> bool:
    """Return whether a process works as it should. One that failed may be out of memory, so it is not used again."""
    return not result.failure
