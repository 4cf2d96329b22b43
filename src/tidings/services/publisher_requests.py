"""Requests to publishers: with the options of a feed, and only when the host allows them.

Secrets of a feed go only to the host that they were given for.

After a 429, no process sends requests to the host until Retry-After has passed. The pause is stored in the database,
which all processes share. Two rules limit how one user's feeds affect the feeds of others: for them a pause lasts an
hour at most, and what a user requests is sent once a minute.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Collection, Mapping, Sequence
from typing import Any, Final, Protocol

import structlog
from msgspec.structs import replace

from tidings.base.messages import Message, join_sentences, msg
from tidings.base.times import DAY, HOUR, SECOND, Instant
from tidings.domain.feeds.feeds import Feed
from tidings.domain.polling.shared_sources import host_with_port
from tidings.engine.database import Database
from tidings.net.errors import ChallengePage, HttpError
from tidings.net.fetch import Fetcher, FetchRequest, FetchResponse
from tidings.net.guard import may_share
from tidings.services.clock import Clock
from tidings.storage.polling import host_limits, sources

# What a feed links to

# The options of a feed that go only to the scheme, host and port that they were given for. The user agent is one of
# them: some publishers accept a feed reader by a token in it.
BOUND_TO_HOST: Final = ("cookie", "username", "password", "user_agent")


def linked_request(
    feed: Feed, url: str, *, accept: str, max_body_size: int | None = None, timeout_s: float | None = None
) -> FetchRequest:
    """Return a request with the options of the feed.

    Its cookie and user agent are sent to its own publisher only, its password for its own URL only.
    """
    is_own_site, is_own_url = may_share(feed.feed_url, url), url == feed.feed_url
    return FetchRequest(
        url=url,
        accept=accept,
        user_agent=feed.user_agent if is_own_site else "",
        cookie=feed.cookie if is_own_site else "",
        username=feed.username if is_own_url else "",
        password=feed.password if is_own_url else "",
        allow_self_signed_certificates=feed.allow_self_signed_certificates,
        proxy_url=feed.proxy_url,
        fetch_via_proxy=feed.fetch_via_proxy,
        fetch_via_flaresolverr=feed.fetch_via_flaresolverr,
        bridges_of=feed.user_id if feed.own_bridge else 0,
        max_body_size=max_body_size,
        timeout_s=timeout_s,
    )


def may_move(values: Mapping[str, Any], url: str) -> bool:
    """Return whether a redirect may change the URL of a feed: nothing that is bound to its host would go elsewhere.

    values: columns of the feed.
    """
    return not any(values.get(name) for name in BOUND_TO_HOST) or may_share(values["feed_url"], url)


def request_elsewhere(request: FetchRequest, url: str) -> FetchRequest:
    """Return the same request for another URL, on another host without what is bound to the first."""
    return replace(request, url=url, **_cleared(request.url, url))


def options_elsewhere(options: Mapping[str, Any], given_for: str, url: str) -> dict[str, Any]:
    """Return options of a feed for a URL, on another host without what is bound to the host of `given_for`."""
    dropped = _cleared(given_for, url)
    return {name: value for name, value in options.items() if name not in dropped}


def options_after_move(feed: Feed, changed: Mapping[str, Any]) -> dict[str, Any]:
    """Return the changes of a feed, and with a new URL on another host the removal of what was not given for it."""
    return {**_cleared(feed.feed_url, changed.get("feed_url", feed.feed_url)), **changed}


def _cleared(given_for: str, url: str) -> dict[str, str]:
    return {} if given_for == url or may_share(given_for, url) else dict.fromkeys(BOUND_TO_HOST, "")


# Rate limits of hosts

log = structlog.get_logger()

TOO_MANY_REQUESTS = 429
# After a 429 without Retry-After.
DEFAULT_PAUSE = 60 * SECOND
# Limits for feeds of the users whose request was refused, and for everything else from the host.
MAX_PAUSE = DAY
MAX_PAUSE_FOR_OTHERS = HOUR


class HostClosed(HttpError):
    """No request was sent, because the host accepts none for another `retry_after_s` seconds."""

    code = "host-closed"

    def __init__(self, message: Message, *, url: str, wait_s: int) -> None:
        super().__init__(message, url=url, status=TOO_MANY_REQUESTS, retry_after_s=wait_s)


class Detour(Protocol):
    """Another way to a document than asking its address directly. A slice adds one to a `PoliteFetcher`."""

    def takes(self, request: FetchRequest) -> bool:
        """Return whether the request goes this way."""

    def asked_url(self, request: FetchRequest) -> str:
        """Return the URL whose host limits the requests. Raises TidingsError if the way is closed."""

    async def get(self, request: FetchRequest, fetcher: Fetcher) -> FetchResponse:
        """Return the document. Raises as `Fetcher.get` does."""


async def _no_detours(_user_id: int) -> Sequence[Detour]:
    return ()


async def _no_hint(_user_ids: Collection[int]) -> Message | None:
    return None


class PoliteFetcher:
    """A `Fetcher` that honours the rate limits of hosts. Belongs to one event loop, as that does."""

    def __init__(self, fetcher: Fetcher, database: Database, clock: Clock) -> None:
        self.detours: list[Detour] = []
        """The first one that takes a request fetches it."""
        self.own_detours: Callable[[int], Awaitable[Sequence[Detour]]] = _no_detours
        """Returns those of a user, which are asked first for requests with `bridges_of`."""
        self.challenge_hint: Callable[[Collection[int]], Awaitable[Message | None]] = _no_hint
        """Returns what these users can do about a challenge for browsers, besides what the error says."""
        self._fetcher = fetcher
        self._database = database
        self._clock = clock
        # Until when each host is paused, as far as this process has seen itself.
        self._closed: dict[str, Instant] = {}

    async def get(
        self, request: FetchRequest, user_ids: Collection[int], *, requested_by: int = 0, is_cleared: bool = False
    ) -> FetchResponse:
        """Fetch a document as `Fetcher.get` does. Raises HostClosed if the host accepts no requests now.

        user_ids: the users that the document is fetched for. requested_by: the user who asked for this very document by
        hand, and may do so once a minute although the host is paused; 0: a worker fetches it, or it belongs to another
        document. is_cleared: the caller has just checked the host in the database.
        """
        own = await self.own_detours(request.bridges_of) if request.bridges_of else ()
        detour = next((one for one in (*own, *self.detours) if one.takes(request)), None)
        host = host_with_port(request.url if detour is None else detour.asked_url(request))
        was_paused = await self._ensure_open(host, request.url, requested_by, look=not is_cleared)
        try:
            return await (self._fetcher.get(request) if detour is None else detour.get(request, self._fetcher))
        except HttpError as error:
            if error.status == TOO_MANY_REQUESTS:
                limiting = host_with_port(error.url) or host
                # Otherwise a user who tries every minute would prolong the pause for all others.
                is_prolonged = not (was_paused and limiting == host)
                await self._pause(limiting, error.retry_after_s, user_ids, requested_by, is_prolonged=is_prolonged)
            if isinstance(error, ChallengePage) and (hint := await self.challenge_hint(user_ids)) is not None:
                error.text = join_sentences(error.text, hint)
            raise

    async def close(self) -> None:
        await self._fetcher.close()

    async def _ensure_open(self, host: str, url: str, requested_by: int, *, look: bool) -> bool:
        """Return whether the host is paused but the user may send a request. Raises HostClosed if none may be sent."""
        until, now = self._closed.get(host, Instant(0)), self._clock()
        if look and until <= now:
            until = await asyncio.to_thread(self._closed_until, host)
        if until <= now:
            return False
        if not requested_by:
            wait_s = _seconds(until - now)
            raise HostClosed(_paused(host, wait_s), url=url, wait_s=wait_s)
        again_at = await asyncio.to_thread(self._record_attempt, requested_by, host, now)
        if again_at is not None:
            wait_s = _seconds(min(again_at, until) - now)
            raise HostClosed(_just_tried(host), url=url, wait_s=wait_s)
        return True

    async def _pause(
        self, host: str, retry_after_s: int | None, user_ids: Collection[int], requested_by: int, *, is_prolonged: bool
    ) -> None:
        now = self._clock()
        self._closed = {name: until for name, until in self._closed.items() if until > now}
        requested = DEFAULT_PAUSE if retry_after_s is None else min(retry_after_s * SECOND, MAX_PAUSE)
        until = Instant(now + (min(requested, MAX_PAUSE_FOR_OTHERS) if is_prolonged else 0))
        self._closed[host] = max(until, self._closed.get(host, until))
        log.warning("host limits requests", host=host, for_s=requested // SECOND)

        def store() -> None:
            with self._database.writing() as db:
                host_limits.pause(db, host, until=until, asked_until=Instant(now + requested))
                if requested_by:
                    host_limits.record_attempt(db, requested_by, host, now)
                sources.postpone_host(db, host, until, user_ids=user_ids, users_until=Instant(now + requested))

        await asyncio.to_thread(store)

    def _closed_until(self, host: str) -> Instant:
        with self._database.reading() as db:
            return host_limits.paused_until(db, host) or Instant(0)

    def _record_attempt(self, user_id: int, host: str, now: Instant) -> Instant | None:
        with self._database.writing() as db:
            return host_limits.record_attempt(db, user_id, host, now)


def _seconds(wait: int) -> int:
    """Return the seconds of a wait in microseconds, rounded up."""
    return -(-wait // SECOND)


def _paused(host: str, wait_s: int) -> Message:
    if wait_s == 1:
        return msg("{host} has received too many requests from us and asks us to wait another second.", host=host)
    return msg(
        "{host} has received too many requests from us and asks us to wait another {seconds} seconds.",
        host=host,
        seconds=wait_s,
    )


def _just_tried(host: str) -> Message:
    return msg(
        "{host} has received too many requests from us and asks us to wait. You can try again once a minute.",
        host=host,
    )
