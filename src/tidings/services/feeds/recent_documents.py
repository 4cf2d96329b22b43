"""Caches documents that discovery fetched, so that subscribing does not fetch them again."""

from __future__ import annotations

from collections import OrderedDict

from msgspec import Struct

from tidings.base.times import MINUTE, Instant
from tidings.net.fetch import FetchRequest, FetchResponse
from tidings.services.clock import Clock

KEEP_FOR = 5 * MINUTE
MAX_BYTES = 32 * 2**20


class CacheEntry(Struct, frozen=True):
    """A document in the cache."""

    response: FetchResponse
    until: Instant
    """When the entry expires."""


class RecentDocuments:
    """The cache of one process, used only in its event loop.

    The key contains the user and everything of the request that may change the response, so that no user gets a
    document that another one fetched with credentials.
    """

    def __init__(self, clock: Clock, *, max_bytes: int = MAX_BYTES) -> None:
        self._clock = clock
        self._max_bytes = max_bytes
        self._bytes = 0
        self._entries: OrderedDict[tuple[object, ...], CacheEntry] = OrderedDict()

    def add(self, user_id: int, request: FetchRequest, response: FetchResponse) -> None:
        """Store a document; the oldest ones are removed to make room."""
        self._pop(_key(user_id, request))
        if len(response.body) > self._max_bytes:
            return
        self._entries[_key(user_id, request)] = CacheEntry(response, Instant(self._clock() + KEEP_FOR))
        self._bytes += len(response.body)
        now = self._clock()
        while self._bytes > self._max_bytes or next(iter(self._entries.values())).until <= now:
            self._pop(next(iter(self._entries)))

    def take(self, user_id: int, request: FetchRequest) -> FetchResponse | None:
        """Remove and return a document, or return None. It is removed because a second request wants a newer one."""
        entry = self._pop(_key(user_id, request))
        return entry.response if entry and entry.until > self._clock() else None

    def _pop(self, key: tuple[object, ...]) -> CacheEntry | None:
        entry = self._entries.pop(key, None)
        self._bytes -= len(entry.response.body) if entry else 0
        return entry


def _key(user_id: int, request: FetchRequest) -> tuple[object, ...]:
    return (
        user_id,
        request.url,
        request.username,
        request.password,
        request.user_agent,
        request.cookie,
        request.proxy_url,
        request.fetch_via_proxy,
        request.fetch_via_flaresolverr,
        request.allow_self_signed_certificates,
    )
