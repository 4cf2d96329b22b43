"""Limits how many requests an API key may make, and tells its client how many are left.

Source: draft-ietf-httpapi-ratelimit-headers-10. Each process counts for itself, so a client whose connections go to
several gets more than the limit, never less.
"""

from __future__ import annotations

import threading
import time
from typing import Final

from msgspec import Struct

from tidings.base.errors import TidingsError
from tidings.base.messages import msg

WINDOW_S: Final = 60
# Windows that have ended are removed when there are so many.
_MAX_WINDOWS: Final = 10_000
HEADERS: Final = ("RateLimit", "RateLimit-Policy")


class Quota(Struct, frozen=True):
    """What is left to a key."""

    limit: int
    """Requests in WINDOW_S."""
    remaining: int
    reset_s: int
    """Seconds until all are available again."""

    @property
    def headers(self) -> dict[str, str]:
        return {
            "RateLimit-Policy": f'"key";q={self.limit};w={WINDOW_S}',
            "RateLimit": f'"key";r={self.remaining};t={self.reset_s}',
        }


class KeyThrottled(TidingsError):
    """An API key has made as many requests as the operator allows."""

    code = "too-many-requests"
    is_retryable = True

    def __init__(self, quota: Quota) -> None:
        super().__init__(
            msg(
                "This API key has made its {limit} requests of a minute: wait {wait} s.",
                limit=quota.limit,
                wait=quota.reset_s,
            )
        )
        self.quota = quota


class KeyQuotas:
    """Counts requests by key, in windows of WINDOW_S that begin with the first request.

    limit: requests in a window.
    """

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._lock = threading.Lock()
        # By the id of the key: when the window ends, and how many requests are left.
        self._windows: dict[int, tuple[float, int]] = {}

    def take(self, key_id: int, now: float | None = None) -> Quota:
        """Count a request and return what is left. Raises KeyThrottled.

        now: seconds of a clock that never goes back; None for this process's.
        """
        now = time.monotonic() if now is None else now
        with self._lock:
            ends, left = self._windows.get(key_id, (0.0, 0))
            if ends <= now:
                self._remove_ended(now)
                ends, left = now + WINDOW_S, self._limit
            self._windows[key_id] = ends, max(0, left - 1)
        quota = Quota(self._limit, max(0, left - 1), int(-(-(ends - now) // 1)))
        if not left:
            raise KeyThrottled(quota)
        return quota

    def _remove_ended(self, now: float) -> None:
        if len(self._windows) >= _MAX_WINDOWS:
            self._windows = {key: window for key, window in self._windows.items() if window[0] > now}
