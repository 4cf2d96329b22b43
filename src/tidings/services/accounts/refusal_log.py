"""Refused sign-ins in the log: with name and address, and not so many that a guesser fills the disk."""

from __future__ import annotations

import threading
import time
from typing import Final

import structlog

log = structlog.get_logger()

MOST_LINES: Final = 20
WINDOW_S: Final = 10.0
LONGEST_NAME: Final = 100


class RefusalLog:
    """At most MOST_LINES in WINDOW_S; the next line says how many were left out."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._since = 0.0
        self._lines = 0
        self._suppressed = 0

    def log(self, reason: str, *, username: str, address: str) -> None:
        """username: as it was sent, "" where there was none."""
        with self._lock:
            now = time.monotonic()
            if now - self._since > WINDOW_S:
                self._since, self._lines = now, 0
            self._lines += 1
            if self._lines > MOST_LINES:
                self._suppressed += 1
                return
            suppressed, self._suppressed = self._suppressed, 0
        log.warning(
            "sign-in refused", reason=reason, username=username[:LONGEST_NAME], address=address, suppressed=suppressed
        )
