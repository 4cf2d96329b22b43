"""Logs refused sign-ins with name and address, with a rate limit so that attackers cannot fill the disk."""

from __future__ import annotations

import threading
import time
from typing import Final

import structlog

log = structlog.get_logger()

MAX_LINES: Final = 20
WINDOW_S: Final = 10.0
MAX_NAME_LENGTH: Final = 100


class RefusalLog:
    """Writes at most MAX_LINES in WINDOW_S; the next line says how many were suppressed."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._since = 0.0
        self._lines = 0
        self._suppressed = 0

    def log(self, reason: str, *, username: str, address: str) -> None:
        """Log a refusal, unless the limit is reached. username: as it was sent, or ""."""
        with self._lock:
            now = time.monotonic()
            if now - self._since > WINDOW_S:
                self._since, self._lines = now, 0
            self._lines += 1
            if self._lines > MAX_LINES:
                self._suppressed += 1
                return
            suppressed, self._suppressed = self._suppressed, 0
        name = username[:MAX_NAME_LENGTH]
        log.warning("sign-in refused", reason=reason, username=name, address=address, suppressed=suppressed)
