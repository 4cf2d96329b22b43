"""Shares contents that are stored once for each subscriber, yields to the poller, and logs how far it is."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

import structlog

from tidings.services.entries.content_sharing import ContentSharing
from tidings.worker import loops

log = structlog.get_logger()

# Pause without work, which comes with an upgrade or a second subscriber, and while other workers do it.
POLL_INTERVAL_S = 5.0
REPORT_INTERVAL_S = 60.0


class ContentSharingWorker:
    """Shares contents in the background.

    is_busy: whether sources wait to be checked; the pauses are then longer.
    """

    def __init__(self, sharing: ContentSharing, is_busy: Callable[[], bool] = lambda: False) -> None:
        self._sharing = sharing
        self._is_busy = is_busy
        self._started_s: float | None = None
        """When it began with what it does now; None without work."""
        self._reported_s = 0.0
        self._sources_at_start = self._shared = 0

    async def run(self, stop: asyncio.Event) -> None:
        """Run until `stop` is set; the current batch is finished."""
        await loops.repeat(self._step, stop, unavailable="no content shared", crashed="sharing contents crashed")

    async def _step(self) -> float:
        """Share a batch. Returns the pause in seconds."""
        began_s = asyncio.get_running_loop().time()
        shared = await asyncio.to_thread(self._sharing.work)
        now_s = asyncio.get_running_loop().time()
        if shared is None:
            await self._finish(now_s)
            return POLL_INTERVAL_S
        self._shared += shared
        if self._started_s is None or now_s - self._reported_s >= REPORT_INTERVAL_S:
            await self._report(now_s)
        return loops.pause_after(now_s - began_s, is_busy=self._is_busy())

    async def _report(self, now_s: float) -> None:
        left = await asyncio.to_thread(self._sharing.sources_left)
        self._reported_s = now_s
        if self._started_s is None:
            self._started_s, self._sources_at_start = now_s, left
            return
        done = self._sources_at_start - left
        minutes = round((now_s - self._started_s) / done * left / 60) if done > 0 else None
        log.info("sharing contents", sources_left=left, entries=self._shared, minutes_left=minutes)

    async def _finish(self, now_s: float) -> None:
        """Log what was done, unless other workers are still at work."""
        if self._started_s is None:
            return
        left = await asyncio.to_thread(self._sharing.sources_left)
        if left:
            return
        took_ms = int((now_s - self._started_s) * 1000)
        log.info("contents shared", sources=self._sources_at_start, entries=self._shared, took_ms=took_ms)
        self._started_s, self._shared = None, 0
