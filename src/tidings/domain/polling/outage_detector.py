"""Whether it is them or us: when nobody can be reached any more, it is the network that is down, and no feed's fault.

A streak is what counts: hosts that could not be reached one after the other, with no answer from anybody between them.
One answer, be it an error, ends it.
"""

from __future__ import annotations

from tidings.domain.times import DAY, Instant

# A streak of so many different hosts is no coincidence, even where one in twenty is dead.
ENOUGH_HOSTS = 8
# Whoever has fewer feeds than that: all their hosts, but not fewer than these.
FEWEST_HOSTS = 3
FORGET_AFTER = DAY


class OutageDetector:
    """Of one process. down_since: the first failure of the streak; None while the network is up."""

    def __init__(self) -> None:
        self._unreached: dict[str, Instant] = {}
        # Who was tried lately, the latest last, as far as that matters.
        self._tried: dict[str, Instant] = {}
        self.down_since: Instant | None = None

    def answered(self, host: str, now: Instant) -> bool:
        """Whether an outage ends with it."""
        self._remember(host, now)
        self._unreached.clear()
        was_down, self.down_since = self.down_since is not None, None
        return was_down

    def unreached(self, host: str, now: Instant) -> bool:
        """Whether an outage begins with it."""
        self._remember(host, now)
        # In a long outage there is nothing to be learnt from more hosts.
        if self.down_since is not None:
            return False
        self._unreached[host] = now
        self._unreached = _lately(self._unreached, now)
        if len(self._unreached) < max(FEWEST_HOSTS, min(len(self._tried), ENOUGH_HOSTS)):
            return False
        self.down_since = min(self._unreached.values())
        return True

    def _remember(self, host: str, now: Instant) -> None:
        self._tried.pop(host, None)
        self._tried[host] = now
        if len(self._tried) > ENOUGH_HOSTS:
            del self._tried[next(iter(self._tried))]
        self._tried = _lately(self._tried, now)


def _lately(hosts: dict[str, Instant], now: Instant) -> dict[str, Instant]:
    return {host: at for host, at in hosts.items() if now - at < FORGET_AFTER}
