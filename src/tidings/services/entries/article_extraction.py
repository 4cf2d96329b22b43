"""Extracts articles from pages in child processes, with limits on time and memory.

page ─► `services.worker_pool` ─► `tidings.runtime.article_process` ─► article
                                    └─► killed at the timeout, or ended by the system at its memory limit
"""

from __future__ import annotations

import time
from urllib.parse import urlsplit

import structlog

from tidings.base.messages import msg
from tidings.content.articles import Article, ExtractionResult, WebPage
from tidings.domain.errors import PageTooDemanding
from tidings.services.worker_pool import LimitedWorkers, ProcessLimits, WorkerDied

log = structlog.get_logger()


LIMITS = ProcessLimits(cpu_s=10)


class ArticleExtractor:
    """Extracts articles from pages, in processes of their own.

    max_concurrent: maximum number of pages processed at the same time.
    """

    def __init__(self, *, max_concurrent: int = 2, limits: ProcessLimits = LIMITS) -> None:
        self._workers = LimitedWorkers("tidings.runtime.article_process", limits, max_concurrent=max_concurrent)

    @property
    def processes(self) -> list[int]:
        """Process ids of the running child processes."""
        return self._workers.pids

    def close(self) -> None:
        """End every process, busy ones too. Repeating it does nothing."""
        self._workers.close()

    async def article(self, page: WebPage) -> Article:
        """Return the article of a page. Raises PageTooDemanding if the page needs more than the limits."""
        started = time.monotonic()
        try:
            result = await self._workers.request(page, ExtractionResult, keeps_worker=_has_article)
        except WorkerDied as error:
            self._log_failure(page, str(error), started)
            raise _too_demanding(page) from error
        if result.article is None:
            self._log_failure(page, result.failure, started)
            raise _too_demanding(page)
        return result.article

    def _log_failure(self, page: WebPage, reason: str, started: float) -> None:
        if not self._workers.is_closed:
            took_ms = round((time.monotonic() - started) * 1000)
            host = urlsplit(page.url).hostname
            log.warning("page too demanding", host=host, size=len(page.body), reason=reason, took_ms=took_ms)


def _has_article(result: ExtractionResult) -> bool:
    """Return whether a process found an article. One that failed may be out of memory, so it is not used again."""
    return result.article is not None


def _too_demanding(page: WebPage) -> PageTooDemanding:
    return PageTooDemanding(
        msg("This page is too large or too tangled to find the article in it. Read it on its site."), url=page.url
    )
