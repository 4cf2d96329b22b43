"""Extracts articles from pages in child processes, with limits on time and memory.

page ─► `services.worker_pool` ─► `tidings.runtime.article_process` ─► article
                                    └─► killed at the timeout, or ended by the system at its memory limit
"""

from __future__ import annotations

import asyncio
import time
from concurrent.futures import ThreadPoolExecutor
from urllib.parse import urlsplit

import msgspec
import structlog
from msgspec import Struct

from tidings.base.messages import msg
from tidings.content.articles import Article, ExtractionResult, WebPage
from tidings.domain.errors import PageTooDemanding
from tidings.services.worker_pool import WorkerDied, WorkerPool

log = structlog.get_logger()

_decoder = msgspec.msgpack.Decoder(ExtractionResult)


class ExtractionLimits(Struct, frozen=True, kw_only=True):
    """What a process that extracts articles may use."""

    cpu_s: int = 10
    """Whole seconds of processor time for a page."""
    wall_s: float = 30
    """The timeout, longer for a busy machine."""
    memory: int = 512 * 2**20
    """Bytes of address space of a process."""
    pages: int = 200
    """A process is replaced after this many pages."""
    idle_s: float = 60
    """A process ends after this time without a page."""


class ArticleExtractor:
    """Extracts articles from pages, in processes of their own.

    max_concurrent: maximum number of pages processed at the same time.
    """

    def __init__(self, *, max_concurrent: int = 2, limits: ExtractionLimits = ExtractionLimits()) -> None:  # noqa: B008 - immutable
        self._limits = limits
        self._threads = ThreadPoolExecutor(max_concurrent, thread_name_prefix="articles")
        self._pool = WorkerPool(
            "tidings.runtime.article_process",
            [str(limits.cpu_s), str(limits.memory)],
            idle_s=limits.idle_s,
            max_requests=limits.pages,
        )
        self._closed = False

    async def article(self, page: WebPage) -> Article:
        """Returns the article of a page. Raises PageTooDemanding if the page needs more than the limits."""
        return await asyncio.get_running_loop().run_in_executor(self._threads, self._article, page)

    @property
    def processes(self) -> list[int]:
        """Process ids of the running child processes."""
        return self._pool.pids

    def close(self) -> None:
        """End every process, busy ones too. Repeating it does nothing."""
        self._closed = True
        self._pool.close()
        self._threads.shutdown(cancel_futures=True)

    def _article(self, page: WebPage) -> Article:
        started = time.monotonic()
        try:
            response = self._pool.request(
                msgspec.msgpack.encode(page), timeout_s=self._limits.wall_s, keeps_worker=_has_article
            )
            result = _decoder.decode(response)
        except WorkerDied as error:
            self._log_failure(page, str(error), started)
            raise _too_demanding(page) from error
        if result.article is None:
            self._log_failure(page, result.failure, started)
            raise _too_demanding(page)
        return result.article

    def _log_failure(self, page: WebPage, reason: str, started: float) -> None:
        if not self._closed:
            took_ms = round((time.monotonic() - started) * 1000)
            host = urlsplit(page.url).hostname
            log.warning("page too demanding", host=host, size=len(page.body), reason=reason, took_ms=took_ms)


def _has_article(response: bytes) -> bool:
    """Returns whether a process found an article. One that failed may be out of memory, so it is not used again."""
    return _decoder.decode(response).article is not None


def _too_demanding(page: WebPage) -> PageTooDemanding:
    return PageTooDemanding(
        msg("This page is too large or too tangled to find the article in it. Read it on its site."), url=page.url
    )
