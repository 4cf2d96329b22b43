"""Counters and histograms of this process, in its metric files.

Adding to prometheus_client's own counters takes five times as long, and each request adds three times.
"""

from __future__ import annotations

import threading
from bisect import bisect_left
from collections.abc import Callable, Mapping, Sequence
from typing import Generic, TypeVar

from tidings.metrics.multiprocess import MetricFiles, SampleKey

K = TypeVar("K")

SUM = "sum"


class Counter:
    """A metric that only rises.

    name: without `_total`, which is appended.
    """

    def __init__(self, files: MetricFiles, name: str, help_text: str, labels: Mapping[str, str]) -> None:
        self._lock, self._values = files.lock, files.values
        self._index = files.index(SampleKey("counter", name, help_text, tuple(labels.items())))

    def add(self, amount: float = 1) -> None:
        with self._lock:
            self._values[self._index] += amount


class Histogram:
    """Counts durations by bucket, and sums them. bounds: upper bounds of the buckets in seconds, ascending."""

    def __init__(
        self, files: MetricFiles, name: str, help_text: str, bounds: Sequence[float], labels: Mapping[str, str]
    ) -> None:
        self._lock, self._values = files.lock, files.values
        self._bounds = tuple(bounds)
        parts = [*map(format_bound, self._bounds), "+Inf", SUM]
        keys = [SampleKey("histogram", name, help_text, tuple(labels.items()), part) for part in parts]
        *self._buckets, self._sum = [files.index(key) for key in keys]

    def add(self, seconds: float) -> None:
        bucket, values = self._buckets[bisect_left(self._bounds, seconds)], self._values
        with self._lock:
            values[self._sum] += seconds
            values[bucket] += 1


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


def format_bound(bound: float) -> str:
    """Returns a bound as the text format writes it: 1.0, 0.0025."""
    return repr(float(bound))
