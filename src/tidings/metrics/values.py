"""Counters and histograms of this process; prometheus_client reads the files of all processes and sums them.

Adding to prometheus_client's own counters takes five times as long, and each request adds three times.
"""

from __future__ import annotations

import threading
from bisect import bisect_left
from collections.abc import Callable, Mapping, Sequence
from typing import Generic, TypeVar

from prometheus_client.mmap_dict import mmap_key
from prometheus_client.utils import floatToGoString

from tidings.metrics.multiprocess import MetricFiles

K = TypeVar("K")


class Counter:
    """name: without `_total`, which is appended."""

    def __init__(self, files: MetricFiles, name: str, help_text: str, labels: Mapping[str, str]) -> None:
        self._lock = files.lock
        self._cells, self._index = files.cell("counter", _key(name, f"{name}_total", help_text, labels))

    def add(self, amount: float = 1) -> None:
        with self._lock:
            self._cells[self._index] += amount


class Histogram:
    """Counts durations by bucket, and sums them. bounds: upper bounds of the buckets in seconds, ascending."""

    def __init__(
        self, files: MetricFiles, name: str, help_text: str, bounds: Sequence[float], labels: Mapping[str, str]
    ) -> None:
        self._lock = files.lock
        self._bounds = tuple(bounds)
        buckets = [
            files.cell("histogram", _key(name, f"{name}_bucket", help_text, {**labels, "le": bound}))
            for bound in map(_format_bound, (*self._bounds, float("inf")))
        ]
        self._buckets = [index for _, index in buckets]
        # Created last: its view includes all buckets.
        self._cells, self._sum = files.cell("histogram", _key(name, f"{name}_sum", help_text, labels))

    def add(self, seconds: float) -> None:
        bucket, cells = self._buckets[bisect_left(self._bounds, seconds)], self._cells
        with self._lock:
            cells[self._sum] += seconds
            cells[bucket] += 1


class LabelledMetric(Generic[K]):
    """A metric for each combination of label values, created on first use. make: creates one from its labels."""

    def __init__(self, make: Callable[[Mapping[str, str]], K], *names: str) -> None:
        self._make = make
        self._names = names
        self._metrics: dict[tuple[str, ...], K] = {}
        self._creating = threading.Lock()

    def __getitem__(self, labels: tuple[str, ...]) -> K:
        metric = self._metrics.get(labels)
        if metric is None:
            with self._creating:
                # Another thread may have created it in the meantime.
                metric = self._metrics.get(labels)
                if metric is None:
                    metric = self._metrics[labels] = self._make(dict(zip(self._names, labels, strict=True)))
        return metric


def _format_bound(bound: float) -> str:
    return str(floatToGoString(bound))  # type: ignore[no-untyped-call]


def _key(metric: str, name: str, help_text: str, labels: Mapping[str, str]) -> str:
    return mmap_key(metric, name, list(labels), list(labels.values()), help_text)
