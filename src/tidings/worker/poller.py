"""The poller: takes due feeds as places get free, checks them side by side, and stops without leaving claims behind.

claim as many as there are free places ─► check each ─► its place is free again
"""

from __future__ import annotations

import asyncio
import os
import secrets
import socket
from collections import defaultdict
from contextlib import suppress
from urllib.parse import urlsplit

import structlog

from tidings.domain.errors import StoreUnavailable
from tidings.domain.feeds import Feed
from tidings.services.polling import Polling

log = structlog.get_logger()

# How soon a feed that became due, or that a user wants refreshed, is noticed.
LOOK_AGAIN_S = 0.5
# How long a stopping poller lets running checks finish; the supervisor allows four seconds in all.
FINISH_WITHIN_S = 2.5
# A feed that waited this part of its lease for its host has the lease renewed before it is fetched.
RENEW_AFTER = 0.3


class Poller:
    """places: feeds checked at the same time; per_host: of them, on one host."""

    def __init__(self, polling: Polling, *, places: int, per_host: int) -> None:
        self.name = f"{socket.gethostname()}:{os.getpid()}:{secrets.token_hex(4)}"
        self._polling = polling
        self._places = places
        self._hosts: defaultdict[str, asyncio.Semaphore] = defaultdict(lambda: asyncio.Semaphore(per_host))
        self._running: set[asyncio.Task[None]] = set()

    async def run(self, stop: asyncio.Event) -> None:
        """Until `stop` is set; then it ends what it can and gives back what it holds."""
        log.info("poller started", worker=self.name, places=self._places)
        try:
            while not stop.is_set():
                claimed = await self._claim()
                for feed in claimed:
                    self._start(feed)
                await self._wait(stop, found_some=bool(claimed))
        finally:
            await self._finish()
        log.info("poller stopped", worker=self.name)

    async def _claim(self) -> list[Feed]:
        free = self._places - len(self._running)
        # A claim is a transaction: not one for each place that gets free while others are still busy.
        if free < max(1, self._places // 4):
            return []
        try:
            return await asyncio.to_thread(self._polling.claim, self.name, free)
        except StoreUnavailable as error:
            log.error("nothing claimed", reason=error.message)  # noqa: TRY400 - the message says it all
            return []

    def _start(self, feed: Feed) -> None:
        task = asyncio.create_task(self._check(feed), name=f"feed {feed.id}")
        self._running.add(task)
        task.add_done_callback(self._running.discard)

    async def _check(self, feed: Feed) -> None:
        try:
            loop = asyncio.get_running_loop()
            waiting_since = loop.time()
            async with self._hosts[urlsplit(feed.feed_url).netloc]:
                waited_long = loop.time() - waiting_since > RENEW_AFTER * self._polling.lease_s
                if waited_long and not await asyncio.to_thread(self._polling.renew, self.name, feed.id):
                    return
                await self._polling.check(feed, worker=self.name)
        except StoreUnavailable as error:
            # The claim runs out by itself, and the feed is taken again.
            log.error("feed not stored", feed=feed.id, reason=error.message)  # noqa: TRY400
        except Exception:
            log.exception("feed made us fail", feed=feed.id)

    async def _wait(self, stop: asyncio.Event, *, found_some: bool) -> None:
        """For a place to get free where there is more to do, else for a moment."""
        stopping = asyncio.ensure_future(stop.wait())
        try:
            waiting: set[asyncio.Future[object]] = {stopping, *self._running} if found_some else {stopping}  # type: ignore[arg-type]
            await asyncio.wait(waiting, timeout=LOOK_AGAIN_S, return_when=asyncio.FIRST_COMPLETED)
        finally:
            stopping.cancel()

    async def _finish(self) -> None:
        if self._running:
            await asyncio.wait(self._running, timeout=FINISH_WITHIN_S)
        for task in self._running:
            task.cancel()
        await asyncio.gather(*self._running, return_exceptions=True)
        with suppress(StoreUnavailable):
            released = await asyncio.to_thread(self._polling.release_all, self.name)
            log.debug("claims given back", feeds=released)
