"""Honours the rate limits of hosts: after a 429, no process sends requests to the host until Retry-After has passed.

The pause is stored in the database, which all processes share.
"""

from __future__ import annotations

import asyncio

import structlog

from tidings.domain.errors import HttpError
from tidings.domain.messages import msg
from tidings.domain.polling.sources import host_of
from tidings.domain.times import DAY, SECOND, Instant
from tidings.net.fetch import Fetcher, FetchRequest, FetchResponse
from tidings.services.clock import Clock
from tidings.storage.engine.database import Database
from tidings.storage.polling import host_limits, sources

log = structlog.get_logger()

TOO_MANY_REQUESTS = 429
# After a 429 without Retry-After.
DEFAULT_PAUSE = 60 * SECOND


class HostClosed(HttpError):
    """No request was sent: the host accepts none for another `retry_after_s` seconds."""

    code = "host-closed"

    def __init__(self, host: str, *, url: str, wait_s: int) -> None:
        message = (
            msg("{host} has had too many requests from us and asks to be left alone for another second.", host=host)
            if wait_s == 1
            else msg(
                "{host} has had too many requests from us and asks to be left alone for another {seconds} seconds.",
                host=host,
                seconds=wait_s,
            )
        )
        super().__init__(
            message,
            url=url,
            status=TOO_MANY_REQUESTS,
            retry_after_s=wait_s,
        )


class PoliteFetcher:
    """A `Fetcher` that honours the rate limits of hosts. Belongs to one event loop, as that does."""

    def __init__(self, fetcher: Fetcher, database: Database, clock: Clock) -> None:
        self._fetcher = fetcher
        self._database = database
        self._clock = clock
        # Until when each host is paused, as far as this process has seen itself.
        self._closed: dict[str, Instant] = {}

    async def get(self, request: FetchRequest, *, is_cleared: bool = False) -> FetchResponse:
        """Fetch a document as `Fetcher.get` does. Raises HostClosed if the host accepts no requests now.

        is_cleared: the caller has just checked the host in the database.
        """
        host = host_of(request.url)
        await self._ensure_open(host, request.url, look=not is_cleared)
        try:
            return await self._fetcher.get(request)
        except HttpError as error:
            if error.status == TOO_MANY_REQUESTS:
                await self._close(host_of(error.url) or host, error.retry_after_s)
            raise

    async def close(self) -> None:
        await self._fetcher.close()

    async def _ensure_open(self, host: str, url: str, *, look: bool) -> None:
        until = self._closed.get(host, Instant(0))
        if look and until <= self._clock():
            until = await asyncio.to_thread(self._closed_until, host)
        wait = until - self._clock()
        if wait > 0:
            raise HostClosed(host, url=url, wait_s=-(-wait // SECOND))

    async def _close(self, host: str, retry_after_s: int | None) -> None:
        now = self._clock()
        self._closed = {name: until for name, until in self._closed.items() if until > now}
        pause = DEFAULT_PAUSE if retry_after_s is None else min(retry_after_s * SECOND, DAY)
        until = Instant(now + pause)
        self._closed[host] = max(until, self._closed.get(host, until))
        log.warning("host limits requests", host=host, for_s=pause // SECOND)
        await asyncio.to_thread(self._store, host, until)

    def _closed_until(self, host: str) -> Instant:
        with self._database.reading() as db:
            return host_limits.asked_until(db, host) or Instant(0)

    def _store(self, host: str, until: Instant) -> None:
        with self._database.writing() as db:
            host_limits.close(db, {host: until}, is_requested=True)
            sources.postpone_host(db, host, until)
