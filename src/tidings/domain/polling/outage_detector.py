"""Detects that the local network is down, so that feeds are not blamed for failures to reach their hosts.

An outage is assumed after a streak: several different hosts that could not be reached one after the other, without any
response between them. A response of any host, even an error, ends it.
"""

from __future__ import annotations

from tidings.base.times import DAY, Instant

# A streak of this many different hosts is not a coincidence, even if one host in twenty is dead.
MAX_STREAK_HOSTS = 8
# An instance with feeds on fewer hosts needs a streak of all its hosts, but of at least this many.
MIN_STREAK_HOSTS = 3
FORGET_AFTER = DAY


class OutageDetector:
    """The detector of one process. down_since: the first failure of the streak; None while the network is up."""

    def __init__(self) -> None:
        self._unreached: dict[str, Instant] = {}
        # The last hosts that were tried, at most MAX_STREAK_HOSTS, the latest last.
        self._tried: dict[str, Instant] = {}
        self.down_since: Instant | None = None

    def record_response(self, host: str, now: Instant) -> bool:
        """Records that the host responded. Returns whether this ends an outage."""
        self._remember(host, now)
        self._unreached.clear()
        was_down, self.down_since = self.down_since is not None, None
        return was_down

    def record_unreachable(self, host: str, now: Instant) -> bool:
        """Records that the host could not be reached. Returns whether an outage begins."""
        self._remember(host, now)
        # During an outage further hosts change nothing: the streak does not grow without limit.
        if self.down_since is not None:
            return False
        self._unreached[host] = now
        self._unreached = _recent(self._unreached, now)
        if len(self._unreached) < max(MIN_STREAK_HOSTS, min(len(self._tried), MAX_STREAK_HOSTS)):
            return False
        self.down_since = min(self._unreached.values())
        return True

    def _remember(self, host: str, now: Instant) -> None:
        self._tried.pop(host, None)
        self._tried[host] = now
        if len(self._tried) > MAX_STREAK_HOSTS:
            del self._tried[next(iter(self._tried))]
        self._tried = _recent(self._tried, now)


def _recent(hosts: dict[str, Instant], now: Instant) -> dict[str, Instant]:
    return {host: at for host, at in hosts.items() if now - at < FORGET_AFTER}
