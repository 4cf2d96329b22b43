"""Logs refused sign-ins, a line each that fail2ban reads (docs/sign-in.md), and tells listeners of them.

Both are limited, so that attackers fill neither the disk nor the database.
"""

from __future__ import annotations

import threading
import time
from typing import Final

import structlog

from tidings.domain.accounts.events import AccountEvent, EventKind, Method, Origin, printable
from tidings.domain.accounts.throttle import network_of
from tidings.engine.database import Database
from tidings.services.clock import Clock
from tidings.services.listeners import Listeners

log = structlog.get_logger()

WINDOW_S: Final = 10.0
# In WINDOW_S. The limit of one network is enough for it to be banned.
MAX_LINES: Final = 100
MAX_LINES_OF_NETWORK: Final = 20
MAX_NAME_LENGTH: Final = 100


class Refusals:
    """Writes at most MAX_LINES in WINDOW_S; the next line says how many were suppressed."""

    def __init__(self, database: Database, clock: Clock, listeners: Listeners) -> None:
        self._database = database
        self._clock = clock
        self._listeners = listeners
        self._lock = threading.Lock()
        self._since = 0.0
        self._lines: dict[str, int] = {}
        self._suppressed = 0

    def record(
        self, reason: str, *, origin: Origin, method: Method, username: str = "", user_id: int | None = None
    ) -> None:
        """Log a refusal and tell listeners, unless the limit is reached. Outside any transaction.

        username: as it was sent, or "". user_id: the user whose name it is.
        """
        suppressed = self._count(network_of(origin.address))
        if suppressed is None:
            return
        name = printable(username, MAX_NAME_LENGTH)
        log.warning(
            "sign-in refused",
            address=origin.address,
            reason=reason,
            method=str(method),
            username=name,
            suppressed=suppressed,
        )
        if self._listeners.account_events:
            by = Origin(origin.address, origin.user_agent, method)
            with self._database.writing() as db:
                self._listeners.tell_account(
                    db,
                    AccountEvent(
                        kind=EventKind.REFUSED,
                        at=self._clock(),
                        user_id=user_id,
                        username=name,
                        origin=by,
                        detail=reason,
                    ),
                )

    def _count(self, network: str) -> int | None:
        """Count a refusal. Returns how many were suppressed before it; None if this one is."""
        with self._lock:
            now = time.monotonic()
            if now - self._since > WINDOW_S:
                self._since, self._lines = now, {}
            lines = self._lines.get(network, 0)
            if lines >= MAX_LINES_OF_NETWORK or sum(self._lines.values()) >= MAX_LINES:
                self._suppressed += 1
                return None
            self._lines[network] = lines + 1
            suppressed, self._suppressed = self._suppressed, 0
        return suppressed
