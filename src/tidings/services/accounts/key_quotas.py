"""Limits how many requests an API key may make, and tells its client how many are left.

Source: draft-ietf-httpapi-ratelimit-headers-10. The processes of one service count together. Several machines count
for themselves, so a client whose connections go to several gets more than the limit, never less.
"""

from __future__ import annotations

import fcntl
import mmap
import struct
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

from msgspec import Struct

from tidings.base.errors import TidingsError
from tidings.base.messages import msg

WINDOW_S: Final = 60
# Keys that can be counted at the same time.
MAX_WINDOWS: Final = 16_384
# In memory: the id of the key, when its window ends, and how many requests are left.
_WINDOW: Final = struct.Struct("qdq")
# Where the window of a key may be.
_PLACES: Final = 4
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

    Made before the processes that share it are forked: what one has counted, the others see. The file has no name and
    is in memory as long as the disk has nothing better to do.
    """

    def __init__(self, limit: int) -> None:
        """limit: requests in a window."""
        self._limit = limit
        self._lock = threading.Lock()
        self._file = tempfile.TemporaryFile()  # noqa: SIM115 - it is open for as long as the process runs
        self._file.truncate(MAX_WINDOWS * _WINDOW.size)
        self._windows = mmap.mmap(self._file.fileno(), MAX_WINDOWS * _WINDOW.size)

    def take(self, key_id: int, now: float | None = None) -> Quota:
        """Count a request and return what is left. Raises KeyThrottled.

        now: seconds of a clock that never goes back, the same in all processes; None for the system's.
        """
        now = time.monotonic() if now is None else now
        with self._locked():
            offset, ends, left = self._find(key_id, now)
            _WINDOW.pack_into(self._windows, offset, key_id, ends, max(0, left - 1))
        quota = Quota(self._limit, max(0, left - 1), int(-(-(ends - now) // 1)))
        if not left:
            raise KeyThrottled(quota)
        return quota

    def close(self) -> None:
        """Release the memory in this process."""
        self._windows.close()
        self._file.close()

    @contextmanager
    def _locked(self) -> Iterator[None]:
        """Exclude the other threads and processes. The system releases the lock of a process that is killed."""
        with self._lock:
            fcntl.lockf(self._file, fcntl.LOCK_EX)
            try:
                yield
            finally:
                fcntl.lockf(self._file, fcntl.LOCK_UN)

    def _find(self, key_id: int, now: float) -> tuple[int, float, int]:
        """Return where the window of a key is, when it ends, and how many requests are left in it."""
        places = [(key_id + step) % MAX_WINDOWS * _WINDOW.size for step in range(_PLACES)]
        found = [(offset, *_WINDOW.unpack_from(self._windows, offset)) for offset in places]
        for offset, key, ends, left in found:
            if key == key_id and ends > now:
                return offset, ends, left
        # The window that ends first makes room: with so many keys at the same time, one of them gets more requests.
        offset = min(found, key=lambda window: window[2])[0]
        return offset, now + WINDOW_S, self._limit
