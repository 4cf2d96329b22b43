"""Documents fetched a moment ago: whoever subscribes to what was just discovered does not fetch it twice."""

from __future__ import annotations

from collections import OrderedDict

from msgspec import Struct

from tidings.domain.times import MINUTE, Instant
from tidings.net.fetch import FetchRequest, FetchResponse
from tidings.services.clock import Clock

KEPT = 5 * MINUTE
MOST_BYTES = 32 * 2**20


class CacheEntry(Struct, frozen=True):
    response: FetchResponse
    until: Instant


class RecentDocuments:
    """Of one process. Used from its event loop only.

    What one user fetched, with whatever credentials, is nobody else's: the user is part of the key, and so is
    everything of the request that may change the answer.
    """

    def __init__(self, clock: Clock, *, most_bytes: int = MOST_BYTES) -> None:
        self._clock = clock
        self._most_bytes = most_bytes
        self._bytes = 0
        self._kept: OrderedDict[tuple[object, ...], CacheEntry] = OrderedDict()

    def keep(self, user_id: int, request: FetchRequest, response: FetchResponse) -> None:
        self._forget(_key(user_id, request))
        if len(response.body) > self._most_bytes:
            return
        self._kept[_key(user_id, request)] = CacheEntry(response, Instant(self._clock() + KEPT))
        self._bytes += len(response.body)
        now = self._clock()
        while self._bytes > self._most_bytes or next(iter(self._kept.values())).until <= now:
            self._forget(next(iter(self._kept)))

    def take(self, user_id: int, request: FetchRequest) -> FetchResponse | None:
        """Once: the next one to ask wants to know what is new."""
        kept = self._forget(_key(user_id, request))
        return kept.response if kept and kept.until > self._clock() else None

    def _forget(self, key: tuple[object, ...]) -> CacheEntry | None:
        kept = self._kept.pop(key, None)
        self._bytes -= len(kept.response.body) if kept else 0
        return kept


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
        request.allow_self_signed_certificates,
    )
