"""What Tidings counts and times: plain functions that every ring but the domain may call.

    metrics.polled("stored", 0.118, new_entries=5)

Nothing is kept before `start`: in a process that nobody watches a call costs one comparison. Labels are words of ours
(a route as declared, an outcome), never addresses or names: how many there are does not depend on what is stored.
"""

from __future__ import annotations

import threading
from pathlib import Path
from typing import TYPE_CHECKING

import structlog

if TYPE_CHECKING:
    from tidings.metrics.numbers import Numbers

log = structlog.get_logger()

_numbers: Numbers | None = None
_starting = threading.Lock()


def start(folder: Path) -> None:
    """From now on, keep numbers in this folder, together with the other processes that do. Again: nothing happens.

    A folder that cannot be used is told in the log: a service that cannot be watched still serves.
    """
    global _numbers  # noqa: PLW0603 - one for the process, as the log is
    # Imported here: most commands end before anybody could look.
    from tidings.metrics.numbers import Numbers

    with _starting:
        if _numbers is None:
            try:
                _numbers = Numbers(folder)
            except OSError as error:
                log.error("no metrics", folder=str(folder), reason=error.strerror or str(error))  # noqa: TRY400


def stop() -> None:
    global _numbers  # noqa: PLW0603
    with _starting:
        if _numbers is not None:
            _numbers.close()
            _numbers = None


def is_on() -> bool:
    return _numbers is not None


def polled(outcome: str, seconds: float, new_entries: int = 0) -> None:
    """A check of a feed ended. outcome: stored, unchanged, failed … a word out of few."""
    if _numbers is not None:
        _numbers.polled(outcome, seconds, new_entries)


def delivered(outcome: str, seconds: float) -> None:
    """An attempt to deliver ended. outcome: delivered, retried, failed … a word out of few."""
    if _numbers is not None:
        _numbers.delivered(outcome, seconds)


def requested(route: str, method: str, status: int, seconds: float) -> None:
    """A request was answered. route: as declared, `/v1/feeds/{feed_id}`, not as called."""
    if _numbers is not None:
        _numbers.requested(route, method, status, seconds)


def read(seconds: float) -> None:
    """A reading connection was given back."""
    if _numbers is not None:
        _numbers.read(seconds)


def wrote(seconds: float, waited: float = 0.0) -> None:
    """A write transaction ended, committed or not. waited: for its turn, before it began."""
    if _numbers is not None:
        _numbers.wrote(seconds, waited)


def tidied(what: str, count: int) -> None:
    """Rows were removed. what: entries, tombstones … a word out of few."""
    if _numbers is not None and count:
        _numbers.tidied(what, count)


def exposition(gauges: dict[str, tuple[str, float]]) -> tuple[bytes, str]:
    """What all processes counted, and how things stand: text for Prometheus, and its media type.

    gauges: by name, what each says and its value now.
    """
    assert _numbers is not None, "start comes first"
    return _numbers.exposition(gauges)


__all__ = [
    "delivered",
    "exposition",
    "is_on",
    "polled",
    "read",
    "requested",
    "start",
    "stop",
    "tidied",
    "wrote",
]
