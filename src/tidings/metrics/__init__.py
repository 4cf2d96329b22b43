"""Counters and histograms: functions that every ring but the domain may call.

    metrics.record_poll("stored", 0.118, new_entries=5)

Before `start` a call costs one comparison and records nothing. Labels come from small fixed sets (a declared route, an
outcome), never from addresses or names, so their number does not depend on stored data.
"""

from __future__ import annotations

import threading
from pathlib import Path
from typing import TYPE_CHECKING

import structlog

if TYPE_CHECKING:
    from tidings.metrics.metrics import ProcessMetrics

log = structlog.get_logger()

_process_metrics: ProcessMetrics | None = None
_starting = threading.Lock()


def start(folder: Path) -> None:
    """From now on, keep numbers in this folder, together with the other processes that do. Again: nothing happens.

    A folder that cannot be used is told in the log: a service that cannot be watched still serves.
    """
    global _process_metrics  # noqa: PLW0603 - one for the process, as the log is
    # Imported here: most commands never start metrics.
    from tidings.metrics.metrics import ProcessMetrics

    with _starting:
        if _process_metrics is None:
            try:
                _process_metrics = ProcessMetrics(folder)
            except OSError as error:
                log.error("no metrics", folder=str(folder), reason=error.strerror or str(error))  # noqa: TRY400


def stop() -> None:
    global _process_metrics  # noqa: PLW0603
    with _starting:
        if _process_metrics is not None:
            _process_metrics.close()
            _process_metrics = None


def is_enabled() -> bool:
    return _process_metrics is not None


def record_poll(outcome: str, seconds: float, new_entries: int = 0) -> None:
    """A check of a feed ended. outcome: stored, unchanged, failed … a word out of few."""
    if _process_metrics is not None:
        _process_metrics.record_poll(outcome, seconds, new_entries)


def record_delivery(outcome: str, seconds: float) -> None:
    """An attempt to deliver ended. outcome: delivered, retried, failed … a word out of few."""
    if _process_metrics is not None:
        _process_metrics.record_delivery(outcome, seconds)


def record_request(route: str, method: str, status: int, seconds: float) -> None:
    """A request was answered. route: as declared, `/v1/feeds/{feed_id}`, not as called."""
    if _process_metrics is not None:
        _process_metrics.record_request(route, method, status, seconds)


def record_database_read(seconds: float) -> None:
    """A reading connection was given back."""
    if _process_metrics is not None:
        _process_metrics.record_database_read(seconds)


def record_database_write(seconds: float, waited: float = 0.0) -> None:
    """A write transaction ended, committed or not. waited: for its turn, before it began."""
    if _process_metrics is not None:
        _process_metrics.record_database_write(seconds, waited)


def record_cleanup(what: str, count: int) -> None:
    """Rows were removed. what: entries, tombstones … a word out of few."""
    if _process_metrics is not None and count:
        _process_metrics.record_cleanup(what, count)


def exposition(gauges: dict[str, tuple[str, float]]) -> tuple[bytes, str]:
    """What all processes counted, and how things stand: text for Prometheus, and its media type.

    gauges: by name, what each says and its value now.
    """
    assert _process_metrics is not None, "start comes first"
    return _process_metrics.exposition(gauges)


__all__ = [
    "exposition",
    "is_enabled",
    "record_cleanup",
    "record_database_read",
    "record_database_write",
    "record_delivery",
    "record_poll",
    "record_request",
    "start",
    "stop",
]
