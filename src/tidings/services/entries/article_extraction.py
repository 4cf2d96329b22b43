"""Looking for articles in processes of their own, with a limit for time and one for memory.

page ─► `services.worker_pool` ─► `tidings.runtime.article_process` ─► article
                                    └─► killed when it takes too long; ended by the system when it takes too much
"""

from __future__ import annotations

import asyncio
import time
from concurrent.futures import ThreadPoolExecutor
from urllib.parse import urlsplit

import msgspec
import structlog
from msgspec import Struct

from tidings.domain.articles import Article, ExtractionResult, WebPage
from tidings.domain.errors import PageTooDemanding
from tidings.domain.messages import msg
from tidings.services.worker_pool import WorkerDied, WorkerPool

log = structlog.get_logger()

_decoder = msgspec.msgpack.Decoder(ExtractionResult)


class ExtractionLimits(Struct, frozen=True, kw_only=True):
    """cpu_s: whole seconds of processor time for a page. wall_s: of patience, on a machine that has other things to do.

    memory: bytes of address space for a process. pages: a process is replaced after this many. idle_s: and ended when
    it had nothing to do for so long.
    """

    cpu_s: int = 10
    wall_s: float = 30
    memory: int = 512 * 2**20
    pages: int = 200
    idle_s: float = 60


class ArticleExtractor:
    """places: pages looked at side by side."""

    def __init__(self, *, places: int = 2, limits: ExtractionLimits = ExtractionLimits()) -> None:  # noqa: B008 - it cannot change
        self._limits = limits
        self._threads = ThreadPoolExecutor(places, thread_name_prefix="articles")
        self._helpers = WorkerPool(
            "tidings.runtime.article_process",
            [str(limits.cpu_s), str(limits.memory)],
            idle_s=limits.idle_s,
            max_requests=limits.pages,
        )
        self._closed = False

    async def article(self, page: WebPage) -> Article:
        """PageTooDemanding when the page needs more time or memory than there is for it."""
        return await asyncio.get_running_loop().run_in_executor(self._threads, self._article, page)

    @property
    def processes(self) -> list[int]:
        """Of those that run: their ids."""
        return self._helpers.pids

    def close(self) -> None:
        """Ends every process, those at work too. Repeating it is harmless."""
        self._closed = True
        self._helpers.close()
        self._threads.shutdown(cancel_futures=True)

    def _article(self, page: WebPage) -> Article:
        began = time.monotonic()
        try:
            answer = self._helpers.request(
                msgspec.msgpack.encode(page), timeout_s=self._limits.wall_s, keeps_worker=_found_something
            )
            outcome = _decoder.decode(answer)
        except WorkerDied as lost:
            self._log_failure(page, str(lost), began)
            raise _too_demanding(page) from lost
        if outcome.article is None:
            self._log_failure(page, outcome.failure, began)
            raise _too_demanding(page)
        return outcome.article

    def _log_failure(self, page: WebPage, reason: str, began: float) -> None:
        if not self._closed:
            took_ms = round((time.monotonic() - began) * 1000)
            host = urlsplit(page.url).hostname
            log.warning("page too demanding", host=host, size=len(page.body), reason=reason, took_ms=took_ms)


def _found_something(answer: bytes) -> bool:
    """Otherwise it is out of memory, perhaps: who knows in what state it is now."""
    return _decoder.decode(answer).article is not None


def _too_demanding(page: WebPage) -> PageTooDemanding:
    return PageTooDemanding(
        msg("This page is too large or too tangled to find the article in it. Read it on its site."), url=page.url
    )
