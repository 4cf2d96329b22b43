"""Counts what a process does, for Prometheus. `base`, `content` and `domain` do not use it.

    metrics.start(Path("metrics"))
    metrics.record_poll("stored", 0.118, new_entries=5)
    text, media_type = metrics.exposition({"users": ("Number of users", 3.0)})

Before `start` a call costs one comparison and records nothing. Several processes count into one folder, and any of them
can answer for all: `metrics` declares and counts, `multiprocess` keeps and merges the files.

A call never raises. Labels come from small fixed sets (a declared route, an outcome), never from URLs or names, so
their number does not depend on stored data.
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
    """Starts to record metrics in files in this folder, which several processes may share.

    Does nothing if already started. If the folder cannot be used, logs an error, so that the service runs without
    metrics.
    """
    global _process_metrics  # noqa: PLW0603 - one for the process, like the log
    # Imported here: most commands never start metrics.
    from tidings.metrics.metrics import ProcessMetrics

    with _starting:
        if _process_metrics is None:
            try:
                _process_metrics = ProcessMetrics(folder)
            except OSError as error:
                log.error("metrics unavailable", folder=str(folder), reason=error.strerror or str(error))  # noqa: TRY400


def stop() -> None:
    """Stops recording and closes the files."""
    global _process_metrics  # noqa: PLW0603
    with _starting:
        if _process_metrics is not None:
            _process_metrics.close()
            _process_metrics = None


def is_enabled() -> bool:
    return _process_metrics is not None


def record_poll(outcome: str, seconds: float, new_entries: int = 0) -> None:
    """Counts a check of a feed. outcome: one of a small fixed set: stored, unchanged, failed …"""
    if _process_metrics is not None:
        _process_metrics.record_poll(outcome, seconds, new_entries)


def record_delivery(outcome: str, seconds: float) -> None:
    """Counts an attempt to deliver. outcome: one of a small fixed set: delivered, retried, failed …"""
    if _process_metrics is not None:
        _process_metrics.record_delivery(outcome, seconds)


def record_deliveries_given_up(reason: str, count: int) -> None:
    """Counts deliveries that were given up. reason: one of a small fixed set: expired, refused, overflow."""
    if _process_metrics is not None:
        _process_metrics.record_deliveries_given_up(reason, count)


def record_request(route: str, method: str, status: int, seconds: float) -> None:
    """Counts an HTTP request. route: as declared, such as `/v1/feeds/{feed_id}`."""
    if _process_metrics is not None:
        _process_metrics.record_request(route, method, status, seconds)


def record_database_read(seconds: float) -> None:
    """Counts a read transaction. seconds: its duration."""
    if _process_metrics is not None:
        _process_metrics.record_database_read(seconds)


def record_database_write(seconds: float, waited: float = 0.0) -> None:
    """Counts a write transaction, committed or not. seconds: its duration. waited: seconds until it could begin."""
    if _process_metrics is not None:
        _process_metrics.record_database_write(seconds, waited)


def record_backup(outcome: str) -> None:
    """Counts a scheduled backup. outcome: written or failed."""
    if _process_metrics is not None:
        _process_metrics.record_backup(outcome)


def record_letter(outcome: str) -> None:
    """Counts a letter. outcome: one of a small fixed set: stored, repeated, blocked, filtered, put_off, refused."""
    if _process_metrics is not None:
        _process_metrics.record_letter(outcome)


def record_cleanup(what: str, count: int) -> None:
    """Counts deleted rows. what: one of a small fixed set: entries, tombstones …"""
    if _process_metrics is not None and count:
        _process_metrics.record_cleanup(what, count)


def exposition(gauges: dict[str, tuple[str, float]]) -> tuple[bytes, str]:
    """Return the metrics of all processes in Prometheus' text format, and the media type.

    gauges: help text and current value, by name. `start` must have been called.
    """
    assert _process_metrics is not None, "metrics are not started"
    return _process_metrics.exposition(gauges)


__all__ = [
    "exposition",
    "is_enabled",
    "record_backup",
    "record_cleanup",
    "record_database_read",
    "record_database_write",
    "record_deliveries_given_up",
    "record_delivery",
    "record_letter",
    "record_poll",
    "record_request",
    "start",
    "stop",
]
